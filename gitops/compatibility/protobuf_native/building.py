"""The names of a file, entered into its pool; what is wrong with one of them alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gitops.compatibility.protobuf_native.descriptors import (
    EnumType,
    Field,
    File,
    Message,
    Service,
)
from gitops.compatibility.protobuf_native.errors import InvalidEnvelopeError
from gitops.compatibility.protobuf_native.symbols import Pool, Symbol, SymbolKind


@dataclass(frozen=True, slots=True)
class PlacedField:
    """A field, its full name, and its message, which an extension has to look for."""

    field: Field
    full_name: str
    message: Message | None


@dataclass(frozen=True, slots=True)
class PlacedMethod:
    """The full name of a method and the names of its types."""

    full_name: str
    types: tuple[str, str]


Placed = PlacedField | PlacedMethod
"""What has to be linked once every name is known."""


def enter(file: File, pool: Pool) -> Iterator[Placed]:
    """Enter every symbol of `file`; raises InvalidEnvelopeError."""
    for message in file.messages:
        yield from _message(message, pool, None)
    for enum in file.enums:
        _enum(enum, pool, None)
    for service in file.services:
        yield from _service(service, pool)
    yield from _extensions(file.extensions, pool, None)


def _message(message: Message, pool: Pool, parent: str | None) -> Iterator[Placed]:
    full_name = pool.full_name(message.name, parent)
    for nested in message.messages:
        yield from _message(nested, pool, full_name)
    for enum in message.enums:
        _enum(enum, pool, full_name)
    for field in message.fields:
        yield _field(field, message, pool, full_name)
    yield from _extensions(message.extensions, pool, full_name)
    _check_oneofs(message)
    _check_numbers(message)
    symbol = Symbol(SymbolKind.MESSAGE, full_name, pool, message)
    pool.add(symbol, message.name)


def _field(field: Field, message: Message, pool: Pool, parent: str) -> PlacedField:
    if field.extendee is not None:
        raise InvalidEnvelopeError(f"the field '{field.name}' has an extendee")
    if field.oneof_index is not None and field.oneof_index not in range(len(message.oneofs)):
        raise InvalidEnvelopeError(f"the field '{field.name}' is in a oneof that is not there")
    return _placed(field, message, pool, parent)


def _extensions(
    extensions: Iterable[Field], pool: Pool, parent: str | None
) -> Iterator[PlacedField]:
    for field in extensions:
        if field.extendee is None:
            raise InvalidEnvelopeError(f"the extension '{field.name}' has no extendee")
        if field.oneof_index is not None:
            raise InvalidEnvelopeError(f"the extension '{field.name}' is in a oneof")
        yield _placed(field, None, pool, parent)


def _placed(field: Field, message: Message | None, pool: Pool, parent: str | None) -> PlacedField:
    if field.number <= 0:
        raise InvalidEnvelopeError(f"the field '{field.name}' has the number {field.number}")
    full_name = pool.full_name(field.name, parent)
    pool.add(Symbol(SymbolKind.FIELD, full_name, pool), field.name)
    return PlacedField(field, full_name, message)


def _check_oneofs(message: Message) -> None:
    """The oneofs that stand for `optional` fields of proto3 come last."""
    members: list[list[Field]] = [[] for _ in message.oneofs]
    for field in message.fields:
        if field.oneof_index is not None:
            members[field.oneof_index].append(field)
    synthetic = [len(fields) == 1 and fields[0].proto3_optional for fields in members]
    if synthetic != sorted(synthetic):
        raise InvalidEnvelopeError(f"the synthetic oneofs of '{message.name}' are not the last")


def _check_numbers(message: Message) -> None:
    numbers = [field.number for field in message.fields]
    if len(set(numbers)) != len(numbers):
        raise InvalidEnvelopeError(f"two fields of '{message.name}' have one number")


def _enum(enum: EnumType, pool: Pool, parent: str | None) -> None:
    if not enum.values:
        raise InvalidEnvelopeError(f"the enum '{enum.name}' has no values")
    full_name = pool.full_name(enum.name, parent)
    for value in enum.values:
        pool.add(Symbol(SymbolKind.VALUE, pool.full_name(value, full_name), pool), value)
    pool.add(Symbol(SymbolKind.ENUM, full_name, pool), enum.name)


def _service(service: Service, pool: Pool) -> Iterator[PlacedMethod]:
    full_name = pool.full_name(service.name, None)
    for method in service.methods:
        name = pool.full_name(method.name, full_name)
        pool.add(Symbol(SymbolKind.METHOD, name, pool), method.name)
        yield PlacedMethod(name, (method.input_type, method.output_type))
    pool.add(Symbol(SymbolKind.SERVICE, full_name, pool), service.name)
