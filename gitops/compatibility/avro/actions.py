"""How a reader takes in what a writer wrote, step by step: Avro 1.11.4's Resolver.

The broker refuses a pair if an error can be reached in this graph; it does not use Avro's
SchemaCompatibility, whose rules differ.
"""

from __future__ import annotations

from enum import Enum as PythonEnum

from msgspec import Struct, field

from gitops.compatibility.avro.schema import Field, Record, Schema


class Mismatch(PythonEnum):
    """What stands against it."""

    TYPES = "types"
    NAMES = "names"
    SIZES = "sizes"
    NO_DEFAULT = "no default"
    NO_BRANCH = "no branch"


class Nothing(Struct, eq=False):
    """The reader takes it as it is, or promoted."""


class Error(Struct, eq=False):
    """The reader cannot take it.

    Of a record, `missing` are the reader's fields that are not written and have no default, and
    `adjust` what became of the fields that are written: it explains and decides nothing.
    """

    mismatch: Mismatch
    writer: Schema
    reader: Schema
    missing: tuple[Field, ...] = ()
    adjust: Adjust | None = None


class Skip(Struct, eq=False):
    """The reader has no such field; the writer's bytes are still walked over."""

    writer: Schema


class Items(Struct, eq=False):
    """An array's items or a map's values; `step` is how the path is written."""

    step: str
    action: Action


class Chosen(Struct, eq=False):
    """The reader's branch `index`."""

    index: int
    action: Action


class Branches(Struct, eq=False):
    """One action for each of the writer's branches."""

    actions: tuple[Action, ...]


class Walk(Struct, eq=False):
    """A schema that is walked over by its own plan (an equivalent union)."""

    schema: Schema


class Adjust(Struct, eq=False):
    """A record: the writer's fields, then the reader's fields that take their default.

    `fields` leaves out those that need nothing; it grows while the pair is being resolved, and a
    recursive pair sees it half done.
    """

    writer: Record
    reader: Record
    fields: list[tuple[Field, Field | None, Action]] = field(default_factory=list)
    defaults: list[Field] = field(default_factory=list)


Action = Nothing | Error | Skip | Items | Chosen | Branches | Walk | Adjust
