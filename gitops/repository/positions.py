"""Offsets into a text, and the lines and columns that people count."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final, NamedTuple

Path = tuple[str | int, ...]
"""The way to a value inside a document: keys and indexes from the root."""

_LINE_END: Final = re.compile(r"\r\n|\r|\n")


class Span(NamedTuple):
    """Character offsets, the end excluded."""

    start: int
    end: int


class Lines:
    """The lines of one text, counted once and only if somebody asks."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts: list[int] | None = None

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a character, both from 1."""
        starts = self._line_starts()
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def length_on_line(self, span: Span) -> int:
        """How many characters of a span stand on its first line, at least 1."""
        end = _LINE_END.search(self._text, span.start, max(span.start, span.end))
        return max(1, (end.start() if end else span.end) - span.start)

    def _line_starts(self) -> list[int]:
        if self._starts is None:
            self._starts = [0, *(match.end() for match in _LINE_END.finditer(self._text))]
        return self._starts


def pointer(path: Path) -> str:
    """The RFC 6901 JSON pointer of a path."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in path)


def dotted_path(path: Path) -> str:
    """The path as people say it: `samples[0].format`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def parts(json_pointer: str) -> tuple[str, ...]:
    """The parts of an RFC 6901 JSON pointer, unescaped."""
    if not json_pointer:
        return ()
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in json_pointer[1:].split("/"))


def child(value: object, part: str | int) -> object:
    """The member of a mapping or a sequence; raises KeyError where there is none."""
    if isinstance(value, dict) and part in value:
        return value[part]
    if isinstance(value, list) and isinstance(part, int) and 0 <= part < len(value):
        return value[part]
    raise KeyError(part)
