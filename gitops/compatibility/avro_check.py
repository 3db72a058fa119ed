"""The checker for Avro definitions: AVRO, JSON as Avro, and halves of KEY_VALUE."""

from __future__ import annotations

from collections.abc import Sequence

from gitops.compatibility.avro.errors import AvroParseError, JavaError
from gitops.compatibility.avro.mismatches import Reason
from gitops.compatibility.avro.parser import parse_data
from gitops.compatibility.avro.readability import Readability, can_read
from gitops.compatibility.avro.schema import Schema
from gitops.compatibility.decision import Incompatibility
from gitops.compatibility.outcome import COMPATIBLE, End, Labelled, Outcome, incompatible
from gitops.compatibility.strategies import pairs
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy


def check(existing: Sequence[Labelled], candidate: Labelled, strategy: Strategy) -> Outcome:
    """Pulsar 4.0.7's AvroSchemaBasedCompatibilityCheck, with every incompatibility.

    Java stops at the first pair that fails, which alone tells how the check ends.
    """
    parsed: dict[str, Schema] = {}
    for one in (*existing, candidate):
        try:
            parsed[one.label] = parse_data(one.schema.data)
        except AvroParseError as error:
            return unparseable(one.label, error)
    if strategy is Strategy.ALWAYS_COMPATIBLE:
        return COMPATIBLE
    if strategy is Strategy.ALWAYS_INCOMPATIBLE:
        return incompatible("the strategy ALWAYS_INCOMPATIBLE allows no other schema")
    return _pairwise(existing, candidate, strategy, parsed)


def unparseable(label: str, error: AvroParseError) -> Outcome:
    """A definition that is no Avro schema, found by a checker."""
    end = End.INCOMPATIBLE if error.java is JavaError.SCHEMA_PARSE else End.CRASHED
    return Outcome(end=end, reason=f"{label} is not a valid Avro schema: {error}")


def _pairwise(
    existing: Sequence[Labelled],
    candidate: Labelled,
    strategy: Strategy,
    parsed: dict[str, Schema],
) -> Outcome:
    end = End.COMPATIBLE
    found: list[Incompatibility] = []
    asked = list(pairs(strategy, existing, candidate))
    # A reader that exists already has no alias for what is new.
    aliases_help = all(writer.label != candidate.label for _, writer in asked)
    for reader, writer in asked:
        result = can_read(parsed[writer.label], parsed[reader.label])
        is_new = writer.label == candidate.label
        found += [
            _named(
                reason,
                reader.label,
                writer.label,
                writers=is_new or (reason.rule == "AVRO-R004" and not aliases_help),
            )
            for reason in result.reasons
        ]
        if end is End.COMPATIBLE:
            end = _end(result)
    if end is End.COMPATIBLE:
        return COMPATIBLE
    first = found[0]
    reason = f"{first.reader} cannot read what {first.writer} writes: {first.message}"
    return Outcome(end=end, reason=reason, incompatibilities=tuple(found))


def _end(result: Readability) -> End:
    if result.overflows:
        return End.OVERFLOWED
    if result.crashes:
        return End.CRASHED
    return End.INCOMPATIBLE if result.reasons else End.COMPATIBLE


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
