"""Whether a file links: its names are entered, every type is found, every field fits."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from gitops.schemas.protobuf_native.default_values import is_default_value
from gitops.schemas.protobuf_native.descriptors import (
    DescriptorRules,
    EnumType,
    Field,
    File,
    Label,
    Message,
    Service,
    Type,
)
from gitops.schemas.protobuf_native.errors import EndlessImportsError, InvalidEnvelopeError

# The names that a linked file knows, and how one name finds another (protobuf-java 3.25.5).

_EFFORT: Final = 20_000_000
"""How many characters of names and places to search one set may cost."""

_DEEPEST_PACKAGE: Final = 3_500
"""A broker runs out of stack on a package of more parts, the exact number is chance."""


class SymbolKind(Enum):
    """What a name stands for; VALUE is that of an enum."""

    PACKAGE = auto()
    MESSAGE = auto()
    ENUM = auto()
    SERVICE = auto()
    METHOD = auto()
    FIELD = auto()
    VALUE = auto()


TYPES: Final = frozenset((SymbolKind.MESSAGE, SymbolKind.ENUM))
AGGREGATES: Final = TYPES | {SymbolKind.PACKAGE, SymbolKind.SERVICE}
EVERYTHING: Final = frozenset(SymbolKind)


@dataclass(slots=True)
class Effort:
    """What may still be spent on a set of descriptors, so that none takes for ever."""

    left: int = _EFFORT

    def spend(self, amount: int) -> None:
        """Raise InvalidEnvelopeError where nothing is left."""
        self.left -= amount
        if self.left < 0:
            raise InvalidEnvelopeError("the descriptors are too large to be linked")


@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """A name in its file; `message` is its descriptor where it is a message."""

    kind: SymbolKind
    full_name: str
    pool: Pool
    message: Message | None = None


@dataclass(slots=True, eq=False)
class Pool:
    """The names of one file, the packages that it sees, and the pools of the files it sees.

    Once the file is linked, `types` has the type of each field by its full name, with the message
    or enum that it names, and `extended` the message of each extension.
    """

    package: str
    visible: tuple[Pool, ...]
    effort: Effort
    public: tuple[Pool, ...] = ()
    names: dict[str, Symbol] = dataclasses.field(default_factory=dict)
    types: dict[str, tuple[Type, Symbol | None]] = dataclasses.field(default_factory=dict)
    extended: dict[str, Symbol] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        for package in dict.fromkeys((*(pool.package for pool in self.visible), self.package)):
            self._add_package(package)

    def _add_package(self, package: str) -> None:
        dots = package.count(".")
        if dots > _DEEPEST_PACKAGE:
            raise EndlessImportsError("a package has too many parts")
        self.effort.spend((dots + 1) * (len(package) // 8 + 1))
        while True:
            self.names[package] = Symbol(SymbolKind.PACKAGE, package, self)
            if "." not in package:
                break
            package = package.rpartition(".")[0]

    def full_name(self, name: str, parent: str | None) -> str:
        """The name of a symbol below `parent`, else in the file's package."""
        above = self.package if parent is None else parent
        self.effort.spend((len(above) + len(name)) // 8 + 1)
        return f"{above}.{name}" if above or parent is not None else name

    def add(self, symbol: Symbol, name: str) -> None:
        """Enter a symbol under its full name; raises InvalidEnvelopeError."""
        if not (name.isascii() and name.isidentifier()):
            raise InvalidEnvelopeError(f"'{name[:100]}' is not an identifier of Protobuf")
        if symbol.full_name in self.names:
            raise InvalidEnvelopeError(f"'{symbol.full_name[:100]}' is defined twice")
        self.names[symbol.full_name] = symbol

    def find(self, full_name: str, kinds: frozenset[SymbolKind] = EVERYTHING) -> Symbol | None:
        """The symbol of one of these kinds, in this file or one that it sees."""
        symbol = self.names.get(full_name)
        if symbol is not None and symbol.kind in kinds:
            return symbol
        self.effort.spend(len(self.visible))
        for pool in self.visible:
            symbol = pool.names.get(full_name)
            if symbol is not None and symbol.kind in kinds:
                return symbol
        return None

    def look_up(self, name: str, relative_to: str) -> Symbol:
        """The type that `name` means in the symbol `relative_to`; raises InvalidEnvelopeError.

        The innermost scope that knows the first part of the name decides: the rest is looked for
        there alone.
        """
        if name.startswith("."):
            symbol = self.find(name[1:], TYPES)
        else:
            symbol = self._in_scopes(name, relative_to)
        if symbol is None:
            raise InvalidEnvelopeError(f"'{name[:100]}' is not defined")
        return symbol

    def _in_scopes(self, name: str, scope: str) -> Symbol | None:
        first, dot, _ = name.partition(".")
        while "." in scope:
            scope = scope.rpartition(".")[0]
            self.effort.spend((len(scope) + len(name)) // 8 + 1)
            symbol = self.find(f"{scope}.{first}", AGGREGATES)
            if symbol is not None:
                return self.find(f"{scope}.{name}", TYPES) if dot else symbol
        return self.find(name, TYPES)


# The names of a file, entered into its pool; what is wrong with one of them alone.


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


# Whether a file links: every type is found and every field fits (protobuf-java 3.25.5).


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


def link(file: File, imports: tuple[Pool, ...], effort: Effort, rules: DescriptorRules) -> Pool:
    """The pool of a file whose `imports` are linked, in the file's order of them.

    Raises InvalidEnvelopeError.
    """
    _check_edition(file, rules)
    public = []
    for index in file.public_dependencies:
        if index not in range(len(imports)):
            raise InvalidEnvelopeError(f"'{file.name}' makes an import public that is not there")
        public.append(imports[index])
    pool = Pool(file.package, _visible(imports, effort), effort, tuple(dict.fromkeys(public)))
    for placed in tuple(enter(file, pool)):
        _link(placed, pool, rules)
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


def _check_edition(file: File, rules: DescriptorRules) -> None:
    if rules.editions is None or file.syntax != "editions" or file.edition in rules.editions:
        return
    raise InvalidEnvelopeError(f"the broker does not support the edition of '{file.name[:100]}'")


def _link(placed: Placed, pool: Pool, rules: DescriptorRules) -> None:
    match placed:
        case PlacedField():
            _link_field(placed, pool, rules)
        case PlacedMethod():
            for name in placed.types:
                if pool.look_up(name, placed.full_name).kind is not SymbolKind.MESSAGE:
                    raise InvalidEnvelopeError(f"'{name[:100]}' is not a message")


def _link_field(placed: PlacedField, pool: Pool, rules: DescriptorRules) -> None:
    field = placed.field
    message = placed.message or _extended(placed, pool)
    kind, named = pool.types[placed.full_name] = _type(placed, pool)
    if field.packed and (field.label is not Label.REPEATED or kind in _NEVER_PACKED):
        raise InvalidEnvelopeError(f"the field '{field.name}' cannot be packed")
    if field.default_value is not None:
        _check_default(field, field.default_value, kind, named)
    if message is not None and message.message_set:
        _check_message_set(field, kind, rules)


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
        symbol = named.pool.find(f"{named.full_name}.{value}")
        fits = symbol is not None and symbol.kind is SymbolKind.VALUE
    else:
        fits = is_default_value(value, kind)
    if not fits:
        raise InvalidEnvelopeError(f"the field '{field.name}' has a default value of another type")


def _check_message_set(field: Field, kind: Type, rules: DescriptorRules) -> None:
    extension = field.extendee is not None
    if not extension and rules.message_set_fields:
        return
    if not extension or field.label is not Label.OPTIONAL or kind is not Type.MESSAGE:
        raise InvalidEnvelopeError("a MessageSet has optional messages as extensions, nothing else")
