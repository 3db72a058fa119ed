"""Each type's checker, and how the broker picks what it compares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from gitops.model.decision import StoredSchema
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaType
from gitops.schemas.avro import compatibility as avro_compatibility
from gitops.schemas.json import compatibility as json_compatibility
from gitops.schemas.key_value import parser
from gitops.schemas.protobuf_native.errors import EndlessImportsError, InvalidEnvelopeError
from gitops.schemas.protobuf_native.root_message import root_message
from gitops.schemas.strategies import COMPATIBLE, End, Labelled, Outcome, incompatible

_HALVES: Final = ("key", "value")
_PARSED: Final = frozenset({SchemaType.AVRO, SchemaType.JSON})
_NULL: Final = Outcome(end=End.CRASHED, reason="an existing version has null in its place")


def check_latest(latest: Labelled, candidate: Labelled, strategy: Strategy) -> Outcome:
    """Against the latest version: type, then bytes, then the type's checker (Pulsar 4.0.7)."""
    if strategy is Strategy.ALWAYS_COMPATIBLE:
        return COMPATIBLE
    if other := _other_type([latest], candidate):
        return other
    if latest.schema.data == candidate.schema.data:
        return COMPATIBLE
    if candidate.schema.type is SchemaType.JSON:
        return json_compatibility.check(latest, candidate, strategy)
    return check_list([latest], candidate, strategy)


def check_all(existing: Sequence[Labelled], candidate: Labelled, strategy: Strategy) -> Outcome:
    """Against the whole live history; Java's exceptions count as incompatible (Pulsar 4.0.7)."""
    outcome = _other_type(existing, candidate) or check_list(existing, candidate, strategy)
    if outcome.end is not End.CRASHED:
        return outcome
    return replace(outcome, end=End.INCOMPATIBLE)


def _other_type(existing: Sequence[Labelled], candidate: Labelled) -> Outcome | None:
    for one in existing:
        if one.schema.type is not candidate.schema.type:
            old, new = one.schema.type.value, candidate.schema.type.value
            return incompatible(f"{one.label} is {old} and the candidate {new}")
    return None


def check_list(existing: Sequence[Labelled], candidate: Labelled, strategy: Strategy) -> Outcome:
    """The type's checker, for schemas of one type."""
    match candidate.schema.type:
        case SchemaType.AVRO | SchemaType.JSON:
            return avro_compatibility.check(existing, candidate, strategy)
        case SchemaType.KEY_VALUE:
            return _check_key_value(existing, candidate, strategy)
        case SchemaType.PROTOBUF_NATIVE:
            return _check_protobuf_native(existing, candidate, strategy)
        case _:
            return _check_default(strategy)


def _check_default(strategy: Strategy) -> Outcome:
    """Primitives, NONE, and PROTOBUF, whose checker a broker does not load by default."""
    if strategy is Strategy.ALWAYS_INCOMPATIBLE:
        return incompatible("the strategy ALWAYS_INCOMPATIBLE allows no other schema")
    return COMPATIBLE


def _check_protobuf_native(
    existing: Sequence[Labelled], candidate: Labelled, strategy: Strategy
) -> Outcome:
    """Name by name, oldest first; both sides are read even where every change is refused."""
    try:
        for one in existing:
            old, new = root_message(one.schema.data), root_message(candidate.schema.data)
            outcome = _check_default(strategy)
            if outcome.end is not End.COMPATIBLE:
                return outcome
            if old != new and strategy is not Strategy.ALWAYS_COMPATIBLE:
                return incompatible(f"the root message of {one.label} is {old}, not {new}")
    except EndlessImportsError as error:
        return Outcome(end=End.OVERFLOWED, reason=str(error))
    except InvalidEnvelopeError as error:
        return Outcome(end=End.CRASHED, reason=str(error))
    return COMPATIBLE


def _check_key_value(
    existing: Sequence[Labelled], candidate: Labelled, strategy: Strategy
) -> Outcome:
    if strategy is Strategy.ALWAYS_COMPATIBLE:
        return COMPATIBLE
    try:
        new = parser.split(candidate.schema)
        old = [parser.split(one.schema) for one in existing]
    except parser.UndecodableError as error:
        return Outcome(end=End.CRASHED, reason=str(error))
    # The list is turned round on its way to the checker of a half, so that the oldest comes first.
    labelled = list(zip(existing, old, strict=True))[::-1]
    pairs = [([Labelled(one.label, o[i]) for one, o in labelled], new[i]) for i in range(2)]
    nulls = [[half is None for half in parser.unpack(one.schema.data)] for one in existing]
    crashes = [any(null[i] for null in nulls) and new[i].type in _PARSED for i in range(2)]
    return _check_halves(pairs, candidate.label, strategy, crashes)


def _check_halves(
    pairs: Sequence[tuple[list[Labelled], StoredSchema]],
    label: str,
    strategy: Strategy,
    crashes: Sequence[bool],
) -> Outcome:
    """Key, then value; the types of both come before the definition of either.

    A half `crashes` that is to be parsed and is null, which only a client's own bytes can say.
    """
    for name, (halves, schema) in zip(_HALVES, pairs, strict=True):
        if other := _other_type(halves, Labelled(label, schema)):
            return _of_half(other, name)
    outcomes = [
        _of_half(_NULL if null else check_list(halves, Labelled(label, schema), strategy), name)
        for name, (halves, schema), null in zip(_HALVES, pairs, crashes, strict=True)
    ]
    failed = [one for one in outcomes if one.end is not End.COMPATIBLE]
    if not failed:
        return COMPATIBLE
    # The broker stops at the first, which alone tells how the check ends.
    every = tuple(chain.from_iterable(one.incompatibilities for one in failed))
    return replace(failed[0], incompatibilities=every)


def _of_half(outcome: Outcome, half: str) -> Outcome:
    """What is wrong with a half, said of the pair: paths and pointers begin with its name."""
    said = tuple(
        replace(
            one,
            path=f"{half}.{one.path}" if one.path else half,
            reader_pointer=f"/{half}{one.reader_pointer}",
            writer_pointer=f"/{half}{one.writer_pointer}",
        )
        for one in outcome.incompatibilities
    )
    return replace(outcome, reason=f"{half}: {outcome.reason}", incompatibilities=said)
