"""Places inside a JSON text, found only when somebody asks."""

from __future__ import annotations

import json
import re
from functools import cached_property, lru_cache
from typing import Final

from gitops.model.findings import Location
from gitops.repository.positions import Lines, Span, parts
from gitops.schemas.avro.json_text import blank_comments

_WORD: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)


class JsonPositions:
    """The lines of one definition file."""

    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._text = text

    def at_offset(self, offset: int) -> Location:
        """The place of a character."""
        line, column = self._lines.position(min(offset, len(self._text)))
        return Location(file=self._file, line=line, column=column)

    def at_pointer(self, pointer: str, *, at_key: bool = False) -> Location:
        """The place of a value (of its key, with `at_key`), or of the nearest one around it."""
        span = self.nearest(pointer, at_key=at_key)
        if span is None:
            return Location(file=self._file, line=1, column=1, pointer=pointer)
        line, column = self._lines.position(span.start)
        scalar = self._text[span.start] not in "{["
        length = self._lines.length_on_line(span) if scalar else 1
        return Location(file=self._file, line=line, column=column, length=length, pointer=pointer)

    def nearest(self, pointer: str, *, at_key: bool = False) -> Span | None:
        """The characters of a value or a key, or of the nearest one around it; None without any."""
        node = self._root
        for part in parts(pointer) if node else ():
            inner = node.child(part) if node else None
            if inner is None:
                break
            node = inner
        if node is None:
            return None
        return node.key if at_key and node.key else Span(node.start, node.end)

    def span(self, pointer: str) -> Span | None:
        """The characters of a value, None where there is no such place."""
        node = self._root
        for part in parts(pointer):
            node = node.child(part) if node else None
        return Span(node.start, node.end) if node else None

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self._text)

    @cached_property
    def _root(self) -> _Node | None:
        return _read(blank_comments(self._text))


@lru_cache(maxsize=16)
def positions_in(file: str, text: str) -> JsonPositions:
    """The positions of a text that is asked about many times."""
    return JsonPositions(file, text)


class _Node:
    """A value: its characters, those of its key, and what is in it."""

    __slots__ = ("end", "items", "key", "members", "start")

    def __init__(self, start: int, end: int, key: Span | None) -> None:
        self.start, self.end, self.key = start, end, key
        self.members: dict[str, _Node] | None = None
        self.items: list[_Node] | None = None

    def child(self, part: str) -> _Node | None:
        """The value under a key or an index."""
        if self.members is not None:
            return self.members.get(part)
        if self.items is not None and part.isdecimal() and int(part) < len(self.items):
            return self.items[int(part)]
        return None


def _read(text: str) -> _Node | None:
    """The first value of a text, None where it has no end; of equal keys the last one counts."""
    around: list[_Node] = []
    key: Span | None = None
    name = ""
    for match in _WORD.finditer(text):
        word = match[0]
        if word in (",", ":"):
            continue
        if word in ("}", "]"):
            if not around:
                return None
            node = around.pop()
            node.end = match.end()
            if not around:
                return node
            continue
        outer = around[-1] if around else None
        if outer and outer.members is not None and key is None:
            if word[0] != '"':
                return None
            key, name = Span(*match.span()), _unquoted(word)
            continue
        node = _Node(*match.span(), key)
        if outer and outer.members is not None:
            outer.members[name] = node
        elif outer and outer.items is not None:
            outer.items.append(node)
        key = None
        if word == "{":
            node.members = {}
            around.append(node)
        elif word == "[":
            node.items = []
            around.append(node)
        elif not outer:
            return node
    return None


def _unquoted(word: str) -> str:
    if "\\" not in word:
        return word[1:-1]
    try:
        return str(json.loads(word))
    except ValueError:
        return word[1:-1]
