"""From linked descriptors to a definition whose types are found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from gitops.schemas.protobuf_native import descriptors, features
from gitops.schemas.protobuf_native.descriptors import Features, File, Type
from gitops.schemas.protobuf_native.linker import Pool, Symbol
from gitops.schemas.protobuf_native.root_message import ANY_LINE, link_envelope
from gitops.schemas.protobuf_native.schema import (
    Enum,
    EnumValue,
    Field,
    Message,
    Schema,
    SchemaFile,
    pointer,
)


def resolve(data: bytes) -> Schema:
    """The definition in an envelope; raises InvalidEnvelopeError only if no broker accepts it."""
    linked = link_envelope(data, ANY_LINE)
    resolving = _Resolving()
    for file, pool in linked.files:
        resolving.enter(file, pool)
    for file, pool in linked.files:
        resolving.fill(file, pool)
    resolving.finish()
    return Schema(
        root=resolving.messages[linked.root],
        messages=tuple(resolving.messages.values()),
        enums=tuple(resolving.enums.values()),
        files=tuple(
            SchemaFile(name=file.name, package=file.package, syntax=file.syntax or "proto2")
            for file, _ in linked.files
        ),
    )


class _Resolving:
    """First every message is made, then its fields, which may be of any of them."""

    def __init__(self) -> None:
        self.messages: dict[Symbol, Message] = {}
        self.enums: dict[Symbol, Enum] = {}
        self._fields: dict[Message, list[Field]] = {}
        self._extensions: dict[Message, list[Field]] = {}

    def enter(self, file: File, pool: Pool) -> None:
        """Make the messages and enums of a file; fields do not stand in them yet."""
        around = features.file_features(file.syntax, file.features)
        self._enter(file.messages, file.enums, file.package, pool, around)

    def _enter(
        self,
        messages: Iterable[descriptors.Message],
        enums: Iterable[descriptors.EnumType],
        scope: str,
        pool: Pool,
        around: Features,
    ) -> None:
        for enum in enums:
            symbol = pool.names[_below(scope, enum.name)]
            self.enums[symbol] = _enum(enum, symbol.full_name, around)
        for message in messages:
            symbol = pool.names[_below(scope, message.name)]
            self.messages[symbol] = Message(
                full_name=symbol.full_name,
                oneofs=message.oneofs,
                reserved=message.reserved,
                map_entry=message.map_entry,
                message_set=message.message_set,
            )
            inner = features.inherit_features(around, message.features)
            self._enter(message.messages, message.enums, symbol.full_name, pool, inner)

    def fill(self, file: File, pool: Pool) -> None:
        """Give the messages of a file their fields, and other messages their extensions."""
        around = features.file_features(file.syntax, file.features)
        if file.checks_text:
            around = features.add_java_check(around)
        self._extend(file.extensions, file.package, pool, around)
        for message in file.messages:
            self._fill(message, file.package, pool, around)

    def _fill(self, message: descriptors.Message, scope: str, pool: Pool, around: Features) -> None:
        full_name = _below(scope, message.name)
        inner = features.inherit_features(around, message.features)
        if message.map_entry:
            inner = features.add_java_check(inner)
        made = self.messages[pool.names[full_name]]
        alone = _only_in_their_oneof(message)
        self._fields[made] = [
            self._field(field, full_name, pool, inner, _oneof(field, alone))
            for field in message.fields
        ]
        self._extend(message.extensions, full_name, pool, inner)
        for nested in message.messages:
            self._fill(nested, full_name, pool, inner)

    def _extend(
        self, extensions: Iterable[descriptors.Field], scope: str, pool: Pool, around: Features
    ) -> None:
        for extension in extensions:
            extended = self.messages[pool.extended[_below(scope, extension.name)]]
            field = self._field(extension, scope, pool, around, None)
            self._extensions.setdefault(extended, []).append(field)

    def finish(self) -> None:
        """Put what was found into the messages."""
        for message, fields in self._fields.items():
            message.fields = (*fields, *self._extensions.get(message, ()))

    def _field(
        self,
        field: descriptors.Field,
        scope: str,
        pool: Pool,
        around: Features,
        oneof: int | None,
    ) -> Field:
        full_name = _below(scope, field.name)
        kind, symbol = pool.types[full_name]
        own = features.inherit_features(around, field.features)
        is_extension = field.extendee is not None
        kind = kind if self._is_map(symbol) else features.type_of(kind, own)
        named = self._named(kind, symbol)
        open_enum = isinstance(named, Enum) and not named.closed
        closed = isinstance(named, Enum) and (named.closed or features.is_closed(own))
        return Field(
            name=f"[{full_name}]" if is_extension else field.name,
            number=field.number,
            label=features.label_of(field, own),
            type=kind,
            named=named,
            default=field.default_value,
            oneof=oneof,
            presence=features.has_presence(field, kind, own, in_oneof=oneof is not None),
            packed=features.is_packed(field, kind, own),
            pointer=pointer(full_name) if is_extension else pointer(scope, field.name),
            checks_utf8=features.is_utf8_checked(kind, own),
            closed=closed,
            only_java=(closed and open_enum) or features.is_utf8_checked_in_java_only(kind, own),
            json_name=field.json_name or default_json_name(field.name),
        )

    def _is_map(self, symbol: Symbol | None) -> bool:
        return symbol in self.messages and self.messages[symbol].map_entry

    def _named(self, kind: Type, symbol: Symbol | None) -> Message | Enum | None:
        if symbol is None:
            return None
        return self.enums[symbol] if kind is Type.ENUM else self.messages[symbol]


def _enum(enum: descriptors.EnumType, full_name: str, around: Features) -> Enum:
    numbers = dict(zip(enum.values, enum.numbers, strict=True))
    return Enum(
        full_name=full_name,
        values=tuple(EnumValue(name=name, number=number) for name, number in numbers.items()),
        numbers=numbers,
        closed=features.is_closed(features.inherit_features(around, enum.features)),
        reserved=enum.reserved,
    )


def _only_in_their_oneof(message: descriptors.Message) -> frozenset[int]:
    """The oneofs that have one field."""
    members = Counter(field.oneof_index for field in message.fields)
    return frozenset(index for index, count in members.items() if index is not None and count == 1)


def _oneof(field: descriptors.Field, alone: frozenset[int]) -> int | None:
    """The oneof of a field, unless it only stands for an `optional` of proto3."""
    index = field.oneof_index
    return None if field.proto3_optional and index in alone else index


def _below(scope: str, name: str) -> str:
    return f"{scope}.{name}" if scope else name


def default_json_name(name: str) -> str:
    """What protoc makes of a name: `card_number` is `cardNumber`."""
    first, *others = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in others)
