"""Edits of definitions inside a manifest, which keep its layout and its comments.

A definition there is a JSON text in a scalar, or part of the manifest's own YAML.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import yaml

from gitops.repository.definitions.text import inline_definition
from gitops.repository.definitions.text_edits import Definition, with_null
from gitops.repository.documents.manifests import TopicDocument
from gitops.repository.documents.parser import Manifest
from gitops.repository.positions import Path, Span, child, parts, pointer
from gitops.repository.yaml.dumper import flow_text

_PATHS: Final[tuple[Path, ...]] = (
    ("schema", "definition"),
    ("schema", "key", "definition"),
    ("schema", "value", "definition"),
)


def definition_around(place: str) -> str:
    """The pointer to the definition in a topic's manifest around a place; empty where none is."""
    starts = map(pointer, _PATHS)
    return next((start for start in starts if f"{place}/".startswith(f"{start}/")), "")


def manifest_definition(file: str, text: str, place: str) -> Definition | None:
    """The definition at a pointer into a topic's manifest; None where there is none to edit."""
    for path, value, manifest in _definitions(file, text):
        if place == pointer(path):
            if not isinstance(value, str):
                return _YamlDefinition(file, text, path, value)
            embed = _embedding(text, manifest.parsed.values.get(path), value)
            return _ScalarDefinition(file, text, path, value, embed) if embed else None
    return None


def definition_texts(file: str, text: str) -> Iterator[str]:
    """The JSON texts of the definitions inside a topic's manifest."""
    for path, value, manifest in _definitions(file, text):
        if result := inline_definition(value, manifest, path):
            yield result.text


def _definitions(file: str, text: str) -> Iterator[tuple[Path, object, Manifest[TopicDocument]]]:
    manifest = Manifest(file, text.encode(), TopicDocument)
    if manifest.document is None or manifest.parsed.text != text:
        return
    for path in _PATHS:
        value = manifest.parsed.value
        with suppress(KeyError):
            for step in path:
                value = child(value, step)
            if inline_definition(value, manifest, path):
                yield path, value, manifest


# A JSON text in a scalar: the text is edited, and put back where it was.

_Embed = Callable[[str], str]
"""From another value of a scalar to the whole manifest with it."""

_BLOCK: Final = re.compile(r"\|[^\n]*\n")


def _embedding(text: str, span: Span | None, value: str) -> _Embed | None:
    """None where the scalar is folded, or anything else that would be laid out anew."""
    if span is None:
        return None
    raw = text[span.start : span.end]
    written = (partial(_block, raw, value), partial(json.dumps, ensure_ascii=False), _quoted)
    for write in written:
        if write(value) == raw:
            return lambda edited: text[: span.start] + write(edited) + text[span.end :]
    return None


def _block(raw: str, before: str, value: str) -> str:
    """A literal block scalar, indented as it was."""
    head = _BLOCK.match(raw)
    if head is None:
        return ""
    body = raw[head.end() :]
    tail = body[len(body.rstrip()) :]
    blanks = " " * (_indent(body) - _indent(before))
    lines = value.rstrip().split("\n")
    return head[0] + "\n".join(line and blanks + line for line in lines) + tail


def _indent(text: str) -> int:
    """The blanks before the first line that is not blank."""
    line = next((line for line in text.split("\n") if line.strip(" ")), "")
    return len(line) - len(line.lstrip(" "))


def _quoted(value: str) -> str:
    doubled = value.replace("'", "''")
    return f"'{doubled}'"


class _ScalarDefinition(Definition):
    """A JSON text in a scalar; pointers are those of the manifest."""

    def __init__(self, file: str, text: str, path: Path, value: str, embed: _Embed) -> None:
        super().__init__(file, text)
        self._start, self._embed = pointer(path), embed
        self._inner = Definition(file, value)

    def with_text(self, text: str) -> Definition:
        return manifest_definition(self.file, text, self._start) or super().with_text(text)

    def at(self, pointer: str) -> str | None:
        inside = f"{pointer}/".startswith(f"{self._start}/")
        return self._inner.at(self._inside(pointer)) if inside else None

    def replace(self, pointer: str, value: str) -> str | None:
        return self._outer(self._inner.replace(self._inside(pointer), value))

    def add_member(self, beside: str, name: str, value: str) -> str | None:
        return self._outer(self._inner.add_member(self._inside(beside), name, value))

    def append(self, array: str, values: Sequence[str]) -> str | None:
        return self._outer(self._inner.append(self._inside(array), values))

    def insert_item(self, array: str, index: int, value: str) -> str | None:
        return self._outer(self._inner.insert_item(self._inside(array), index, value))

    def _inside(self, pointer: str) -> str:
        return pointer.removeprefix(self._start)

    def _outer(self, edited: str | None) -> str | None:
        return None if edited is None else self._embed(edited)


# A part of the manifest's YAML: flow collections are edited as JSON is, block ones by lines.


@dataclass(frozen=True, slots=True)
class _Member:
    """A node of the YAML, its key in a mapping, and the collection that it is in."""

    node: yaml.Node
    key: yaml.Node | None
    parent: yaml.Node | None

    @property
    def start(self) -> int:
        """Where its key begins, or it where it has none."""
        return _start(self.key or self.node)

    @property
    def in_block(self) -> bool:
        """Whether it is on lines of its own."""
        return _is_block(self.parent)


class _YamlPlaces:
    """Spans of the nodes, as those of a JSON text."""

    def __init__(self, text: str) -> None:
        self._root: Any = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))

    def span(self, pointer: str) -> Span | None:
        """The characters of a value, None where there is no such place."""
        member = self.member(pointer)
        return Span(_start(member.node), _end(member.node)) if member else None

    def member(self, pointer: str) -> _Member | None:
        """The node at a pointer; None for an alias, which is elsewhere."""
        member = _Member(self._root, None, None)
        for part in parts(pointer):
            inner = _child(member.node, part)
            if inner is None or not _start(member.node) <= _start(inner.node) <= _end(member.node):
                return None
            member = inner
        return member


def _child(node: yaml.Node, part: str) -> _Member | None:
    if isinstance(node, yaml.SequenceNode):
        is_index = part.isdigit() and int(part) < len(node.value)
        return _Member(node.value[int(part)], None, node) if is_index else None
    if isinstance(node, yaml.MappingNode):
        items = ((key, value) for key, value in node.value if key.value == part)
        return next((_Member(value, key, node) for key, value in items), None)
    return None


def _is_block(node: yaml.Node | None) -> bool:
    return isinstance(node, yaml.CollectionNode) and not node.flow_style


def _start(node: yaml.Node) -> int:
    return int(node.start_mark.index)


def _end(node: yaml.Node) -> int:
    """Of a block collection the end of what is last in it: comments follow."""
    if _is_block(node) and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)


class _YamlDefinition(Definition):
    """A part of a manifest's YAML; values are given and returned as JSON."""

    def __init__(self, file: str, text: str, path: Path, value: object) -> None:
        self._yaml = _YamlPlaces(text)
        super().__init__(file, text, self._yaml)
        self._start, self._value = pointer(path), value
        span = self._yaml.span(self._start) or Span(0, 0)
        self._is_json = '"type"' in text[span.start : span.end]

    def with_text(self, text: str) -> Definition:
        return manifest_definition(self.file, text, self._start) or super().with_text(text)

    def at(self, pointer: str) -> str | None:
        if not f"{pointer}/".startswith(f"{self._start}/"):
            return None
        here = self._value
        with suppress(KeyError):
            for part in parts(pointer.removeprefix(self._start)):
                is_index = isinstance(here, list) and part.isdigit()
                here = child(here, int(part) if is_index else part)
            return json.dumps(here, ensure_ascii=False)
        return None

    def replace(self, pointer: str, value: str) -> str | None:
        """On the key's line, where nothing but a line end is between the two."""
        member, written = self._yaml.member(pointer), self._written(value)
        if member is None or written is None:
            return None
        start, end = _start(member.node), self._end(member)
        if member.key and not self.text[_end(member.key) : start].strip(": \n"):
            start, written = _end(member.key), f": {written}"
        return self.text[:start] + written + self.text[end:]

    def add_member(self, beside: str, name: str, value: str) -> str | None:
        member, written = self._yaml.member(beside), self._written(value)
        if member is None or written is None:
            return None
        if not member.in_block:
            key = json.dumps(name) if self._is_json else name
            return self._insert_behind(beside, f", {key}: {written}")
        return self._add_line(member, f"{name}: {written}")

    def append(self, array: str, values: Sequence[str]) -> str | None:
        member = self._yaml.member(f"{array}/0")
        written = [self._written(value) for value in values]
        if member is None or None in written:
            return None
        if not member.in_block:
            return super().append(array, [text for text in written if text])
        last = self._yaml.member(f"{array}/{len(self.items(array)) - 1}") or member
        blanks = self._blanks(member)
        return self._add_line(last, f"\n{blanks}".join(f"- {text}" for text in written), blanks)

    def insert_item(self, array: str, index: int, value: str) -> str | None:
        member, written = self._yaml.member(f"{array}/{max(index - 1, 0)}"), self._written(value)
        if member is None or written is None:
            return None
        if not member.in_block:
            return super().insert_item(array, index, written)
        blanks = self._blanks(member)
        if index:
            return self._add_line(member, f"- {written}", blanks)
        first = self.text.rfind("\n", 0, member.start) + 1
        return f"{self.text[:first]}{blanks}- {written}\n{self.text[first:]}"

    def nullable(self, field: str) -> str | None:
        kind = self.at(f"{field}/type")
        if kind is None or self.at(f"{field}/default") is not None:
            return None
        edited = self.replace(f"{field}/type", with_null(kind, self.items(f"{field}/type")))
        return edited and self.with_text(edited).add_member(f"{field}/type", "default", "null")

    def _written(self, value: str) -> str | None:
        """A value as the definition around it is written; None for what is not JSON."""
        if self._is_json:
            return value
        with suppress(ValueError):
            return flow_text(json.loads(value))
        return None

    def _add_line(self, above: _Member, line: str, blanks: str | None = None) -> str:
        """Below a member and its comment, as far to the right."""
        end = self._line_end(above)
        blanks = " " * (above.key or above.node).start_mark.column if blanks is None else blanks
        return f"{self.text[:end]}\n{blanks}{line}{self.text[end:]}"

    def _line_end(self, member: _Member) -> int:
        end = self.text.find("\n", self._end(member))
        return len(self.text) if end < 0 else end

    def _end(self, member: _Member) -> int:
        """Without the line ends that belong to a block scalar."""
        return len(self.text[: _end(member.node)].rstrip())

    def _blanks(self, item: _Member) -> str:
        """In front of the dash of a list's item."""
        line = self.text[self.text.rfind("\n", 0, item.start) + 1 : item.start]
        return line[: len(line) - len(line.lstrip(" "))]
