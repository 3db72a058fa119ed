"""Many JSON values at once: the types that msgspec decodes them to, and their counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Any, Final, Literal, Protocol, Union

import msgspec
from msgspec import UNSET, Meta
from msgspec.structs import astuple

from gitops.replay.kernel.json.map_keys import Key
from gitops.replay.kernel.json.rows import count_rounded, in_range, take
from gitops.replay.kernel.json.scalars import Scalar
from gitops.replay.kernel.json.schema_pair import (
    Anything,
    Entries,
    Items,
    Leaf,
    Member,
    Members,
    Node,
    OneOf,
    Recursion,
    Symbols,
)
from gitops.replay.kernel.payload_column import AmbiguousBatchError, Counts
from gitops.replay.kernel.protocol import CountKey, CountKind, Unreadable, ValueMismatchError

# Many values of one place at once: the type that msgspec decodes them to, and their counts.
#
# A shape counts exactly what `rows.take` counts, or raises AmbiguousBatchError, which sends the
# rows there. It answers how many members of objects it met: fewer than the payload holds, and
# there is a member that stands twice, or one that neither schema knows.


class Shape(Protocol):
    """Values of one place; `type` is what msgspec decodes them to."""

    @property
    def type(self) -> Any:  # noqa: ANN401 - a type or a form of `typing`
        """For a Decoder."""
        ...

    def count(self, values: Sequence[Any], counts: Counts) -> int:
        """Count the values, answer how many members they have; raises AmbiguousBatchError."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafShape:
    """Values without parts; those that are not of `plain` are looked at, None: none is."""

    type: Any
    node: Leaf
    plain: tuple[type, ...] | None = None

    def count(self, values: Sequence[Any], counts: Counts) -> int:
        """Numbers may be out of range or rounded."""
        node, path, total = self.node, self.node.path, len(values)
        for value in _others(values, self.plain) if self.plain is not None else ():
            _check(node, value)
        counts[CountKey(path, CountKind.READ)] += total
        if node.scalar.kind == "null":
            counts[CountKey(path, CountKind.NULLS)] += total
        if node.promoted:
            counts[CountKey(path, CountKind.PROMOTED)] += total
        if (node.rounds or node.scalar.kind == "float") and not in_range(node.scalar.kind, values):
            raise AmbiguousBatchError
        if node.rounds and (changed := count_rounded(node.scalar.kind, values)):
            counts[CountKey(path, CountKind.CHANGED)] += changed
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SymbolsShape:
    """Symbols of an enum."""

    type: Any
    node: Symbols

    def count(self, values: Sequence[Any], counts: Counts) -> int:
        """How often each symbol."""
        counts[CountKey(self.node.path, CountKind.READ)] += len(values)
        for symbol, times in Counter(values).items():
            counts[self.node.counted[symbol]] += times
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemsShape:
    """Arrays."""

    type: Any
    path: str
    item: Shape

    def count(self, values: Sequence[Any], counts: Counts) -> int:
        """All their items in one."""
        counts[CountKey(self.path, CountKind.READ)] += len(values)
        items = list(chain.from_iterable(values))
        return self.item.count(items, counts) if items else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EntriesShape:
    """Maps."""

    type: Any
    path: str
    value: Shape
    key: Key | None = None

    def count(self, values: Sequence[Any], counts: Counts) -> int:
        """All their values in one; each key is looked at once."""
        if self.key is not None:
            _check_keys(self.key, set(chain.from_iterable(values)))
        counts[CountKey(self.path, CountKind.READ)] += len(values)
        inner = list(chain.from_iterable(map(dict.values, values)))
        return len(inner) + (self.value.count(inner, counts) if inner else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionalShape:
    """A union of null and one other type, called `name`."""

    type: Any
    path: str
    other: Shape
    name: str

    def count(self, values: Sequence[Any], counts: Counts) -> int:
        """Nulls, then the others."""
        given = [value for value in values if value is not None]
        if nulls := len(values) - len(given):
            for key in (CountKind.READ, CountKind.NULLS):
                counts[CountKey(self.path, key)] += nulls
            counts[CountKey(self.path, CountKind.BRANCH, "null")] += nulls
        if not given:
            return 0
        counts[CountKey(self.path, CountKind.BRANCH, self.name)] += len(given)
        return self.other.count(given, counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class LooseShape:
    """What msgspec has no type for: other unions, a record within itself."""

    node: Node
    type: Any = Any

    def count(self, values: Sequence[Any], counts: Counts) -> int:
        """One value after the other."""
        counted: list[CountKey] = []
        for value in values:
            _check(self.node, value, counted)
        counts.update(counted)
        return _members_in_all(values)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberShape:
    """A member of a record; `dropped` is the path of one that only the writer has."""

    shape: Shape | None = None
    member: Member | None = None
    dropped: str = ""

    def count(self, values: Sequence[Any], counts: Counts) -> int:
        """Those that are there, and what stands for those that are not."""
        member, shape = self.member, self.shape
        if shape is not None and member is not None and member.absent is None:
            return len(values) + shape.count(values, counts)
        given = [value for value in values if value is not UNSET]
        if shape is None:
            if given:
                counts[CountKey(self.dropped, CountKind.DROPPED)] += len(given)
            return len(given) + _members_in_all(given)
        if member is not None and (absent := len(values) - len(given)):
            _count_absent(member, absent, counts)
        return len(given) + (shape.count(given, counts) if given else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class MembersShape:
    """Records: a Struct of msgspec, whose attributes are `members` in their order."""

    type: Any
    path: str
    members: tuple[MemberShape, ...]

    def count(self, values: Sequence[Any], counts: Counts) -> int:
        """A column for each member."""
        counts[CountKey(self.path, CountKind.READ)] += len(values)
        columns = zip(*map(astuple, values), strict=True)
        return sum(
            member.count(column, counts)
            for member, column in zip(self.members, columns, strict=False)
        )


_PARTS: Final = (dict, list)


def _members_in_all(values: Sequence[Any]) -> int:
    if set(map(type, values)).isdisjoint(_PARTS):
        return 0
    return sum(map(members_in, values))


def members_in(value: Any) -> int:  # noqa: ANN401 - JSON
    """How many members the objects in a value have, at every depth."""
    if not isinstance(value, _PARTS):
        return 0
    number, waiting = 0, [value]
    while waiting:
        mapping = waiting.pop()
        if isinstance(mapping, dict):
            number += len(mapping)
            waiting += [inner for inner in mapping.values() if isinstance(inner, _PARTS)]
        else:
            waiting += [inner for inner in mapping if isinstance(inner, _PARTS)]
    return number


def _count_absent(member: Member, times: int, counts: Counts) -> None:
    if member.absent is CountKind.READ:
        counted: list[CountKey] = []
        take(member.node, None, counted)
        for key in counted:
            counts[key] += times
    else:
        counts[CountKey(member.node.path, CountKind.DEFAULTED)] += times


def _others(values: Sequence[Any], plain: tuple[type, ...]) -> list[Any]:
    return [value for value in values if type(value) not in plain]


def _check_keys(key: Key, names: Iterable[str]) -> None:
    for name in names:
        try:
            key.check(name)
        except ValueMismatchError:
            raise AmbiguousBatchError from None


def _check(node: Node, value: Any, counted: list[CountKey] | None = None) -> None:  # noqa: ANN401 - JSON
    try:
        take(node, value, [] if counted is None else counted)
    except (Unreadable, RecursionError):
        raise AmbiguousBatchError from None


# From a plan to shapes, whose types msgspec decodes to.


_SIMPLE: Final[dict[str, Any]] = {
    "null": None,
    "boolean": bool,
    "double": float,
    "float": float,
    "string": str,
    "bytes": bytes,
}
_NUMBER_TEXTS: Final[dict[str, tuple[type, ...]]] = {"number": (int, float), "whole": (int,)}
_NUMBERS: Final = frozenset({"float", "double"})


def shape_of(node: Node) -> Shape:
    """The shape of a plan."""
    match node:
        case Leaf():
            return _leaf(node)
        case Symbols() if node.counted:
            return SymbolsShape(type=Literal[tuple(node.counted)], node=node)
        case Items():
            item = shape_of(node.item)
            return ItemsShape(type=list[item.type], path=node.path, item=item)  # type: ignore[name-defined]
        case Entries():
            value = shape_of(node.value)
            entries = dict[str, value.type]  # type: ignore[name-defined]
            return EntriesShape(type=entries, path=node.path, value=value, key=node.key)
        case OneOf():
            return _one_of(node)
        case Members():
            return _members(node)
        case Recursion() | Anything() | Symbols():
            return LooseShape(node=node)


def _one_of(node: OneOf) -> Shape:
    other = node.optional
    if other is None or isinstance(other, OneOf):
        return LooseShape(node=node)
    shape = shape_of(other)
    name = node.names[node.branches.index(other)]
    if isinstance(shape, LooseShape):
        return LooseShape(node=node)
    return OptionalShape(type=shape.type | None, path=node.path, other=shape, name=name)


def _members(node: Members) -> Shape:
    shapes = [_member(member) for member in node.members.values()]
    shapes += [MemberShape(dropped=path) for path in node.dropped.values()]
    names = [*node.members, *node.dropped]
    fields = [_field(f"f{at}", shape) for at, shape in enumerate(shapes)]
    renamed = {f"f{at}": name for at, name in enumerate(names)}
    struct = msgspec.defstruct("Row", fields, rename=renamed, kw_only=True, gc=False)
    return MembersShape(type=struct, path=node.path, members=tuple(shapes))


def _member(member: Member) -> MemberShape:
    return MemberShape(shape=shape_of(member.node), member=member)


def _field(name: str, member: MemberShape) -> Any:  # noqa: ANN401 - what defstruct takes
    if member.shape is None:
        return (name, Any, UNSET)
    if member.member is not None and member.member.absent is None:
        return (name, member.shape.type)
    return (name, member.shape.type | msgspec.UnsetType, UNSET)


def _leaf(node: Leaf) -> Shape:
    scalar = node.scalar
    if scalar.kind in {"int", "long"}:
        return _integers(node)
    if scalar.kind in {"bytes", "fixed"}:
        kind = bytes if scalar.size is None else _sized(scalar.size)
        return LeafShape(type=int | float | kind if scalar.form else kind, node=node)
    if scalar.form in _NUMBER_TEXTS:
        plain = _NUMBER_TEXTS[scalar.form]
        return LeafShape(type=Union[(*plain, str)], node=node, plain=plain)
    if scalar.kind == "string" and scalar.form:
        return LeafShape(type=str, node=node, plain=())
    if scalar.kind in _NUMBERS and node.rounds:
        return LeafShape(type=int | float, node=node)
    return LeafShape(type=_SIMPLE[scalar.kind], node=node)


def _integers(node: Leaf) -> Shape:
    form, whole = node.scalar.form, _ranged(node.scalar)
    if not form:
        return LeafShape(type=whole, node=node)
    if form.startswith("timestamp"):
        return LeafShape(type=whole | float | str, node=node, plain=(int,))
    return LeafShape(type=whole | list[Any] | str, node=node, plain=(int,))


def _ranged(scalar: Scalar) -> Any:  # noqa: ANN401 - a form of `typing`
    within = scalar.within or range(0)
    return Annotated[int, Meta(ge=within.start, le=within.stop - 1)]


def _sized(size: int) -> Any:  # noqa: ANN401 - a form of `typing`
    return Annotated[bytes, Meta(min_length=size, max_length=size)]
