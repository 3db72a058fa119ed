"""The canonical text of an Avro definition, which keeps comments and the author's words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from gitops.schemas.avro.json_text import check_end, read_value

# JSON with comments as a tree of its own words, so that nothing is read and written anew.

_TOKEN: Final = re.compile(
    r"""(?P<space>[ \t\r\n]+)|(?P<comment>/\*.*?\*/|//[^\r\n]*)|(?P<mark>[\[\]{},:])
    |(?P<word>"(?:[^"\\]++|\\.)*+"|[^ \t\r\n\[\]{},:"/]+)""",
    re.DOTALL | re.VERBOSE,
)
_CLOSING: Final = {"{": "}", "[": "]"}
_BLANK_LINE: Final = 2


@dataclass(slots=True, kw_only=True)
class Item:
    """A member of an object, or an element of an array.

    `above` are comments on lines of their own, "" is a blank line; `beside` is one behind it.
    """

    above: list[str] = field(default_factory=list)
    key: str = ""
    value: Value = ""
    beside: str = ""


@dataclass(slots=True, kw_only=True)
class Container:
    """An object or an array; `tail` are the comments before its end."""

    opening: str
    items: list[Item] = field(default_factory=list)
    tail: list[str] = field(default_factory=list)

    @property
    def closing(self) -> str:
        """The bracket that ends it."""
        return _CLOSING[self.opening]


Value = str | Container


def read_tree(text: str) -> Item:
    """The tree of a text that is JSON with comments; deep ones need Python's recursion limit."""
    return _Reader(text).root()


class _Reader:
    """Reads token after token; comments wait in `_notes` until it shows where they belong."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_TOKEN.finditer(text))
        self._at = 0
        self._notes: list[str] = []

    def root(self) -> Item:
        item = Item()
        self._space()
        item.above, self._notes = self._notes, []
        item.value = self._value(item)
        return item

    def _value(self, item: Item) -> Value:
        """The value of an item, which gets the comments in front of it."""
        item.above += [note for note in self._notes if note]
        self._notes = []
        word = self._next()
        if word not in _CLOSING:
            return word
        container = Container(opening=word)
        self._space()
        while self._peek() != container.closing:
            container.items.append(self._item(of_object=word == "{"))
        self._next()
        container.tail, self._notes = self._notes, []
        return container

    def _item(self, *, of_object: bool) -> Item:
        item = Item(above=self._notes)
        self._notes = []
        if of_object:
            item.key = self._next()
            self._space()
            self._next()
            self._space()
        item.value = self._value(item)
        self._beside(item)
        self._space()
        if self._peek() == ",":
            item.above += [note for note in self._notes if note]
            self._notes = []
            self._next()
            self._beside(item)
            self._space()
        return item

    def _beside(self, item: Item) -> None:
        """Take a comment that stands behind the item and ends its line."""
        at = self._at + (self._kind(self._at) == "space" and "\n" not in self._tokens[self._at][0])
        if self._kind(at) != "comment" or item.beside:
            return
        comment = _comment(self._tokens[at][0])
        ends_line = self._kind(at + 1) == "space" and "\n" in self._tokens[at + 1][0]
        if ends_line and "\n" not in comment:
            item.beside = comment
            self._at = at + 1

    def _space(self) -> None:
        """Pass over white space; comments and blank lines are noted."""
        while self._kind(self._at) in ("space", "comment"):
            token = self._tokens[self._at]
            if token.lastgroup == "comment":
                self._notes.append(_comment(token[0]))
            elif _lines(token[0]) >= _BLANK_LINE:
                self._notes.append("")
            self._at += 1

    def _kind(self, at: int) -> str:
        return self._tokens[at].lastgroup or "" if at < len(self._tokens) else ""

    def _peek(self) -> str:
        return self._tokens[self._at][0]

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1][0]


def _comment(text: str) -> str:
    return "\n".join(line.rstrip() for line in _unix(text).split("\n"))


def _lines(space: str) -> int:
    return _unix(space).count("\n")


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


# The order of members that people expect in an Avro definition.


Role = Literal["schema", "field"]
"""What an object is; the values of all other members are data, whose order is left alone."""

_ORDER: Final[dict[Role, tuple[str, ...]]] = {
    "schema": (
        "type", "name", "namespace", "doc", "aliases", "fields", "symbols", "items", "values",
        "size", "default", "logicalType", "precision", "scale",
    ),
    "field": ("name", "type", "default", "doc", "order", "aliases"),
}  # fmt: skip
_BELOW: Final[dict[Role, dict[str, Role]]] = {
    "schema": {"type": "schema", "items": "schema", "values": "schema", "fields": "field"},
    "field": {"type": "schema"},
}


def put_in_order(value: Value, role: Role = "schema") -> None:
    """Sort known members, the others behind them as they are; twins of one name stay put."""
    if isinstance(value, str):
        return
    if value.opening == "[":
        for item in value.items:
            put_in_order(item.value, role)
        return
    for item in value.items:
        below = _BELOW[role].get(name_of(item))
        if below is not None:
            put_in_order(item.value, below)
    names = [name_of(item) for item in value.items]
    if len(set(names)) == len(names):
        _sort(value, _ORDER[role])


def name_of(item: Item) -> str:
    """The name that a member's key means."""
    name: str = json.loads(item.key)
    return name


def _sort(value: Container, order: tuple[str, ...]) -> None:
    rank = {name: place for place, name in enumerate(order)}
    value.items.sort(key=lambda item: rank.get(name_of(item), len(rank)))


WIDTH: Final = 100
_STEP: Final = "  "


def format_avro(text: str, *, ordered: bool = True) -> str:
    """The definition laid out; `ordered`: known members of types and fields in Avro's usual order.

    A value that fits stands on one line; each field of a record begins a line. Raises
    JsonTextError for what is no JSON, and RecursionError for what nests too deep.
    """
    _, end = read_value(text)
    check_end(text, end)
    root = read_tree(text[:end])
    if ordered:
        put_in_order(root.value)
    root.above = _without_blank(root.above)
    return "".join(f"{line}\n" for line in _Printer().item(root, "", last=True))


class _Printer:
    """Lines of a tree; what fits on one line is found once for each container."""

    def __init__(self) -> None:
        self._flat: dict[int, str | None] = {}

    def item(self, item: Item, indent: str, *, last: bool) -> Iterator[str]:
        yield from _notes(item.above, indent)
        lines = self._value(item, indent, "" if last else ",")
        if item.beside:
            lines[-1] += f" {item.beside}"
        yield from lines

    def _value(self, item: Item, indent: str, comma: str) -> list[str]:
        start = indent + (f"{item.key}: " if item.key else "")
        flat = self._flat_item(item)
        if isinstance(item.value, str):
            return [f"{start}{item.value}{comma}"]
        if flat is not None and len(start) + len(flat) + len(comma) <= WIDTH:
            return [f"{start}{flat}{comma}"]
        inner = item.value
        lines = [start + inner.opening]
        for index, element in enumerate(inner.items):
            element.above = element.above if index else _without_blank(element.above)
            is_last = index + 1 == len(inner.items)
            lines += self.item(element, indent + _STEP, last=is_last)
        lines += _notes(_trimmed(inner), indent + _STEP)
        return [*lines, f"{indent}{inner.closing}{comma}"]

    def _flat_item(self, item: Item) -> str | None:
        return None if _are_fields(item) else self._on_one_line(item.value)

    def _on_one_line(self, value: Value) -> str | None:
        """The value without a line break, None where it cannot or may not be so."""
        if isinstance(value, str):
            return value
        if id(value) not in self._flat:
            self._flat[id(value)] = self._joined(value)
        return self._flat[id(value)]

    def _joined(self, value: Container) -> str | None:
        if any(value.tail):
            return None
        parts = []
        for item in value.items:
            text = self._flat_item(item)
            if text is None or any(item.above) or item.beside:
                return None
            parts.append(f"{item.key}: {text}" if item.key else text)
        whole = f"{value.opening}{', '.join(parts)}{value.closing}"
        return whole if len(whole) <= WIDTH else None


def _are_fields(item: Item) -> bool:
    """Whether these are the fields of a record, each of which begins a line."""
    value = item.value
    return (
        isinstance(value, Container)
        and value.opening == "["
        and bool(value.items)
        and bool(item.key)
        and name_of(item) == "fields"
    )


def _notes(notes: list[str], indent: str) -> Iterator[str]:
    """Comments, and blank lines where they are not the second in a row."""
    before = ""
    for index, note in enumerate(notes):
        if note:
            yield f"{indent}{note}"
        elif not index or before:
            yield ""
        before = note


def _without_blank(notes: list[str]) -> list[str]:
    return notes[1:] if notes and not notes[0] else notes


def _trimmed(value: Container) -> list[str]:
    """The comments before the end, without a blank line at either side that nothing follows."""
    notes = list(value.tail)
    while notes and not notes[-1]:
        notes.pop()
    return notes if value.items else _without_blank(notes)
