"""How a reader takes the values that a writer's messages hold: one node for each place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gitops.replay.kernel.jackson.keys import Key
from gitops.replay.kernel.jackson.scalars import Scalar
from gitops.replay.kernel.walk import Counted, What


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
    counted: Mapping[str, Counted]
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
    absent: What | None
    default: Any = None


@dataclass(slots=True, eq=False, kw_only=True)
class Members:
    """A record; `dropped` are the paths of members that only the writer has."""

    path: str
    members: Mapping[str, Member] = field(default_factory=dict)
    dropped: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True, eq=False, kw_only=True)
class Again:
    """A record within itself: its members keep the paths that they have outside."""

    path: str
    record: Members


Node = Again | Leaf | Symbols | Items | Entries | OneOf | Anything | Members


def takes_null(node: Node) -> bool:
    """Whether null is a value of it."""
    if isinstance(node, OneOf):
        return "null" in node.names
    return isinstance(node, Leaf) and node.scalar.kind == "null"
