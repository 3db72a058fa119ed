"""What goes into a decision of the registry and what comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from gitops.model.schema import SchemaType


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSchema:
    """A schema as the registry keeps it: the type that it is stored under, and raw bytes."""

    type: SchemaType
    data: bytes
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredHistory:
    """The live versions, oldest first, and the number that the next stored entry gets.

    `deleted_types` are those of the versions before the last tombstone, which a broker reads as
    well. They are known where the entries themselves are at hand.
    """

    entries: tuple[tuple[int, StoredSchema], ...] = ()
    next_version: int = 0
    deleted_types: frozenset[SchemaType] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Incompatibility:
    """One reason why a reader cannot read what a writer writes.

    `reader` and `writer` name the two schemas (`v3`, `candidate`); the pointers are RFC 6901
    JSON pointers into their definitions; `path` is how a person would name the place.
    """

    rule: str
    message: str
    path: str
    reader: str
    writer: str
    reader_pointer: str
    writer_pointer: str
    hint: str = ""


class Gate(Enum):
    """The questions that a broker asks about a schema, in its order; one of them decides."""

    PAYLOAD = "payload"
    DATA = "data"
    EQUALITY = "equality"
    FIRST = "first"
    STRATEGY = "strategy"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the broker would answer.

    `version` is the one that it names (an existing one if `known`, else the next); None if
    refused. `status` is the HTTP status of POST …/schema (200, 409, 422, 500; 0 where no schema
    could be made to ask about); `reason` says in one line why it was refused. `incompatibilities`
    explain a 409 as far as definitions do.
    `gate` is the question that decided, None where no schema was asked about.
    """

    accepted: bool
    version: int | None = None
    known: bool = False
    status: int = 200
    reason: str = ""
    incompatibilities: tuple[Incompatibility, ...] = ()
    gate: Gate | None = None
