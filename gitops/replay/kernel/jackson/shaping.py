"""From a plan to shapes, whose types msgspec decodes to."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, Union

import msgspec
from msgspec import UNSET, Meta

from gitops.replay.kernel.jackson.plan import (
    Again,
    Anything,
    Entries,
    Items,
    Leaf,
    Member,
    Members,
    Node,
    OneOf,
    Symbols,
)
from gitops.replay.kernel.jackson.scalars import Scalar
from gitops.replay.kernel.jackson.shapes import (
    EntriesShape,
    ItemsShape,
    LeafShape,
    LooseShape,
    MemberShape,
    MembersShape,
    OptionalShape,
    Shape,
    SymbolsShape,
)

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
        case Again() | Anything() | Symbols():
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
