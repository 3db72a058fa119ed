"""A case of a decision, as the conformance files write it, decided here."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitops.broker.consumer_compatibility import check_consumer, subscribe
from gitops.broker.lines.line import BrokerLine
from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.broker.registration import compatible, find_registered, find_version, register
from gitops.model.decision import Decision, StoredHistory, StoredSchema
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.schemas.payload import PayloadError, to_stored_type

Case = Mapping[str, Any]

_WITH_STATUS: Final = frozenset({"producer", "compat", "version"})
"""Modes that admin REST has an answer for, so that their status counts."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a case comes to; `http` None where the mode has none."""

    accepted: bool
    version: int | None
    http: int | None


def broker_answer(case: Case, verdict: Mapping[str, Any]) -> Answer:
    """The broker's, from the object that the conformance files and the oracle give."""
    http = verdict["http"] if _mode(case) in _WITH_STATUS else None
    return Answer(verdict["accepted"], verdict["version"], http)


def our_answer(case: Case, line: BrokerLine = PULSAR_4_0) -> Answer:
    """Ours, to the same case, for a broker of that line."""
    history = _history(line, case)
    return _ANSWERS[_mode(case)](line, case, history, _info(case["candidate"]))


def _mode(case: Case) -> str:
    return str(case.get("mode", "producer"))


def _info(schema: Mapping[str, Any]) -> SchemaInfo:
    return SchemaInfo(
        type=SchemaType(schema["type"]),
        schema=schema["schema"],
        properties=schema.get("properties") or {},
    )


def _stored(line: BrokerLine, entry: Mapping[str, Any]) -> StoredSchema:
    if entry.get("encoding") != "b64":
        return to_stored_type(line.types.to_stored(_info(entry)))
    data = base64.b64decode(entry["schema"])
    properties = entry.get("properties") or {}
    kind = SchemaType(entry["type"])
    return to_stored_type(StoredSchema(type=kind, data=data, properties=properties))


def _history(line: BrokerLine, case: Case) -> StoredHistory:
    entries: list[tuple[int, StoredSchema]] = []
    for version, entry in enumerate(case["existing"]):
        if entry.get("deleted"):
            entries.clear()
        else:
            entries.append((version, _stored(line, entry)))
    return StoredHistory(entries=tuple(entries), next_version=len(case["existing"]))


def _strategy(case: Case) -> SchemaCompatibilityStrategy:
    return SchemaCompatibilityStrategy(case["strategy"])


def _producer(line: BrokerLine, case: Case, old: StoredHistory, new: SchemaInfo) -> Answer:
    decision = register(old, new, _strategy(case), line)
    return Answer(decision.accepted, decision.version, decision.status)


def _compat(line: BrokerLine, case: Case, old: StoredHistory, new: SchemaInfo) -> Answer:
    decision = compatible(old, new, _strategy(case), line)
    return Answer(decision.accepted, None, 202 if decision.accepted else decision.status)


def _consumer(line: BrokerLine, case: Case, old: StoredHistory, new: SchemaInfo) -> Answer:
    return _without_status(check_consumer(old, new, _strategy(case), line))


def _subscribe(line: BrokerLine, case: Case, old: StoredHistory, new: SchemaInfo) -> Answer:
    idle = case.get("idle", True)
    return _without_status(subscribe(old, new, _strategy(case), line, idle=idle))


def _without_status(decision: Decision) -> Answer:
    return Answer(decision.accepted, decision.version, None)


def _version(line: BrokerLine, _case: Case, old: StoredHistory, new: SchemaInfo) -> Answer:
    try:
        version = find_version(old, new, line)
    except PayloadError:
        return Answer(accepted=False, version=None, http=500)
    return Answer(accepted=True, version=-1 if version is None else version, http=200)


def _lookup(line: BrokerLine, _case: Case, old: StoredHistory, new: SchemaInfo) -> Answer:
    try:
        return _without_status(find_registered(old, line.types.to_stored(new), line))
    except PayloadError:
        return Answer(accepted=False, version=None, http=None)


_ANSWERS: Final[Mapping[str, Callable[[BrokerLine, Case, StoredHistory, SchemaInfo], Answer]]] = {
    "producer": _producer,
    "compat": _compat,
    "consumer": _consumer,
    "subscribe": _subscribe,
    "version": _version,
    "lookup": _lookup,
}
