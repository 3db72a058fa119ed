"""What a plan is made of: one step for each place where the writer's bytes can be.

A step's `path` is where it stands, by the reader's names. `counted` is what each of its values
counts by being there. `reads` is the reader's kind, None where the value is dropped. `least` is
how few bytes a value can take. `sense` is what Java's classes make of a value, None: nothing more.
`meaning` is what it stands for to the reader.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gitops.replay.kernel.avro.logical_types import Meaning, Sense
from gitops.replay.kernel.protocol import CountKey, Reason

Counts = tuple[CountKey, ...]


@dataclass(slots=True, eq=False)
class Group:
    """Steps that are taken together: whoever takes the first takes all up to the next choice.

    `keys` are what each passage counts, at all of its places; `inside`: what a record holds, while
    the record itself is counted elsewhere.
    """

    step: Step
    extra: Counts = ()
    keys: Counts = ()
    inside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fail:
    """The reader takes nothing that is written here."""

    reason: Reason
    path: str
    counted: Counts = ()
    least: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FixedSize:
    """`null`, `float`, `double` or `fixed`: always as many bytes."""

    kind: str
    reads: str | None
    size: int
    path: str
    counted: Counts
    sense: Sense | None = None
    meaning: Meaning | None = None

    @property
    def least(self) -> int:
        """Its size."""
        return self.size


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Flag:
    """A boolean."""

    reads: str | None
    path: str
    counted: Counts
    least: int = 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Number:
    """An int or a long."""

    kind: str
    reads: str | None
    path: str
    counted: Counts
    least: int = 1
    sense: Sense | None = None
    meaning: Meaning | None = None

    @property
    def can_lose(self) -> bool:
        """Whether the reader's kind has fewer digits."""
        return self.reads == "float" or (self.kind == "long" and self.reads == "double")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Text:
    """A string or bytes."""

    kind: str
    reads: str | None
    path: str
    counted: Counts
    least: int = 1
    sense: Sense | None = None
    meaning: Meaning | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Symbols:
    """An enum: the writer's symbols, and what the reader makes of each.

    `taken` has None where the reader has neither the symbol nor a default; it is empty where the
    value is dropped.
    """

    symbols: tuple[str, ...]
    taken: tuple[str | None, ...]
    path: str
    counted: Counts
    least: int = 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Items:
    """An array, or a map if `keyed`; `reads` tells whether keys have to be text."""

    item: Group
    keyed: bool
    reads: str | None
    path: str
    counted: Counts
    least: int = 1

    @property
    def least_item(self) -> int:
        """How few bytes an item takes, its key included."""
        return self.item.step.least + self.keyed


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Branches:
    """A union: a group for each of the writer's branches."""

    groups: tuple[Group, ...]
    path: str
    counted: Counts
    least: int = 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReaderBranch:
    """The reader has a union here and takes the value as that branch."""

    branch: str
    step: Step
    path: str
    counted: Counts = ()

    @property
    def least(self) -> int:
        """What is in it."""
        return self.step.least


@dataclass(slots=True, kw_only=True, eq=False)
class Fields:
    """A record: the writer's fields in order, then the reader's that take their default.

    `fields` names a field None where it is dropped; it is filled while the plan is made, since a
    record can hold itself. `defaults` answer one value each time, and `filled` is what they count;
    `order` are the reader's names.
    """

    path: str
    counted: Counts
    fields: tuple[tuple[str | None, Step], ...] = ()
    defaults: tuple[tuple[str, Callable[[], Any]], ...] = ()
    filled: Counts = ()
    order: tuple[str, ...] = ()
    least: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recursion:
    """A record that was met before: it is read, and counted, at the paths that it had there."""

    group: Group
    path: str
    counted: Counts
    least: int = 0


Step = (
    Fail
    | FixedSize
    | Flag
    | Number
    | Text
    | Symbols
    | Items
    | Branches
    | ReaderBranch
    | Fields
    | Recursion
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plan:
    """How one reader takes what one writer wrote; `steps` are all of them."""

    top: Group
    steps: tuple[Step, ...] = field(default=())
