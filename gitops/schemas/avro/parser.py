"""Text to schema, as strict and as lenient as Avro for Java 1.11.4's Schema.Parser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from msgspec import UNSET, Raw

from gitops.schemas.avro import fields
from gitops.schemas.avro.errors import AvroParseError, AvroProblem
from gitops.schemas.avro.fragments import (
    KNOWN_FIELDS,
    KNOWN_TYPES,
    ArrayText,
    EnumText,
    FieldText,
    MapText,
    RecordText,
    SizeBoundedCache,
    TypeText,
    cut_field,
    cut_type,
    namespace_suffix,
    read_piece,
)
from gitops.schemas.avro.json_text import Json, JsonTextError, check_end, read_value
from gitops.schemas.avro.names import check_name
from gitops.schemas.avro.node_parser import Reader
from gitops.schemas.avro.schema import MISSING, NO_PROPS, Array, Field, Map, Record, Schema, Union
from gitops.schemas.java_text import java_text

# Pieces to schema: a definition that is cut into texts, of which many were read before.

_BRACE: Final = ord("{")


class IncrementalParser(Reader):
    """One reading of one definition that is cut (see `fragments`).

    Fields and types that are known are taken over. An error tells that there is one and not
    where: who wants to know reads the whole definition.
    """

    def __init__(self) -> None:
        super().__init__(strict=False)

    def schema(self, node: Json | TypeText, at: str) -> Schema:
        """As a Reader's, of pieces too."""
        if isinstance(node, Raw):
            return self._type(bytes(node))
        read = _READERS.get(type(node))
        return super().schema(node, at) if read is None else read(self, node)

    def read_fields(self, members: list[Json], at: str) -> tuple[Field, ...]:
        """The fields of a record, which are still text unless it stands in a union."""
        if not (members and isinstance(members[0], Raw)):
            return super().read_fields(members, at)
        ending = namespace_suffix(self.names.space)
        pieces = list(map(bytes, members))
        keys = [piece + ending for piece in pieces] if ending else pieces
        known, take = KNOWN_FIELDS.get_each(keys), self.names.add_all
        return tuple(
            [
                field
                if field is not None and (field.contents is None or take(field.contents))
                else self._new_field(piece, key)
                for field, piece, key in zip(known, pieces, keys, strict=True)
            ]
        )

    def _new_field(self, piece: bytes, key: bytes) -> Field:
        names = self.names
        before = len(names.known), len(names.met)
        said = cut_field(piece)
        field = self.read_field(read_piece(piece), "") if said is None else self._field(said)
        if self.defaults_valid:
            if len(names.met) > before[1]:
                field.contents = names.contents(*before)
                if field.contents is None:
                    return field
            field.shared = True
            KNOWN_FIELDS.put(key, field)
        return field

    def _field(self, said: FieldText) -> Field:
        kind = self._type(bytes(said.type))
        if said.default is UNSET:
            return Field(check_name(said.name, ""), kind, MISSING, said.doc)
        default = fields.default_of(said.value, kind, "")
        return self.checked(Field(check_name(said.name, ""), kind, default, said.doc))

    def _type(self, piece: bytes) -> Schema:
        known = KNOWN_TYPES.get(piece)
        if known is not None:
            return known
        met = len(self.names.met)
        node = cut_type(piece) if piece[0] == _BRACE else None
        kind = self.schema(read_piece(piece) if node is None else node, "")
        if len(self.names.met) == met:
            KNOWN_TYPES.put(piece, kind)
        return kind

    def record_text(self, said: RecordText) -> Schema:
        """A record of the members that most have."""
        outside = self.names.space
        record = Record(self.enter(said.name, said.namespace, ""))
        record.doc = said.doc
        self.names.add(record, "")
        self.complete(record, said.fields, "")
        self.names.space = outside
        return record

    def enum_text(self, said: EnumText) -> Schema:
        """An enum of such members."""
        outside = self.names.space
        enum = self.new_enum(
            self.enter(said.name, said.namespace, ""), said.symbols, said.default, ""
        )
        enum.doc = said.doc
        self.names.space = outside
        return enum

    def array_text(self, said: ArrayText) -> Schema:
        """An array without properties."""
        return Array(self.schema(said.items, ""), NO_PROPS)

    def map_text(self, said: MapText) -> Schema:
        """A map without properties."""
        return Map(self.schema(said.values, ""), NO_PROPS)


_READERS: Final[dict[type, Callable[[IncrementalParser, Any], Schema]]] = {
    RecordText: IncrementalParser.record_text,
    EnumText: IncrementalParser.enum_text,
    ArrayText: IncrementalParser.array_text,
    MapText: IncrementalParser.map_text,
}


# Text to schema, as strict and as lenient as Avro for Java 1.11.4's Schema.Parser.
#
# What was read lately is kept, whole definitions by their text and fields by what they say, so
# that a definition seen before costs nothing and a new version only what is new in it.


@dataclass(slots=True, eq=False)
class _Parsed:
    schema: Schema
    defaults_valid: bool


# A parsed definition takes about five times the memory of its text.
_KNOWN: Final[SizeBoundedCache[bytes, _Parsed]] = SizeBoundedCache(2**24)


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
    return _quick(text) or _whole(text, strict=strict)


def _quick(text: str) -> _Parsed | None:
    """What `_whole` answers, or None: any error is left to it, which sees what comes first."""
    reader = IncrementalParser()
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
