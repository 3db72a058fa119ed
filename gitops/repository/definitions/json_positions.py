"""Places inside a JSON text, found only when somebody asks."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from json_source_map import calculate
from json_source_map.errors import BaseError

from gitops.model.findings import Location
from gitops.repository.positions import Lines, Span, parts
from gitops.schemas.avro.json_text import blank_comments


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
        known = pointer
        while known and _raw(known) not in self._map:
            known = known.rpartition("/")[0]
        entry = self._map.get(_raw(known))
        if entry is None:
            return None
        if at_key and entry.key_start is not None:
            return Span(entry.key_start.position, entry.key_end.position)
        return Span(entry.value_start.position, entry.value_end.position)

    def span(self, pointer: str) -> Span | None:
        """The characters of a value, None where there is no such place."""
        entry = self._map.get(_raw(pointer))
        if entry is None:
            return None
        return Span(entry.value_start.position, entry.value_end.position)

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self._text)

    @cached_property
    def _map(self) -> dict[str, Any]:
        try:
            found: dict[str, Any] = calculate(blank_comments(self._text))
        except (BaseError, RecursionError, ValueError):  # also a number of thousands of digits
            return {}
        return found


def _raw(pointer: str) -> str:
    """The pointer as json-source-map writes it: without RFC 6901's escapes."""
    return "".join(f"/{part}" for part in parts(pointer))
