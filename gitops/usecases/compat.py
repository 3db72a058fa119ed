"""One decision, explained; and a stream of decisions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gitops.compatibility.avro.errors import AvroParseError
from gitops.compatibility.consumers import check_consumer, subscribe
from gitops.compatibility.decision import Decision, StoredHistory
from gitops.compatibility.lookup import find_registered, find_version
from gitops.compatibility.payload import PayloadError, as_kept, to_stored
from gitops.compatibility.registration import compatible, register
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.schema import SchemaInfo, SchemaType


class CaseError(ValueError):
    """A case of a stream is not in the form of a case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question: would this schema pass? `mode` is whose rule is asked."""

    existing: StoredHistory
    candidate: SchemaInfo
    strategy: SchemaCompatibilityStrategy
    mode: str = "producer"
    idle: bool = False


def decide(case: Case) -> Decision:
    """The broker's answer; raises CaseError for an unknown mode."""
    args = (case.existing, case.candidate, case.strategy)
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


def history_of(infos: Sequence[SchemaInfo | None]) -> StoredHistory:
    """A history of these, oldest first; None stands for a deletion. Raises CaseError."""
    entries: list[tuple[int, Any]] = []
    for version, info in enumerate(infos):
        if info is None:
            entries.clear()
            continue
        try:
            entries.append((version, as_kept(to_stored(info))))
        except PayloadError as error:
            raise CaseError(f"existing {version}: {error}") from None
    return StoredHistory(entries=tuple(entries), next_version=len(infos))


def decide_lines(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """A verdict as a line of JSON for each case, in order, and whether the case could be read."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _decide_line(number, line)


def _decide_line(number: int, line: str) -> tuple[str, bool]:
    name: object = None
    try:
        content = json.loads(line)
        name = content.get("id") if isinstance(content, dict) else None
        decision = decide(_case(content))
    except (CaseError, ValueError, RecursionError) as error:
        why = str(error) or "nested too deep"
        return _verdict(name, Decision(accepted=False, reason=f"line {number}: {why}")), False
    return _verdict(name, decision), True


def _verdict(name: object, decision: Decision) -> str:
    verdict = {
        "id": name,
        "accepted": decision.accepted,
        "version": decision.version,
        "reason": decision.reason,
    }
    return json.dumps(verdict)


def _case(content: object) -> Case:
    if not isinstance(content, dict):
        raise CaseError("a case is an object")
    existing = content.get("existing", [])
    if not isinstance(existing, list):
        raise CaseError("'existing' is a list of schemas")
    return Case(
        existing=history_of([_existing(one) for one in existing]),
        candidate=_info(content.get("candidate")),
        strategy=_strategy(content.get("strategy", "UNDEFINED")),
        mode=str(content.get("mode", "producer")),
        idle=content.get("idle") is True,
    )


def _existing(value: object) -> SchemaInfo | None:
    deleted = isinstance(value, dict) and value.get("deleted") is True
    return None if deleted else _info(value)


def _info(value: object) -> SchemaInfo:
    if not isinstance(value, dict):
        raise CaseError("a schema is an object of type, schema and properties")
    schema, properties = value.get("schema", ""), value.get("properties") or {}
    if not isinstance(schema, str) or not isinstance(properties, Mapping):
        raise CaseError("'schema' is text and 'properties' an object")
    texts = {str(name): str(content) for name, content in properties.items()}
    return SchemaInfo(type=_type(value.get("type")), schema=schema, properties=texts)


def _type(value: object) -> SchemaType:
    try:
        return SchemaType(value)
    except ValueError:
        raise CaseError(f"unknown schema type {value!r}") from None


def _strategy(value: object) -> SchemaCompatibilityStrategy:
    try:
        return SchemaCompatibilityStrategy(value)
    except ValueError:
        raise CaseError(f"unknown strategy {value!r}") from None


def _looked_up(case: Case) -> Decision:
    find = find_version if case.mode == "version" else find_registered
    try:
        version = find(case.existing, case.candidate)
    except (PayloadError, AvroParseError) as error:
        return Decision(accepted=False, status=500, reason=str(error))
    if case.mode == "version":
        return Decision(accepted=True, version=-1 if version is None else version)
    if version is None:
        return Decision(accepted=False, status=409, reason="the topic has no such schema")
    return Decision(accepted=True, version=version, known=True)
