"""The names that a linked file knows, and how one name finds another (protobuf-java 3.25.5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final

from gitops.compatibility.protobuf_native.descriptors import Message, Type
from gitops.compatibility.protobuf_native.errors import EndlessImportsError, InvalidEnvelopeError

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
    names: dict[str, Symbol] = field(default_factory=dict)
    types: dict[str, tuple[Type, Symbol | None]] = field(default_factory=dict)
    extended: dict[str, Symbol] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for package in dict.fromkeys((*(one.package for one in self.visible), self.package)):
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
        found = self.names.get(full_name)
        if found is not None and found.kind in kinds:
            return found
        self.effort.spend(len(self.visible))
        for pool in self.visible:
            found = pool.names.get(full_name)
            if found is not None and found.kind in kinds:
                return found
        return None

    def look_up(self, name: str, relative_to: str) -> Symbol:
        """The type that `name` means in the symbol `relative_to`; raises InvalidEnvelopeError.

        The innermost scope that knows the first part of the name decides: the rest is looked for
        there alone.
        """
        if name.startswith("."):
            found = self.find(name[1:], TYPES)
        else:
            found = self._in_scopes(name, relative_to)
        if found is None:
            raise InvalidEnvelopeError(f"'{name[:100]}' is not defined")
        return found

    def _in_scopes(self, name: str, scope: str) -> Symbol | None:
        first, dot, _ = name.partition(".")
        while "." in scope:
            scope = scope.rpartition(".")[0]
            self.effort.spend((len(scope) + len(name)) // 8 + 1)
            found = self.find(f"{scope}.{first}", AGGREGATES)
            if found is not None:
                return self.find(f"{scope}.{name}", TYPES) if dot else found
        return self.find(name, TYPES)
