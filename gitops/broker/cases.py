"""Questions about one schema by the rules of a broker: a producer's, a consumer's, a lookup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gitops.broker.consumer_compatibility import check_consumer, subscribe
from gitops.broker.lines.line import BrokerLine
from gitops.broker.registration import compatible, find_registered, find_version, register
from gitops.model.decision import Decision, StoredHistory, StoredSchema
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.schema import SchemaInfo
from gitops.schemas.payload import PayloadError, to_stored, to_stored_type


class CaseError(ValueError):
    """A case cannot be asked about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question: would this schema pass? `mode` is whose rule is asked.

    `idle` counts for a consumer that subscribes: the topic has no clients and no data.
    """

    existing: StoredHistory
    candidate: SchemaInfo
    strategy: SchemaCompatibilityStrategy
    line: BrokerLine
    mode: str = "producer"
    idle: bool = True


def decide(case: Case) -> Decision:
    """The broker's answer; raises CaseError for an unknown mode."""
    args = (case.existing, case.candidate, case.strategy, case.line)
    match case.mode:
        case "producer":
            return register(*args)
        case "consumer":
            return check_consumer(*args)
        case "subscribe":
            return subscribe(*args, idle=case.idle)
        case "compat":
            return compatible(*args)
        case "version" | "lookup":
            return _looked_up(case)
        case _:
            raise CaseError(f"unknown mode '{case.mode}'")


def history_of(schemas: Sequence[SchemaInfo | StoredSchema | None]) -> StoredHistory:
    """A history of these, oldest first; None stands for a deletion. Raises CaseError."""
    entries: list[tuple[int, StoredSchema]] = []
    for version, schema in enumerate(schemas):
        if schema is None:
            entries.clear()
            continue
        try:
            stored = to_stored(schema) if isinstance(schema, SchemaInfo) else schema
        except PayloadError as error:
            raise CaseError(f"existing {version}: {error}") from None
        entries.append((version, to_stored_type(stored)))
    return StoredHistory(entries=tuple(entries), next_version=len(schemas))


def _looked_up(case: Case) -> Decision:
    try:
        if case.mode == "lookup":
            return find_registered(
                case.existing, case.line.types.to_stored(case.candidate), case.line
            )
        version = find_version(case.existing, case.candidate, case.line)
    except PayloadError as error:
        return Decision(accepted=False, status=500, reason=str(error))
    return Decision(accepted=True, version=-1 if version is None else version)
