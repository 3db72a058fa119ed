"""From two definitions to a plan: how a reader takes the values of a writer's messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gitops.model.replay import LogicalTypes
from gitops.replay.kernel.json.definition import is_anything
from gitops.replay.kernel.json.map_keys import EntrySchemas, Key, entries_of, key_of, map_entries
from gitops.replay.kernel.json.scalars import Scalar, scalar
from gitops.replay.kernel.protocol import CountKey, CountKind
from gitops.replay.kernel.verdicts import join_path
from gitops.schemas.avro.resolution import PROMOTIONS
from gitops.schemas.avro.schema import (
    Array,
    Enum,
    Field,
    Fixed,
    Map,
    Primitive,
    Record,
    Schema,
    Union,
    branch_name,
)

# How a reader takes the values that a writer's messages hold: one node for each place.


@dataclass(slots=True, eq=False, kw_only=True)
class Leaf:
    """A value without parts; `promoted`: the writer's type is a narrower one.

    `rounds`: the writer's numbers may lose digits in the reader's float or double.
    """

    path: str
    scalar: Scalar
    promoted: bool = False
    rounds: bool = False


@dataclass(slots=True, eq=False, kw_only=True)
class Symbols:
    """An enum; `counted` are the keys of its symbols, `written` the writer's symbols."""

    path: str
    counted: Mapping[str, CountKey]
    written: frozenset[str] = frozenset()


@dataclass(slots=True, eq=False, kw_only=True)
class Items:
    """An array."""

    path: str
    item: Node


@dataclass(slots=True, eq=False, kw_only=True)
class Entries:
    """A map; `key` is what its keys have to be, None if any text is one."""

    path: str
    value: Node
    key: Key | None = None


@dataclass(slots=True, eq=False, kw_only=True)
class OneOf:
    """A union: a value is of the first branch that it fits. `names` are those of its branches."""

    path: str
    branches: tuple[Node, ...]
    names: tuple[str, ...]

    @property
    def optional(self) -> Node | None:
        """The other branch, where there are two and one is null."""
        if len(self.branches) != 2 or "null" not in self.names:  # noqa: PLR2004 - null and one more
            return None
        return self.branches[1 - self.names.index("null")]


@dataclass(slots=True, eq=False, kw_only=True)
class Anything:
    """A Java class that the definition says nothing about: whatever Jackson writes of it."""

    path: str


@dataclass(slots=True, eq=False, kw_only=True)
class Member:
    """A member of a record.

    `absent` is what is counted where the payload does not have it: READ as null, as Java leaves
    nulls out, or DEFAULTED to `default`; None: the row fails.
    """

    name: str
    node: Node
    absent: CountKind | None
    default: Any = None


@dataclass(slots=True, eq=False, kw_only=True)
class Members:
    """A record; `dropped` are the paths of members that only the writer has."""

    path: str
    members: Mapping[str, Member] = field(default_factory=dict)
    dropped: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True, eq=False, kw_only=True)
class Recursion:
    """A record within itself: its members keep the paths that they have outside."""

    path: str
    record: Members


Node = Recursion | Leaf | Symbols | Items | Entries | OneOf | Anything | Members


def takes_null(node: Node) -> bool:
    """Whether null is a value of it."""
    if isinstance(node, OneOf):
        return "null" in node.names
    return isinstance(node, Leaf) and node.scalar.kind == "null"


# From two definitions to a plan.


_ROUNDED: Final = {"float": ("int", "long", "double"), "double": ("int", "long")}
"""Reader's kind → writer's kinds of which it cannot hold each number."""

_CHARS: Final = "[C"
"""Java's class of char[], which is text to Jackson."""

_MANY: Final = 4_000
"""Nodes after which a record that was met before keeps the paths that it had there: records that
hold each other twice each would have paths without end."""


def pair(writer: Schema, reader: Schema, *, logical_types: LogicalTypes = "java") -> Node:
    """The plan of a reader, whose writer tells what is dropped, promoted, or left out as null.

    With `none` for `logical_types` text may be any, also where Java has a class for it.
    """
    return _Pairer(any_text=logical_types == "none").node(writer, reader, "")


class _Pairer:
    def __init__(self, *, any_text: bool) -> None:
        self._any_text = any_text
        self._within: dict[tuple[int, int], Members] = {}
        self._made: dict[tuple[int, int], Members] = {}
        self._nodes = 0

    def node(self, writer: Schema | None, reader: Schema, path: str) -> Node:
        """The node of a place."""
        self._nodes += 1
        match reader:
            case Union():
                return self._union(writer, reader, path)
            case Record():
                return self._record(_type_for_reader(writer, reader), reader, path)
            case Map():
                return self._entries(_type_for_reader(writer, reader), map_entries(reader), path)
            case Array():
                return self._array(_type_for_reader(writer, reader), reader, path)
            case Enum():
                return _symbols(_type_for_reader(writer, reader), reader, path)
            case Fixed() | Primitive():
                return self._leaf(_type_for_reader(writer, reader), reader, path)

    def _union(self, writer: Schema | None, reader: Union, path: str) -> Node:
        return OneOf(
            path=path,
            branches=tuple(self.node(writer, branch, path) for branch in reader.branches),
            names=tuple(map(branch_name, reader.branches)),
        )

    def _array(self, writer: Schema | None, reader: Array, path: str) -> Node:
        pairs = entries_of(reader)
        if pairs is not None:
            return self._entries(writer, pairs, path)
        if reader.props.get("java-class") == _CHARS:
            return Leaf(path=path, scalar=Scalar(kind="string"))
        items = writer.items if isinstance(writer, Array) else None
        return Items(path=path, item=self.node(items, reader.items, f"{path}[]"))

    def _leaf(self, writer: Schema | None, reader: Primitive | Fixed, path: str) -> Leaf:
        kind = writer.kind if writer is not None else reader.kind
        is_any = self._any_text and reader.kind == "string"
        return Leaf(
            path=path,
            scalar=Scalar(kind="string") if is_any else scalar(reader),
            promoted=kind != reader.kind and reader.kind in PROMOTIONS.get(kind, ()),
            rounds=kind in _ROUNDED.get(reader.kind, ()),
        )

    def _entries(self, writer: Schema | None, reader: EntrySchemas, path: str) -> Node:
        written = entries_of(writer) if writer is not None else None
        value = self.node(written and written.value, reader.value, f"{path}{{}}")
        return Entries(path=path, value=value, key=key_of(reader.key))

    def _record(self, writer: Schema | None, reader: Record, path: str) -> Node:
        if is_anything(reader):
            return Anything(path=path)
        pair = (id(writer), id(reader))
        known = (self._within if self._nodes < _MANY else self._made).get(pair)
        if known is not None:
            return Recursion(path=path, record=known)
        node = self._within[pair] = self._made[pair] = Members(path=path)
        written = writer.by_name if isinstance(writer, Record) else {}
        node.members = {
            field.name: self._member(written.get(field.name), field, join_path(path, field.name))
            for field in reader.all_fields
        }
        node.dropped = {
            name: join_path(path, name) for name in written if name not in reader.by_name
        }
        del self._within[pair]
        return node

    def _member(self, written: Field | None, field: Field, path: str) -> Member:
        node = self.node(written.type if written else None, field.type, path)
        absent, default = _where_absent(written, field, node)
        return Member(name=field.name, node=node, absent=absent, default=default)


def _where_absent(written: Field | None, field: Field, node: Node) -> tuple[CountKind | None, Any]:
    """What a member that is not in the payload stands for."""
    if takes_null(node) and written is not None and _holds_null(written.type):
        return CountKind.READ, None
    if field.has_default:
        return CountKind.DEFAULTED, default_value(field.type, field.default)
    return (CountKind.DEFAULTED, None) if takes_null(node) else (None, None)


def default_value(schema: Schema, default: Any) -> Any:  # noqa: ANN401 - JSON in, a value out
    """A default of a definition as the value that it stands for; a union's is its first branch's.

    A default that does not fit its type, which a registry may hold, stays as it is.
    """
    match schema:
        case Union() if schema.branches:
            return default_value(schema.branches[0], default)
        case Record() if isinstance(default, dict):
            return {
                field.name: default_value(field.type, default.get(field.name, _own(field)))
                for field in schema.all_fields
            }
        case Array() if isinstance(default, list):
            return [default_value(schema.items, item) for item in default]
        case Map() if isinstance(default, dict):
            return {name: default_value(schema.values, value) for name, value in default.items()}
        case Fixed() | Primitive(kind="bytes") if isinstance(default, str):
            return default.encode("latin-1", "replace")
        case _:
            return default


def _own(field: Field) -> Any:  # noqa: ANN401 - JSON
    return field.default if field.has_default else None


def _holds_null(schema: Schema) -> bool:
    branches = schema.branches if isinstance(schema, Union) else (schema,)
    return any(branch.kind == "null" for branch in branches)


def _symbols(writer: Schema | None, reader: Enum, path: str) -> Symbols:
    return Symbols(
        path=path,
        counted={symbol: CountKey(path, CountKind.SYMBOL, symbol) for symbol in reader.symbols},
        written=frozenset(writer.symbols if isinstance(writer, Enum) else ()),
    )


def _type_for_reader(writer: Schema | None, reader: Schema) -> Schema | None:
    """What the writer wrote that the reader's type takes: of its kind, else what is promoted."""
    written = writer.branches if isinstance(writer, Union) else (writer,)
    kinds = [branch for branch in written if branch is not None]
    same = [branch for branch in kinds if branch.kind == reader.kind]
    named = [branch for branch in same if branch_name(branch) == branch_name(reader)]
    promoted = [b for b in kinds if reader.kind in PROMOTIONS.get(b.kind, ())]
    rounded = [b for b in kinds if b.kind in _ROUNDED.get(reader.kind, ())]
    return next(iter([*named, *same, *promoted, *rounded]), None)
