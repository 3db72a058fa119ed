"""How a reader takes in what a writer wrote, step by step: Avro 1.11.4's Resolver.

The broker refuses a pair if an error can be reached in this graph; it does not use Avro's
SchemaCompatibility, whose rules differ.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum as PythonEnum

from gitops.compatibility.avro.schema import Field, Schema


class Mismatch(PythonEnum):
    """What stands against it."""

    TYPES = "types"
    NAMES = "names"
    SIZES = "sizes"
    NO_DEFAULT = "no default"
    NO_BRANCH = "no branch"


@dataclass(slots=True, eq=False)
class Nothing:
    """The reader takes it as it is, or promoted."""


@dataclass(slots=True, eq=False, kw_only=True)
class Error:
    """The reader cannot take it.

    Of a record, `missing` are the reader's fields that are not written and have no default, and
    `adjust` what became of the fields that are written: it explains and decides nothing.
    """

    mismatch: Mismatch
    writer: Schema
    reader: Schema
    missing: tuple[Field, ...] = ()
    adjust: Adjust | None = None


@dataclass(slots=True, eq=False, kw_only=True)
class Skip:
    """The reader has no such field; the writer's bytes are still walked over."""

    writer: Schema


@dataclass(slots=True, eq=False, kw_only=True)
class Items:
    """An array's items or a map's values; `step` is how the path is written."""

    step: str
    action: Action


@dataclass(slots=True, eq=False, kw_only=True)
class Chosen:
    """The reader's branch `index`."""

    index: int
    action: Action


@dataclass(slots=True, eq=False, kw_only=True)
class Branches:
    """One action for each of the writer's branches."""

    actions: tuple[Action, ...]


@dataclass(slots=True, eq=False, kw_only=True)
class Walk:
    """A schema that is walked over by its own plan (an equivalent union)."""

    schema: Schema


@dataclass(slots=True, eq=False, kw_only=True)
class Adjust:
    """A record: the writer's fields, then the reader's fields that take their default.

    `fields` grows while the pair is being resolved, and a recursive pair sees it half done.
    """

    fields: list[tuple[Field, Field | None, Action]] = field(default_factory=list)
    defaults: list[Field] = field(default_factory=list)


Action = Nothing | Error | Skip | Items | Chosen | Branches | Walk | Adjust
