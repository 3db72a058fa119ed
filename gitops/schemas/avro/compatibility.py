"""Can this reader read what this writer wrote? The broker's answer, and every reason."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from msgspec import Struct

from gitops.model.decision import Incompatibility
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.schemas.avro.aliases import apply_aliases, clashing_alias
from gitops.schemas.avro.default_values import UnusableDefaultError
from gitops.schemas.avro.errors import AvroParseError, JavaError
from gitops.schemas.avro.fields import null_hint
from gitops.schemas.avro.parser import AvroParser
from gitops.schemas.avro.pointers import Pointers
from gitops.schemas.avro.recursion import collect_edges, first_loop, has_cycle, recurses_directly
from gitops.schemas.avro.resolution import (
    Action,
    Adjust,
    Branches,
    Error,
    Items,
    Mismatch,
    ReaderUnion,
    Resolver,
    Skip,
    TooManyBranchesError,
    Walk,
)
from gitops.schemas.avro.schema import (
    Field,
    Fixed,
    Record,
    Schema,
    Union,
    describe,
    facts_of,
)
from gitops.schemas.row import Reason
from gitops.schemas.strategies import COMPATIBLE, End, LabelledSchema, Outcome, incompatible, pairs

# Words for what stands between a reader and a writer.


def explain(
    error: Error, path: str, writer_pointer: str, reader_pointer: str, reader: Pointers
) -> list[Reason]:
    """The reasons that an error of the resolution stands for: one for each missing field."""
    record = error.reader
    if error.missing and isinstance(record, Record):
        writer = describe(error.writer)
        return [
            _no_default(field, writer, path, writer_pointer, f"{reader.field(record, field)}/name")
            for field in error.missing
        ]
    at_writer = f"{writer_pointer}/type" if writer_pointer else ""
    at_reader = f"{reader_pointer}/type" if reader_pointer else ""
    rule, message, hint, writer_hint = _words(error, path)
    return [Reason(rule, message, path, at_writer, at_reader, hint, writer_hint)]


def _no_default(
    missing: Field, writer: str, path: str, writer_pointer: str, reader_pointer: str
) -> Reason:
    name = missing.name
    return Reason(
        "AVRO-R002",
        f"reader field '{name}' ({describe(missing.type)}) has no default, and the writer's "
        f"{writer} does not contain it",
        f"{path}.{name}" if path else name,
        writer_pointer,
        reader_pointer,
        _default_hint(missing),
        f"keep field '{name}': a reader that exists already needs it",
    )


def _default_hint(missing: Field) -> str:
    kind = missing.type
    if isinstance(kind, Union) and kind.branches and kind.branches[0].kind == "null":
        return (
            f"""give '{missing.name}' "default": null (in a class of pulsar-client for Python: """
            "`required_default=True`)"
        )
    return f"give '{missing.name}' a default, or {null_hint(missing)}"


def _words(error: Error, path: str) -> tuple[str, str, str, str]:
    """The rule, the message, the reader's hint, the writer's."""
    writer, reader = describe(error.writer), describe(error.reader)
    match error.mismatch:
        case Mismatch.TYPES | Mismatch.NO_DEFAULT:
            return (
                "AVRO-R001",
                f"a reader of {reader} cannot read {writer}",
                f"keep {writer}, or {_otherwise(path, reader)}",
                f"keep {reader}, or {_otherwise(path, writer)}",
            )
        case Mismatch.NO_BRANCH:
            return (
                "AVRO-R003",
                f"no branch of the reader's union {reader} accepts {writer}",
                f"keep {writer} as a branch of the reader's union",
                f"write only what {reader} accepts, or {_otherwise(path, writer)}",
            )
        case Mismatch.NAMES:
            return (
                "AVRO-R004",
                f"the reader's {reader} is not the writer's {writer}: the names differ",
                "keep the name, or give the reader's type an alias",
                "keep the name: a reader that exists already has no alias for a new one",
            )
        case Mismatch.SIZES:
            hint = f"keep the size, or {_otherwise(path)} for the new size"
            sizes = _sizes(error.writer, error.reader)
            return "AVRO-R005", f"the sizes of {writer} differ: {sizes}", hint, hint


def _otherwise(path: str, kind: str = "") -> str:
    """A schema that is no record has no room for another field."""
    if not path:
        return f"use another topic{kind and f' for {kind}'}"
    if kind == "null":
        return "add a new nullable field"
    return f"add a new field{kind and f' of type {kind}'}"


def _sizes(writer: Schema, reader: Schema) -> str:
    sizes = [str(s.size) for s in (writer, reader) if isinstance(s, Fixed)]
    return " and ".join(sizes)


class Readability(Struct, frozen=True, kw_only=True):
    """`reasons` against it, none if the reader can read.

    `crashes`: Java throws something other than "incompatible" (the broker answers 500 for a
    check against one version); `overflows`: it runs out of stack (500 in every case).
    """

    reasons: tuple[Reason, ...] = ()
    crashes: bool = False
    overflows: bool = False


def can_read(writer: Schema, reader: Schema, *, may_repeat: bool = False) -> Readability:
    """The pair as Pulsar 4.0.7's SchemaValidator (Avro 1.11.4) judges it.

    The broker builds the resolving grammar of the pair and refuses it if an error can be reached.
    `may_repeat` as for `apply_aliases`.
    """
    try:
        return _readability(writer, reader, may_repeat)
    except TooManyBranchesError:
        return TOO_MANY_BRANCHES
    except RecursionError:  # a chain of thousands of records overflows Java's stack, too
        return _TOO_DEEP


@lru_cache(maxsize=256)
def _readability(writer: Schema, reader: Schema, may_repeat: bool) -> Readability:  # noqa: FBT001
    # Only a record that contains itself directly makes a cycle in what is walked over; without
    # one, what both sides share need not be walked over.
    facts = facts_of(reader)
    back = facts.refers_back or facts_of(writer).refers_back
    whole = back and (recurses_directly(writer) or recurses_directly(reader))
    try:
        written = writer
        if facts.has_aliases:
            written = apply_aliases(writer, reader, may_repeat=may_repeat)
        action = Resolver(whole=whole).resolve(written, reader)
    except AvroParseError as error:
        crashes = error.java is not JavaError.SCHEMA_PARSE
        return Readability(reasons=(_bad_alias(error, writer, reader),), crashes=crashes)
    except UnusableDefaultError as error:
        reason = _bad_default(error, writer, reader)
        return Readability(reasons=(reason,), crashes=not error.overflow, overflows=error.overflow)
    if isinstance(action, Adjust) and not action.fields and not whole:
        return _READABLE
    walk = _Walk(Pointers(written), Pointers(reader), whole=whole)
    walk.over(action, _TOP)
    if whole and has_cycle(walk.edges):
        return Readability(reasons=(_recursion(writer, reader), *walk.reasons), overflows=True)
    return Readability(reasons=tuple(walk.reasons)) if walk.reasons else _READABLE


_READABLE: Final = Readability()
_TOO_DEEP: Final = Readability(
    reasons=(
        Reason(
            rule="AVRO-R006",
            message="the records refer to each other too deeply: Java runs out of stack",
            path="",
            writer_pointer="",
            reader_pointer="",
            hint="split the schema: no topic needs thousands of types one inside the other",
        ),
    ),
    overflows=True,
)


TOO_MANY_BRANCHES: Final = Readability(
    reasons=(
        Reason(
            rule="AVRO-R003",
            message="the unions have too many records of other names to compare each with each",
            path="",
            writer_pointer="",
            reader_pointer="",
            hint="keep the full names of the records: branches are then found by them",
        ),
    ),
    overflows=True,
)
"""Not decided: a broker would take minutes for it, and its callers do not wait as long."""


class _Place(NamedTuple):
    """The nearest field of each side, with its record; None at the top."""

    path: str
    writer: tuple[Record, Field] | None = None
    reader: tuple[Record, Field] | None = None


_TOP: Final = _Place("")


class _Walk:
    """Over everything that can be reached, once."""

    def __init__(
        self, writer: Pointers, reader: Pointers, *, whole: bool, explained: set[int] | None = None
    ) -> None:
        self.reasons: list[Reason] = []
        self.edges: dict[Hashable, list[Hashable]] = {}
        self._writer, self._reader, self._whole = writer, reader, whole
        self._explained = set() if explained is None else explained

    def over(self, action: Action, place: _Place) -> None:
        match action:
            case Error():
                writer = self._writer.field(*place.writer) if place.writer else ""
                reader = self._reader.field(*place.reader) if place.reader else ""
                self.reasons += explain(action, place.path, writer, reader, self._reader)
                self._beside(action.adjust, place)
            case Adjust() if id(action) not in self.edges:
                self._adjust(action, place)
            case Items():
                inner = _Place(place.path + action.step, place.writer, place.reader)
                self.over(action.action, inner)
            case ReaderUnion():
                self.over(action.action, place)
            case Branches():
                for branch in action.actions:
                    self.over(branch, place)
            case Skip(writer=schema) | Walk(schema=schema) if self._whole:
                collect_edges(schema, self.edges)
            case _:
                pass

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
    places = Pointers(reader)
    return Reason(
        rule="AVRO-R007",
        message=f"the default of reader field '{error.field.name}' cannot be used: {error}",
        path=places.path(error.record, error.field),
        writer_pointer="",
        reader_pointer=f"{places.field(error.record, error.field)}/default",
        hint="give it a default of the same type",
    )


def _recursion(writer: Schema, reader: Schema) -> Reason:
    loop = first_loop(reader)
    instead = f"; in a new topic, {null_hint(loop[1], loop[0])}" if loop else ""
    return Reason(
        rule="AVRO-R006",
        message="a record contains itself directly, which Avro for Java cannot resolve",
        path="",
        writer_pointer=_loop_of(writer),
        reader_pointer=_loop_of(reader),
        hint=f"this schema can never evolve{instead}",
    )


def _loop_of(schema: Schema) -> str:
    loop = first_loop(schema)
    return Pointers(schema).field(*loop) if loop else ""


def check(
    parser: AvroParser,
    existing: Sequence[LabelledSchema],
    candidate: LabelledSchema,
    strategy: Strategy,
) -> Outcome:
    """Pulsar 4.0.7's AvroSchemaBasedCompatibilityCheck, with every incompatibility.

    It checks AVRO, JSON as Avro, and halves of KEY_VALUE. Java stops at the first pair that fails,
    which alone decides how the check ends.
    """
    parsed: dict[str, Schema] = {}
    for version in (*existing, candidate):
        try:
            parsed[version.label] = parser.parse_data(version.schema.data)
        except AvroParseError as error:
            return unparseable(version.label, error)
    if strategy is Strategy.ALWAYS_COMPATIBLE:
        return COMPATIBLE
    if strategy is Strategy.ALWAYS_INCOMPATIBLE:
        return incompatible("the strategy ALWAYS_INCOMPATIBLE allows no other schema")

    first_failure: Readability | None = None
    incompatibilities: list[Incompatibility] = []
    checked_pairs = list(pairs(strategy, existing, candidate))
    # A reader that exists already has no alias for what is new.
    aliases_help = all(writer.label != candidate.label for _, writer in checked_pairs)
    for reader, writer in checked_pairs:
        result = can_read(parsed[writer.label], parsed[reader.label], may_repeat=parser.may_repeat)
        if result is _READABLE:
            continue
        first_failure = first_failure or result
        is_new = writer.label == candidate.label
        incompatibilities += [
            _named(
                reason,
                reader.label,
                writer.label,
                writers=is_new or (reason.rule == "AVRO-R004" and not aliases_help),
            )
            for reason in result.reasons
        ]
    if first_failure is None:
        return COMPATIBLE
    first = incompatibilities[0]
    reason = f"{first.reader} cannot read messages of {first.writer}: {first.message}"
    return Outcome(
        end=_end(first_failure), reason=reason, incompatibilities=tuple(incompatibilities)
    )


def unparseable(label: str, error: AvroParseError) -> Outcome:
    """A definition that is no Avro schema, found by a checker."""
    end = End.INCOMPATIBLE if error.java is JavaError.SCHEMA_PARSE else End.CRASHED
    return Outcome(end=end, reason=f"{label} is not a valid Avro schema: {error}")


def _end(result: Readability) -> End:
    if result.overflows:
        return End.OVERFLOWED
    return End.CRASHED if result.crashes else End.INCOMPATIBLE


def _named(reason: Reason, reader: str, writer: str, *, writers: bool) -> Incompatibility:
    """`writers`: the hint is for who changes the writer."""
    return Incompatibility(
        rule=reason.rule,
        message=reason.message,
        path=reason.path,
        reader=reader,
        writer=writer,
        reader_pointer=reason.reader_pointer,
        writer_pointer=reason.writer_pointer,
        hint=(writers and reason.writer_hint) or reason.hint,
    )
