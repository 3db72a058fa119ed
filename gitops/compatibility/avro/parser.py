"""Text to schema, as strict and as lenient as Avro for Java 1.11.4's Schema.Parser.

What was read lately is kept, whole definitions by their text and fields by what they say, so
that a definition seen before costs nothing and a new version only what is new in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gitops.compatibility.avro.cut_reading import CutReader
from gitops.compatibility.avro.depth import make_room
from gitops.compatibility.avro.errors import AvroParseError, AvroProblem
from gitops.compatibility.avro.json_text import JsonTextError, check_end, read_value
from gitops.compatibility.avro.pieces import KNOWN_FIELDS, KNOWN_TYPES, RecordText, cut_type
from gitops.compatibility.avro.reading import Reader
from gitops.compatibility.avro.recent import Recent
from gitops.compatibility.avro.schema import Record, Schema, Union
from gitops.compatibility.java_text import java_text


@dataclass(slots=True, eq=False)
class _Parsed:
    schema: Schema
    defaults_valid: bool


# A parsed definition takes about five times the memory of its text.
_KNOWN: Final[Recent[bytes, _Parsed]] = Recent(2**24)


def parse(text: str, *, validate_defaults: bool = False) -> Schema:
    """The schema that `text` defines; raises AvroParseError with every problem found.

    Like the broker's checks, it looks at defaults only if told to: a broker takes a first schema
    with an invalid default and fails on every later one (Pulsar 4.0.7). Nobody may change the
    schema: others get it too.
    """
    try:
        data = text.encode()
    except UnicodeEncodeError:  # half a character, which no bytes can say
        return _read(text, strict=validate_defaults).schema
    return parse_data(data, validate_defaults=validate_defaults)


def parse_data(data: bytes, *, validate_defaults: bool = False) -> Schema:
    """As `parse`, for the bytes that a registry stores; raises AvroParseError."""
    parsed = _KNOWN.get(data)
    if parsed is None:
        parsed = _read(java_text(data), strict=validate_defaults)
        _KNOWN.put(data, parsed)
    if validate_defaults and not parsed.defaults_valid:
        _whole(java_text(data), strict=True)  # says which
    return parsed.schema


def not_json(error: JsonTextError) -> AvroProblem:
    """The problem of a text that is not JSON, at the character where that shows."""
    return AvroProblem(kind="not-json", message=f"not JSON: {error}", offset=error.offset)


def forget() -> None:
    """Forget what was read, so that the next reading starts cold."""
    for recent in (_KNOWN, KNOWN_FIELDS, KNOWN_TYPES):
        recent.clear()


def _read(text: str, *, strict: bool) -> _Parsed:
    """A quick reading may answer what a strict one refuses, and notes it."""
    make_room(text)
    return _quick(text) or _whole(text, strict=strict)


def _quick(text: str) -> _Parsed | None:
    """What `_whole` answers, or None: any error is left to it, which sees what comes first."""
    reader = CutReader()
    try:
        node = cut_type(text.encode())
        if not isinstance(node, RecordText | dict):  # a record's fields are looked at for depth
            return None
        return _noted(reader.schema(node, ""), reader)
    except (AvroParseError, JsonTextError, UnicodeError, RecursionError):
        return None


def _whole(text: str, *, strict: bool) -> _Parsed:
    reader = Reader(strict=strict)
    try:
        value, end = read_value(text)
        schema = reader.schema(value, "")
        check_end(text, end)
    except JsonTextError as error:
        raise AvroParseError((not_json(error),)) from None
    return _noted(schema, reader)


def _noted(schema: Schema, reader: Reader) -> _Parsed:
    if isinstance(schema, Record | Union):
        schema.facts = reader.names.facts()
    return _Parsed(schema, reader.defaults_valid)
