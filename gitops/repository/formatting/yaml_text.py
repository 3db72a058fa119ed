"""The canonical text of a manifest, with its keys in the order of its document."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from typing import Any, Final, TypeGuard, get_args, get_origin

from pydantic import BaseModel

from gitops.repository.formatting.avro import WIDTH
from gitops.repository.formatting.yaml_comments import attach
from gitops.repository.formatting.yaml_tree import (
    Block,
    Entry,
    Leaf,
    Tree,
    UnformattableYamlError,
    read_tree,
)
from gitops.repository.yaml.parser import parse_yaml

# The order of the keys of a manifest: that of its document's classes.

Place = tuple[Any, ...]
"""The types, as annotations without unions, of which one value of a document may be."""


def place_of(annotation: object) -> Place:
    """The types that an annotation stands for."""
    return tuple(_types(annotation))


def below(place: Place, part: str | int) -> Place:
    """The place one step down: a key of a document or of a free mapping, an index of a list."""
    return tuple(result for value in place for result in _types(_step(value, part)))


def rank(place: Place, keys: Iterable[str]) -> dict[str, int]:
    """The rank of each key that the mapping at a place knows; empty for a free mapping.

    Of several documents it is the one that knows most of the keys.
    """
    present = set(keys)
    known = [_keys(value) for value in place if isinstance(value, type)]
    best = max(known, key=lambda order: len(present & set(order)), default=())
    return {key: index for index, key in enumerate(best)}


def _types(annotation: object) -> Iterator[object]:
    is_document = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    if is_document or get_origin(annotation) in (dict, list, tuple):
        yield annotation
    else:
        for argument in get_args(annotation):
            yield from _types(argument)


def _step(annotation: Any, part: str | int) -> object:  # noqa: ANN401 - annotations have no type
    if isinstance(annotation, type):
        return _fields(annotation).get(part)
    arguments = get_args(annotation)
    if get_origin(annotation) is dict:
        return arguments[1] if isinstance(part, str) else None
    return arguments[0] if isinstance(part, int) else None


@cache
def _fields(model: type[BaseModel]) -> dict[str | int, Any]:
    return {field.alias or name: field.annotation for name, field in model.model_fields.items()}


@cache
def _keys(model: type[BaseModel]) -> tuple[str, ...]:
    """The keys as the class declares them, then those of each class above it."""
    names = dict.fromkeys(
        name
        for item in model.__mro__
        if issubclass(item, BaseModel)
        for name, field in item.model_fields.items()
        if not any(_has(base, name, field.annotation) for base in item.__bases__)
    )
    return tuple(model.model_fields[name].alias or name for name in names)


def _has(model: type, name: str, annotation: object) -> bool:
    """Whether a class has this field with the same type, so that one below does not declare it."""
    field = getattr(model, "model_fields", {}).get(name)
    return field is not None and field.annotation == annotation


_STEP: Final = 2
_ODD_LINE_ENDS: Final = re.compile("[\x85\u2028\u2029]")
_INDICATORS: Final = re.compile(r"[0-9+-]*")


def format_yaml(text: str, model: type[BaseModel]) -> str:
    """A manifest without problems laid out, its keys in the order of `model`.

    A text with line ends that are none to most programs, or with keys over several lines, stays.
    """
    try:
        plain, tree = _read(text)
    except UnformattableYamlError:
        return text
    head = _head(plain[: tree.start], tree.root)
    if not tree.bound:
        _put_in_order(tree.root, place_of(model))
    return _print(plain, tree, head)


def merge_yaml(text: str, other: str, keys: Collection[str]) -> str:
    """`text` with what `other` has at these keys of its outermost mapping, no more and no less.

    Comments stay where their key stays, below these keys too. Raises OddYamlError for a text that
    has no canonical form.
    """
    plain, tree = _read(text)
    head = _head(plain[: tree.start], tree.root)
    _merge(tree.root, _read(other)[1].root, keys)
    return _print(plain, tree, head)


def _read(text: str) -> tuple[str, Tree]:
    """The text with plain line ends, and its tree with comments; raises OddYamlError."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    if _ODD_LINE_ENDS.search(plain):
        raise UnformattableYamlError
    tree = read_tree(plain)
    attach(plain, tree)
    return plain, tree


def _print(plain: str, tree: Tree, head: list[str]) -> str:
    return "".join(f"{line}\n" for line in [*head, *_Printer(plain).block(tree.root, 0)])


def _merge(block: Block, other_block: Block, keys: Collection[str] | None = None) -> None:
    """Give a mapping the entries of another one: all of them, or those of `keys`."""
    wanted = {_name(item.key or ""): item for item in other_block.entries}
    wanted = {name: item for name, item in wanted.items() if keys is None or name in keys}
    kept = [
        item
        for item in block.entries
        if (name := _name(item.key or "")) in wanted or (keys is not None and name not in keys)
    ]
    for entry in kept:
        new = wanted.pop(_name(entry.key or ""), None)
        if new is not None:
            _take_over(entry, new.value)
    for entry in wanted.values():
        entry.parent = block
    block.flow = block.flow and not wanted
    block.entries = [*kept, *wanted.values()]


def _has_keys(value: Leaf | Block | None) -> TypeGuard[Block]:
    return isinstance(value, Block) and value.is_mapping and bool(value.entries)


def _take_over(entry: Entry, value: Leaf | Block | None) -> None:
    old = entry.value
    if _has_keys(old) and _has_keys(value):
        _merge(old, value)
    elif not (isinstance(old, Leaf) and isinstance(value, Leaf) and old.text == value.text):
        entry.value = value
        entry.parent.flow = False  # a plain text may mean something else between braces


def _head(before: str, root: Block) -> list[str]:
    """What stands above the first key: it is about the file, and stays at its top."""
    lines = [line.rstrip() for line in before.split("\n")] if before else []
    if root.entries:
        lines += root.entries[0].above
        root.entries[0].above = []
    while lines and not lines[0]:
        lines.pop(0)
    return [line for index, line in enumerate(lines) if line or lines[index - 1]]


def _put_in_order(block: Block, place: Place) -> None:
    for index, entry in enumerate(block.entries):
        if isinstance(entry.value, Block):
            step = index if entry.key is None else _name(entry.key)
            _put_in_order(entry.value, below(place, step))
    if block.is_mapping:
        names = {id(entry): _name(entry.key or "") for entry in block.entries}
        order = rank(place, names.values())
        block.entries.sort(key=lambda entry: order.get(names[id(entry)], len(order)))


def _name(key: str) -> str:
    """What a key says; the documents' own keys need no escapes."""
    return key[1:-1] if key[:1] in ("'", '"') else key


class _Printer:
    """Lines of a tree."""

    def __init__(self, text: str) -> None:
        self._ends_open = len(text) if not text.endswith("\n") else -1
        self._takes_blanks = False
        """Whether a blank line now would be a part of the text above, which keeps its end."""

    def block(self, block: Block, indent: int) -> Iterator[str]:
        """The entries of a block, one below the other, and its last comments."""
        for index, entry in enumerate(block.entries):
            _hoist(entry, indent)
            yield from self._notes(entry.above if index else _from_text(entry.above), indent)
            yield from self._entry(entry, indent)
        yield from self._notes(block.tail, indent)

    def _notes(self, notes: list[str], indent: int) -> Iterator[str]:
        for note in _from_text(notes) if self._takes_blanks else notes:
            self._takes_blanks = False
            yield " " * indent + note if note else ""

    def _entry(self, entry: Entry, indent: int) -> Iterator[str]:
        self._takes_blanks = False
        start = " " * indent
        if entry.explicit:
            yield f"{start}? {entry.key}"
            start += ":"
        else:
            start += "-" if entry.key is None else f"{entry.key}:"
        beside = f" {entry.beside}" if entry.beside else ""
        value = entry.value
        if isinstance(value, Block):
            yield from self._below(value, start, beside, indent, compact=entry.key is None)
        elif value is None:
            yield start + beside
        else:
            lines = self._leaf(value, entry.parent.column, indent)
            lines[0] = f"{start} {lines[0]}"
            lines[-1] += beside
            yield from lines

    def _below(
        self, block: Block, start: str, beside: str, indent: int, *, compact: bool
    ) -> Iterator[str]:
        flat = _fit(block, len(start))
        if flat is not None:
            yield f"{start} {flat}{beside}"
            return
        lines = self.block(block, indent + _STEP)
        if block.anchor or not compact:
            yield f"{start} {block.anchor}{beside}" if block.anchor else start + beside
        else:
            yield f"{start} {next(lines).lstrip(' ')}"
        yield from lines

    def _leaf(self, leaf: Leaf, column: int, indent: int) -> list[str]:
        first, *texts = leaf.text.split("\n")
        inner = " " * (indent + _STEP)
        if leaf.is_block:
            return self._literal(leaf, column, inner)
        if not texts:
            return [leaf.text]
        lines = [first, *(line.lstrip(" \t") for line in texts)]
        lines = [line if line.rstrip(" \t").endswith("\\") else line.rstrip() for line in lines]
        lines[-1] = texts[-1].lstrip(" \t")
        return [lines[0], *(inner + line if line else "" for line in lines[1:])]

    def _literal(self, leaf: Leaf, column: int, inner: str) -> list[str]:
        """A block scalar: its body moves as a whole; only with `+` its last blank lines count."""
        first, *body = leaf.text.split("\n")
        given = _INDICATORS.match(first, len(leaf.header))
        marks, rest = (given[0], first[given.end() :]) if given else ("", "")
        digit = next((int(mark) for mark in marks if mark.isdigit()), 0)
        depth = column + digit if digit else _depth(body)
        body = [line[depth:] for line in body]
        chomp = marks.strip("123456789")
        if leaf.end == self._ends_open and body and body[-1]:
            chomp = "-"
        elif body and not body[-1]:
            body.pop()
        while chomp != "+" and body and not body[-1]:
            body.pop()
        self._takes_blanks = chomp == "+"
        head = f"{leaf.header}{_STEP if digit else ''}{chomp}{rest.rstrip()}"
        return [head, *(inner + line if line else "" for line in body)]


def _depth(body: list[str]) -> int:
    """The indentation of a literal text: that of its first line with something on it."""
    first = next((line for line in body if line.strip(" ")), "")
    return len(first) - len(first.lstrip(" ")) if first else max(map(len, body), default=0)


def _fit(block: Block, start: int) -> str | None:
    """A flow collection that fits into the line behind `start` columns, None if it does not."""
    flat = _on_one_line(block)
    fits = flat is not None and (not block.entries or start + 1 + len(flat) <= WIDTH)
    return flat if fits else None


def _hoist(entry: Entry, indent: int) -> None:
    """What stands between a dash and the block that begins on its line goes above the dash."""
    block = entry.value
    if entry.key is not None or not isinstance(block, Block) or block.anchor:
        return
    if _fit(block, indent + 1) is not None:
        return
    if entry.beside:
        entry.above.append(entry.beside)
        entry.beside = ""
    first = block.entries[0]
    _hoist(first, indent + _STEP)
    entry.above += [note for note in first.above if note]
    first.above = []


def _on_one_line(block: Block) -> str | None:
    """A flow collection without line breaks, None where it cannot be so or is too wide."""
    if not block.flow or (block.commented and block.entries):
        return None
    parts: list[str] = []
    width = 0
    for entry in block.entries:
        text = _flat_value(entry.value)
        if text is None or width > WIDTH:
            return None
        width += len(text)
        parts.append(text if entry.key is None else f"{entry.key}: {text}" if text else entry.key)
    opening, closing = "{}" if block.is_mapping else "[]"
    anchor = f"{block.anchor} " if block.anchor else ""
    return f"{anchor}{opening}{', '.join(parts)}{closing}"


def _flat_value(value: Leaf | Block | None) -> str | None:
    if isinstance(value, Block):
        return _on_one_line(value)
    if value is None:
        return ""
    return None if "\n" in value.text else value.text


def _from_text(notes: list[str]) -> list[str]:
    """Without the blank line at the start of a block."""
    return notes[1:] if notes and not notes[0] else notes


def is_same_yaml(left: str, right: str) -> bool:
    """Whether two texts say the same, the order of keys apart."""
    texts = [
        json.dumps(parse_yaml(text.encode("utf-8", "surrogatepass")).value, sort_keys=True)
        for text in (left, right)
    ]
    return texts[0] == texts[1]
