"""Can this reader read what this writer wrote? The broker's answer, and every reason."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

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
from gitops.compatibility.avro.aliases import apply_aliases
from gitops.compatibility.avro.default_values import UnusableDefaultError
from gitops.compatibility.avro.errors import AvroParseError
from gitops.compatibility.avro.mismatches import Reason, explain
from gitops.compatibility.avro.recursion import collect_edges, has_cycle, recurses_directly
from gitops.compatibility.avro.resolution import Resolver
from gitops.compatibility.avro.schema import Record, Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Readability:
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
    # Only a record that contains itself directly makes a cycle in what is walked over; without
    # one, what both sides share need not be walked over.
    whole = recurses_directly(writer) or recurses_directly(reader)
    try:
        action = Resolver(whole=whole).resolve(apply_aliases(writer, reader), reader)
    except AvroParseError as error:
        return Readability(reasons=(_bad_alias(error),), crashes=True)
    except UnusableDefaultError as error:
        return Readability(
            reasons=(_bad_default(error),), crashes=not error.overflow, overflows=error.overflow
        )
    walk = _Walk()
    reasons = tuple(walk.reasons(action, _Place("", writer.pointer, reader.pointer)))
    if whole and has_cycle(walk.edges):
        return Readability(reasons=(_recursion(reader), *reasons), overflows=True)
    return Readability(reasons=reasons)


@dataclass(frozen=True, slots=True)
class _Place:
    path: str
    writer_pointer: str
    reader_pointer: str


class _Walk:
    """Over everything that can be reached, once."""

    def __init__(self, explained: set[int] | None = None) -> None:
        self.edges: dict[Hashable, list[Hashable]] = {}
        self._explained = set() if explained is None else explained

    def reasons(self, action: Action, place: _Place) -> Iterator[Reason]:
        match action:
            case Error():
                yield from explain(action, place.path, place.writer_pointer, place.reader_pointer)
                yield from self._beside(action.adjust, place)
            case Items():
                inner = _Place(place.path + action.step, place.writer_pointer, place.reader_pointer)
                yield from self.reasons(action.action, inner)
            case Chosen():
                yield from self.reasons(action.action, place)
            case Branches():
                for branch in action.actions:
                    yield from self.reasons(branch, place)
            case Skip(writer=schema) | Walk(schema=schema):
                collect_edges(schema, self.edges)
            case Adjust() if id(action) not in self.edges:
                yield from self._adjust(action, place)
            case _:
                pass

    def _beside(self, adjust: Adjust | None, place: _Place) -> Iterator[Reason]:
        """What else is wrong with a record that fails already.

        Java never gets there, so whether that recurses must not count.
        """
        if adjust is not None and id(adjust) not in self._explained:
            self._explained.add(id(adjust))
            yield from _Walk(self._explained)._adjust(adjust, place)  # noqa: SLF001 - its own kind

    def _adjust(self, adjust: Adjust, place: _Place) -> Iterator[Reason]:
        defaults = [field.type for field in adjust.defaults]
        self.edges[id(adjust)] = [
            *(id(step) for _, _, step in adjust.fields if isinstance(step, Adjust)),
            *(id(kind) for kind in defaults if isinstance(kind, Record)),
        ]
        for kind in defaults:
            collect_edges(kind, self.edges)
        for written, read, step in adjust.fields:
            path = f"{place.path}.{written.name}" if place.path else written.name
            pointer = read.pointer if read else place.reader_pointer
            yield from self.reasons(step, _Place(path, written.pointer, pointer))


def _bad_alias(error: AvroParseError) -> Reason:
    problem = error.problems[0]
    return Reason(
        rule="AVRO-R008",
        message=f"with the reader's aliases the writer is no valid schema: {problem.message}",
        path="",
        writer_pointer=problem.pointer,
        reader_pointer="",
        hint="change the aliases so that no two fields or types end with one name",
    )


def _bad_default(error: UnusableDefaultError) -> Reason:
    if error.overflow:
        return _recursion(error.field.type)
    return Reason(
        rule="AVRO-R007",
        message=f"the default of reader field '{error.field.name}' cannot be used: {error}",
        path=error.field.name,
        writer_pointer="",
        reader_pointer=f"{error.field.pointer}/default",
        hint="give it a default of its own type",
    )


def _recursion(schema: Schema) -> Reason:
    return Reason(
        rule="AVRO-R006",
        message="a record contains itself directly, which Avro for Java cannot resolve",
        path="",
        writer_pointer="",
        reader_pointer=schema.pointer,
        hint='put ["null", …] around the inner use of the record; this schema can never evolve',
    )
