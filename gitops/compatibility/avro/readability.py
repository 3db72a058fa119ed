"""Can this reader read what this writer wrote? The broker's answer, and every reason."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, NamedTuple

from msgspec import Struct

from gitops.compatibility.avro.actions import (
    Action,
    Adjust,
    Branches,
    Chosen,
    Error,
    Items,
    Skip,
    Walk,
)
from gitops.compatibility.avro.aliases import apply_aliases, clashing_alias
from gitops.compatibility.avro.default_values import UnusableDefaultError
from gitops.compatibility.avro.errors import AvroParseError, JavaError
from gitops.compatibility.avro.mismatches import Reason, explain
from gitops.compatibility.avro.places import Places
from gitops.compatibility.avro.recursion import (
    collect_edges,
    first_loop,
    has_cycle,
    recurses_directly,
)
from gitops.compatibility.avro.resolution import Resolver
from gitops.compatibility.avro.schema import Field, Record, Schema, facts_of


class Readability(Struct, frozen=True, kw_only=True):
    """`reasons` against it, none if the reader can read.

    `crashes`: Java throws something other than "incompatible" (the broker answers 500 for a
    check against one version); `overflows`: it runs out of stack (500 in every case).
    """

    reasons: tuple[Reason, ...] = ()
    crashes: bool = False
    overflows: bool = False


def can_read(writer: Schema, reader: Schema) -> Readability:
    """The pair as Pulsar 4.0.7's SchemaValidator (Avro 1.11.4) judges it.

    The broker builds the resolving grammar of the pair and refuses it if an error can be reached.
    """
    try:
        return _readability(writer, reader)
    except RecursionError:  # a chain of thousands of records overflows Java's stack, too
        return _TOO_DEEP


def _readability(writer: Schema, reader: Schema) -> Readability:
    # Only a record that contains itself directly makes a cycle in what is walked over; without
    # one, what both sides share need not be walked over.
    facts = facts_of(reader)
    back = facts.refers_back or facts_of(writer).refers_back
    whole = back and (recurses_directly(writer) or recurses_directly(reader))
    try:
        written = apply_aliases(writer, reader) if facts.has_aliases else writer
        action = Resolver(whole=whole).resolve(written, reader)
    except AvroParseError as error:
        crashes = error.java is not JavaError.SCHEMA_PARSE
        return Readability(reasons=(_bad_alias(error, writer, reader),), crashes=crashes)
    except UnusableDefaultError as error:
        reason = _bad_default(error, writer, reader)
        return Readability(reasons=(reason,), crashes=not error.overflow, overflows=error.overflow)
    if isinstance(action, Adjust) and not action.fields and not whole:
        return _READABLE
    walk = _Walk(Places(written), Places(reader), whole=whole)
    walk.over(action, _TOP)
    if whole and has_cycle(walk.edges):
        return Readability(reasons=(_recursion(writer, reader), *walk.reasons), overflows=True)
    return Readability(reasons=tuple(walk.reasons)) if walk.reasons else _READABLE


_READABLE: Final = Readability()
_TOO_DEEP: Final = Readability(
    reasons=(
        Reason(
            rule="AVRO-R006",
            message="the records hang together too deeply: Java runs out of stack",
            path="",
            writer_pointer="",
            reader_pointer="",
            hint="split the schema: no topic needs thousands of types one inside the other",
        ),
    ),
    overflows=True,
)


class _Place(NamedTuple):
    """The nearest field of each side, with its record; None at the top."""

    path: str
    writer: tuple[Record, Field] | None = None
    reader: tuple[Record, Field] | None = None


_TOP: Final = _Place("")


class _Walk:
    """Over everything that can be reached, once."""

    def __init__(
        self, writer: Places, reader: Places, *, whole: bool, explained: set[int] | None = None
    ) -> None:
        self.reasons: list[Reason] = []
        self.edges: dict[Hashable, list[Hashable]] = {}
        self._writer, self._reader, self._whole = writer, reader, whole
        self._explained = set() if explained is None else explained

    def over(self, action: Action, place: _Place) -> None:
        match action:
            case Error():
                self._explain(action, place)
                self._beside(action.adjust, place)
            case Adjust() if id(action) not in self.edges:
                self._adjust(action, place)
            case Items():
                inner = _Place(place.path + action.step, place.writer, place.reader)
                self.over(action.action, inner)
            case Chosen():
                self.over(action.action, place)
            case Branches():
                for branch in action.actions:
                    self.over(branch, place)
            case Skip(writer=schema) | Walk(schema=schema) if self._whole:
                collect_edges(schema, self.edges)
            case _:
                pass

    def _explain(self, error: Error, place: _Place) -> None:
        writer = self._writer.field(*place.writer) if place.writer else ""
        reader = self._reader.field(*place.reader) if place.reader else ""
        self.reasons += explain(error, place.path, writer, reader, self._reader)

    def _beside(self, adjust: Adjust | None, place: _Place) -> None:
        """What else is wrong with a record that fails already.

        Java never gets there, so whether that recurses must not count.
        """
        if adjust is not None and adjust.fields and id(adjust) not in self._explained:
            self._explained.add(id(adjust))
            beside = _Walk(self._writer, self._reader, whole=self._whole, explained=self._explained)
            beside.over(adjust, place)
            self.reasons += beside.reasons

    def _adjust(self, adjust: Adjust, place: _Place) -> None:
        self.edges[id(adjust)] = self._edges(adjust) if self._whole else []
        for written, read, step in adjust.fields:
            path = f"{place.path}.{written.name}" if place.path else written.name
            reader = (adjust.reader, read) if read else place.reader
            self.over(step, _Place(path, (adjust.writer, written), reader))

    def _edges(self, adjust: Adjust) -> list[Hashable]:
        defaults = [field.type for field in adjust.defaults]
        for kind in defaults:
            collect_edges(kind, self.edges)
        return [
            *[id(step) for _, _, step in adjust.fields if isinstance(step, Adjust)],
            *[id(kind) for kind in defaults if isinstance(kind, Record)],
        ]


def _bad_alias(error: AvroParseError, writer: Schema, reader: Schema) -> Reason:
    problem = error.problems[0]
    return Reason(
        rule="AVRO-R008",
        message=f"with the reader's aliases the writer is no valid schema: {problem.message}",
        path="",
        writer_pointer=problem.pointer,
        reader_pointer=clashing_alias(writer, reader),
        hint="change the aliases so that no two fields or types end with one name",
    )


def _bad_default(error: UnusableDefaultError, writer: Schema, reader: Schema) -> Reason:
    if error.overflow and (first_loop(reader) or first_loop(writer)):
        return _recursion(writer, reader)
    places = Places(reader)
    return Reason(
        rule="AVRO-R007",
        message=f"the default of reader field '{error.field.name}' cannot be used: {error}",
        path=places.path(error.record, error.field),
        writer_pointer="",
        reader_pointer=f"{places.field(error.record, error.field)}/default",
        hint="give it a default of its own type",
    )


def _recursion(writer: Schema, reader: Schema) -> Reason:
    return Reason(
        rule="AVRO-R006",
        message="a record contains itself directly, which Avro for Java cannot resolve",
        path="",
        writer_pointer=_loop_of(writer),
        reader_pointer=_loop_of(reader),
        hint='put ["null", …] around the inner use of the record; this schema can never evolve',
    )


def _loop_of(schema: Schema) -> str:
    loop = first_loop(schema)
    return Places(schema).field(*loop) if loop else ""
