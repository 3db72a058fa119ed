"""Whether a file links: every type is found and every field fits (protobuf-java 3.25.5)."""

from __future__ import annotations

from typing import Final

from gitops.compatibility.protobuf_native.building import Placed, PlacedField, PlacedMethod, enter
from gitops.compatibility.protobuf_native.default_values import is_default_value
from gitops.compatibility.protobuf_native.descriptors import Field, File, Label, Message, Type
from gitops.compatibility.protobuf_native.errors import InvalidEnvelopeError
from gitops.compatibility.protobuf_native.symbols import Effort, Pool, Symbol, SymbolKind

_MESSAGES: Final = frozenset((Type.MESSAGE, Type.GROUP))
_NAMED: Final = _MESSAGES | {Type.ENUM}
_NEVER_PACKED: Final = _MESSAGES | {Type.STRING, Type.BYTES}
_KIND_OF: Final = {
    Type.MESSAGE: SymbolKind.MESSAGE,
    Type.GROUP: SymbolKind.MESSAGE,
    Type.ENUM: SymbolKind.ENUM,
}
_FILE_COST: Final = 4
_TYPE_OF: Final = {SymbolKind.MESSAGE: Type.MESSAGE, SymbolKind.ENUM: Type.ENUM}


def link(file: File, imports: tuple[Pool, ...], effort: Effort) -> Pool:
    """The pool of a file whose `imports` are linked, in the file's order of them.

    Raises InvalidEnvelopeError.
    """
    public = []
    for index in file.public_dependencies:
        if index not in range(len(imports)):
            raise InvalidEnvelopeError(f"'{file.name}' makes an import public that is not there")
        public.append(imports[index])
    pool = Pool(file.package, _visible(imports, effort), effort, tuple(dict.fromkeys(public)))
    for placed in tuple(enter(file, pool)):
        _link(placed, pool)
    return pool


def _visible(imports: tuple[Pool, ...], effort: Effort) -> tuple[Pool, ...]:
    """The imports and what they import publicly, and so on."""
    seen: dict[Pool, None] = {}
    waiting = list(reversed(imports))
    while waiting:
        pool = waiting.pop()
        if pool not in seen:
            effort.spend(_FILE_COST + len(pool.public))
            seen[pool] = None
            waiting.extend(reversed(pool.public))
    return tuple(seen)


def _link(placed: Placed, pool: Pool) -> None:
    match placed:
        case PlacedField():
            _link_field(placed, pool)
        case PlacedMethod():
            for name in placed.types:
                if pool.look_up(name, placed.full_name).kind is not SymbolKind.MESSAGE:
                    raise InvalidEnvelopeError(f"'{name[:100]}' is not a message")


def _link_field(placed: PlacedField, pool: Pool) -> None:
    field = placed.field
    message = placed.message or _extended(placed, pool)
    kind, named = pool.types[placed.full_name] = _type(placed, pool)
    if field.packed and (field.label is not Label.REPEATED or kind in _NEVER_PACKED):
        raise InvalidEnvelopeError(f"the field '{field.name}' cannot be packed")
    if field.default_value is not None:
        _check_default(field, field.default_value, kind, named)
    if message is not None and message.message_set:
        _check_message_set(field, kind)


def _extended(placed: PlacedField, pool: Pool) -> Message | None:
    field = placed.field
    symbol = pool.look_up(field.extendee or "", placed.full_name)
    if symbol.message is None:
        raise InvalidEnvelopeError(f"'{symbol.full_name[:100]}' is not a message")
    pool.extended[placed.full_name] = symbol
    if not _takes_extension(symbol.message, field.number):
        raise InvalidEnvelopeError(
            f"'{symbol.full_name[:100]}' has no extension range for {field.number}"
        )
    return symbol.message


def _takes_extension(message: Message, number: int) -> bool:
    """Java's binary search over the starts; of equal ones it meets any."""
    low, high = 0, len(message.extension_starts) - 1
    while low <= high:
        middle = (low + high) // 2
        start = message.extension_starts[middle]
        if start == number:
            return number < message.extension_ends[middle]
        low, high = (middle + 1, high) if start < number else (low, middle - 1)
    return low > 0 and number < message.extension_ends[low - 1]


def _type(placed: PlacedField, pool: Pool) -> tuple[Type, Symbol | None]:
    """The type of a field, and the message or enum that it names."""
    field = placed.field
    if field.type_name is None:
        if field.type is None or field.type in _NAMED:
            raise InvalidEnvelopeError(f"the field '{field.name}' names no type")
        return field.type, None
    named = pool.look_up(field.type_name, placed.full_name)
    kind = field.type or _TYPE_OF.get(named.kind)
    if kind is None or _KIND_OF.get(kind) is not named.kind:
        raise InvalidEnvelopeError(f"the field '{field.name}' names a type of another kind")
    return kind, named


def _check_default(field: Field, value: str, kind: Type, named: Symbol | None) -> None:
    if field.label is Label.REPEATED or kind in _MESSAGES:
        raise InvalidEnvelopeError(f"the field '{field.name}' cannot have a default value")
    if named is not None:
        found = named.pool.find(f"{named.full_name}.{value}")
        fits = found is not None and found.kind is SymbolKind.VALUE
    else:
        fits = is_default_value(value, kind)
    if not fits:
        raise InvalidEnvelopeError(f"the field '{field.name}' has a default value of another type")


def _check_message_set(field: Field, kind: Type) -> None:
    extension = field.extendee is not None
    if not extension or field.label is not Label.OPTIONAL or kind is not Type.MESSAGE:
        raise InvalidEnvelopeError("a MessageSet has optional messages as extensions, nothing else")
