"""Fragments to schema: a definition that is cut into texts, of which many were read before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec import UNSET, Raw

from gitops.schemas.avro import fields
from gitops.schemas.avro.fragments import (
    ArrayText,
    EnumText,
    FieldText,
    KnownFragments,
    MapText,
    RecordText,
    TypeText,
    cut_field,
    cut_type,
    namespace_suffix,
    read_piece,
)
from gitops.schemas.avro.json_text import Json
from gitops.schemas.avro.names import check_name
from gitops.schemas.avro.node_parser import Reader
from gitops.schemas.avro.schema import MISSING, NO_PROPS, Array, Field, Map, Record, Schema

_BRACE: Final = ord("{")


class IncrementalParser(Reader):
    """One reading of one definition that is cut (see `fragments`).

    Fields and types that are known are taken over. An error tells that there is one and not
    where: who wants to know reads the whole definition.
    """

    def __init__(self, known: KnownFragments) -> None:
        super().__init__(strict=False)
        self.known = known

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
        known, take = self.known.fields.get_each(keys), self.names.add_all
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
        cut = cut_field(piece)
        field = self.read_field(read_piece(piece), "") if cut is None else self._field(cut)
        if self.defaults_valid:
            if len(names.met) > before[1]:
                field.contents = names.contents(*before)
                if field.contents is None:
                    return field
            field.shared = True
            self.known.fields.put(key, field)
        return field

    def _field(self, field: FieldText) -> Field:
        kind = self._type(bytes(field.type))
        if field.default is UNSET:
            return Field(check_name(field.name, ""), kind, MISSING, field.doc)
        default = fields.default_of(field.value, kind, "")
        return self.check_default(Field(check_name(field.name, ""), kind, default, field.doc))

    def _type(self, piece: bytes) -> Schema:
        known = self.known.types.get(piece)
        if known is not None:
            return known
        met = len(self.names.met)
        node = cut_type(piece) if piece[0] == _BRACE else None
        kind = self.schema(read_piece(piece) if node is None else node, "")
        if len(self.names.met) == met:
            self.known.types.put(piece, kind)
        return kind

    def record_text(self, record_text: RecordText) -> Schema:
        """A record of the members that most have."""
        outside = self.names.space
        record = Record(self.enter(record_text.name, record_text.namespace, ""))
        record.doc = record_text.doc
        self.open(record, "")
        self.complete(record, record_text.fields, "")
        if not self.known_while_open:
            self.define(record, "")
        self.names.space = outside
        return record

    def enum_text(self, enum_text: EnumText) -> Schema:
        """An enum of such members."""
        outside = self.names.space
        enum = self.new_enum(
            self.enter(enum_text.name, enum_text.namespace, ""),
            enum_text.symbols,
            enum_text.default,
            "",
        )
        enum.doc = enum_text.doc
        self.define(enum, "")
        self.names.space = outside
        return enum

    def array_text(self, array_text: ArrayText) -> Schema:
        """An array without properties."""
        return Array(self.schema(array_text.items, ""), NO_PROPS)

    def map_text(self, map_text: MapText) -> Schema:
        """A map without properties."""
        return Map(self.schema(map_text.values, ""), NO_PROPS)


_READERS: Final[dict[type, Callable[[IncrementalParser, Any], Schema]]] = {
    RecordText: IncrementalParser.record_text,
    EnumText: IncrementalParser.enum_text,
    ArrayText: IncrementalParser.array_text,
    MapText: IncrementalParser.map_text,
}
