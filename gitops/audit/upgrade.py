"""What stops, and what becomes possible, on another broker line: findings for one topic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gitops.audit.cause import AUTO_UPDATE, LEGACY_JSON, RELEASE, STRATEGY, Cause
from gitops.audit.operations import differences, refused
from gitops.audit.topic import AuditedTopic, unreadable_reason, versions_text
from gitops.broker.lines.line import BrokerLine
from gitops.broker.lines.table import with_legacy_json
from gitops.broker.registration import unknown_type
from gitops.model.audit import Asked, Difference, Operation
from gitops.model.decision import StoredSchema
from gitops.model.rules import make_finding
from gitops.schemas.external.row import UNKNOWN
from gitops.schemas.row import InvalidSchemaDataError

INVALID: Final = "AUDIT-U001"
NOT_AVRO: Final = "AUDIT-U002"
OTHERWISE: Final = "AUDIT-U003"
ACCEPTED: Final = "AUDIT-U004"
DOWNGRADE: Final = "AUDIT-U005"

_ANSWERS: Final = (RELEASE, STRATEGY, AUTO_UPDATE, LEGACY_JSON)
"""The settings on which it rests what a broker answers."""
_AGAIN: Final = "the latest definition again"
"""What to register where only older versions are to blame."""

_WHO: Final = {
    Operation.PRODUCE: "producers",
    Operation.CONSUME: "consumers",
    Operation.REGISTER: "uploads",
    Operation.TEST: "compatibility tests",
    Operation.READ: "reading",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fault:
    """Versions that only the target line does not take for valid, for one reason."""

    rule: str
    reason: str
    versions: tuple[int, ...]
    remedy: str


def upgrade_deadline(
    topic: AuditedTopic,
    target: BrokerLine,
    other_broker_lines: Sequence[BrokerLine],
    items: Sequence[Difference],
) -> str:
    """By when to mend what brokers of the target line refuse.

    `others` are further lines in the cluster: one that refuses some of it does so today.
    """
    lost = {difference.asked for difference in items if difference.is_loss}
    for line in other_broker_lines:
        if any(
            difference.is_loss and difference.asked in lost
            for difference in differences(topic, line)
        ):
            return f"at once, since the cluster has brokers of {line.name}"
    return f"before the first broker of {target.name}"


def upgrade_causes(
    topic: AuditedTopic, target: BrokerLine, deadline: str, items: Sequence[Difference]
) -> Iterator[Cause]:
    """One for each fault that stops something, one for other refusals, one for what is free."""
    lost = [difference for difference in items if difference.is_loss]
    gained = [difference for difference in items if not difference.is_loss]
    if lost:
        yield from _losses(topic, target, deadline, lost)
    if gained:
        yield _gain(topic, target, gained)


def _losses(
    topic: AuditedTopic, target: BrokerLine, deadline: str, lost: Sequence[Difference]
) -> Iterator[Cause]:
    """What a faulty version does not stop itself is stopped by the oldest faulty one."""
    faults = _faults(topic, target)
    if not faults:
        yield _other_refusal(topic, target, lost)
    latest = topic.latest_version
    # A tombstone leaves the entry, on which the older store fails as before (Pulsar 4.0.7).
    how = " with --force (a tombstone is not enough)" if unknown_type(topic.history, target) else ""
    again = next((item.remedy for item in faults if latest in item.versions), _AGAIN)
    elsewhere = {version for fault in faults[1:] for version in fault.versions}
    for number, fault in enumerate(faults):
        own = [
            difference
            for difference in lost
            if difference.version in fault.versions
            or (not number and difference.version not in elsewhere)
        ]
        if own:
            delete = f"delete the topic's schema{how} when the backlog is consumed"
            mend = f"{delete}, then register {again}"
            if not _concerns_latest(own, latest):
                mend = f"have every client of {versions_text(fault.versions)} use v{latest}"
            when = f"on {topic.line.name}, {deadline}: "
            yield _of_fault(topic, target, fault, own, when + mend)


def _concerns_latest(lost: Sequence[Difference], latest: int) -> bool:
    """Whether more than connections and uploads with older schemas is lost."""
    asked = (difference.asked for difference in lost)
    return any(
        operation is Operation.READ or version in (latest, None) for operation, version in asked
    )


def _of_fault(
    topic: AuditedTopic, target: BrokerLine, fault: _Fault, lost: Sequence[Difference], mend: str
) -> Cause:
    stops = _effects(topic, lost, target)
    return Cause(
        message=f"{fault.reason}; {stops}",
        finding=make_finding(
            fault.rule,
            f"{versions_text(fault.versions)}: {fault.reason}; {stops}",
            subject=str(topic.name),
            hint=_switch(topic, target, lost) + mend,
        ),
        rests_on=topic.rests_on(*_ANSWERS),
    )


def _switch(topic: AuditedTopic, target: BrokerLine, lost: Sequence[Difference]) -> str:
    """What the switch for JSON in Jackson's form gives back, and what it does not; or empty."""
    with_switch = with_legacy_json(target)
    if with_switch is target:
        return ""
    left = refused(topic, with_switch)
    asked = [difference.asked for difference in lost]
    if not (kept := [operation for operation in asked if operation not in left]):
        return ""
    latest = topic.latest_version
    keeps = "schemaJsonAllowLegacyJacksonFormat=true on every broker keeps"
    text = f"{keeps} {_operations(kept, latest)}"
    still = [
        operation
        for operation in sorted(left, key=str)
        if operation in asked or _is_registration(operation, latest)
    ]
    return f"{text}; {_operations(still, latest)} need: " if still else f"{text}; without it: "


def _is_registration(asked: Asked, latest: int) -> bool:
    """Whether a producer or an upload asks for what is in use, whoever refuses it today."""
    operation, version = asked
    return operation in (Operation.PRODUCE, Operation.REGISTER) and version in (latest, None)


def _other_refusal(topic: AuditedTopic, target: BrokerLine, lost: Sequence[Difference]) -> Cause:
    message = f"{lost[0].after.reason}; {_effects(topic, lost, target)}"
    return Cause(
        message=message,
        finding=make_finding(
            OTHERWISE,
            message,
            subject=str(topic.name),
            hint=f"register a definition that {topic.line.name} and {target.name} both accept",
        ),
        rests_on=topic.rests_on(*_ANSWERS),
    )


def _gain(topic: AuditedTopic, target: BrokerLine, gained: Sequence[Difference]) -> Cause:
    old, new = topic.line.name, target.name
    what = _operations([difference.asked for difference in gained], topic.latest_version)
    message = f"{new} accepts what {old} refuses: {what}"
    return Cause(
        message=message,
        finding=make_finding(
            ACCEPTED,
            f"{message}; today: {gained[0].before.reason}",
            subject=str(topic.name),
            hint=f"brokers of {old} still refuse it, also if they come back",
        ),
        rests_on=topic.rests_on(*_ANSWERS),
    )


# Versions that the target line does not take for valid.


def _faults(topic: AuditedTopic, target: BrokerLine) -> list[_Fault]:
    """By rule and reason, in the order of the oldest version of each."""
    grouped: dict[tuple[str, str, str], list[int]] = {}
    for version, schema in topic.history.entries:
        if reason := _fault_reason(schema, topic.line, target):
            rule, remedy = _kind(schema, topic.line, target)
            grouped.setdefault((rule, reason, remedy), []).append(version)
    return [
        _Fault(rule=rule, reason=reason, remedy=remedy, versions=tuple(versions))
        for (rule, reason, remedy), versions in grouped.items()
    ]


def _fault_reason(schema: StoredSchema, present: BrokerLine, target: BrokerLine) -> str:
    """Why the target line does not take it for valid; empty where it does, or neither does."""
    for problem in (unreadable_reason, _invalid):
        if (reason := problem(schema, target)) and not problem(schema, present):
            return reason
    return ""


def _invalid(schema: StoredSchema, line: BrokerLine) -> str:
    try:
        line.types.validate(schema)
    except InvalidSchemaDataError as error:
        return str(error)
    except RecursionError:
        return "nested too deep to be read"
    return ""


def _kind(schema: StoredSchema, present: BrokerLine, target: BrokerLine) -> tuple[str, str]:
    """The rule, and what to register instead."""
    if target.types.row_of(schema.type) is UNKNOWN:
        return INVALID, f"a schema of a type that {target.name} supports"
    if _needs_switch(schema, present, target):
        return NOT_AVRO, "the definition in Avro's form"
    if schema.data.lstrip()[:1] == b"[":
        return INVALID, "a record that contains the union"
    return INVALID, "the corrected definition"


def _needs_switch(schema: StoredSchema, present: BrokerLine, target: BrokerLine) -> bool:
    """Whether it is JSON in Jackson's form, which is no Avro on the present line either."""
    if unreadable_reason(schema, target) and not unreadable_reason(schema, present):
        return False
    return bool(_invalid(schema, target)) and not _invalid(schema, with_legacy_json(target))


# In words: who is affected.


def _effects(topic: AuditedTopic, lost: Sequence[Difference], target: BrokerLine) -> str:
    text = _operations([difference.asked for difference in lost], topic.latest_version)
    return f"{target.name} refuses {text}"


def _operations(items: Iterable[Asked], latest: int) -> str:
    """`producers and uploads with the same or a new schema, consumers with a new schema`.

    The same one is the latest; where that is not refused it is an older one.
    """
    asked: dict[Operation, set[int | None]] = {}
    for operation, version in items:
        asked.setdefault(operation, set()).add(version)
    alike: dict[str, list[str]] = {}
    for operation, who in _WHO.items():
        if operation in asked:
            alike.setdefault(_which(operation, asked[operation], latest), []).append(who)
    return ", ".join(f"{_and(who)}{which}" for which, who in alike.items())


def _which(operation: Operation, versions: set[int | None], latest: int) -> str:
    if operation is Operation.READ:
        return ""
    known = "the same" if latest in versions else "an older"
    if None not in versions:
        return f" with {known} schema"
    return " with a new schema" if versions == {None} else f" with {known} or a new schema"


def _and(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]
