"""What is wrong with a registry today, whatever is planned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from gitops.audit.cause import LEGACY_JSON, RELEASE, STRATEGY, Cause
from gitops.audit.topic import (
    AuditedTopic,
    mismatch_text,
    refused_versions,
    unreadable_reason,
    versions_text,
)
from gitops.broker.connection import ConnectionTarget
from gitops.broker.consumer_connection import admit_consumer
from gitops.broker.registration import CANDIDATE
from gitops.model.decision import StoredSchema
from gitops.model.findings import Finding, Severity, group
from gitops.model.names import TopicName
from gitops.model.policy import BrokerSettings
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.rules import make_finding
from gitops.schemas.key_value.parser import HALVES, split
from gitops.schemas.review import changes_of_all
from gitops.schemas.row import Remark, UndecodableError
from gitops.schemas.strategies import TRANSITIVE
from gitops.schemas.types import AVRO_DEFINED

BROKEN_PROMISE: Final = "AUDIT-H001"
POISONED: Final = "AUDIT-H002"
UNCHECKED: Final = "AUDIT-H003"
UNREADABLE: Final = "AUDIT-H004"
OPEN_PRODUCERS: Final = "AUDIT-H005"
NO_SCHEMA: Final = "AUDIT-H006"
POLICY_PAIR: Final = "AUDIT-H007"
UNREAD: Final = "AUDIT-H008"
RETAINED: Final = "AUDIT-H009"
INACTIVE: Final = "AUDIT-H010"
REPLICATED: Final = "AUDIT-H011"
COMPACTED: Final = "AUDIT-H012"
REFUSED_CONSUMERS: Final = "AUDIT-H013"

_NO_PROMISE: Final = (Strategy.ALWAYS_COMPATIBLE, Strategy.ALWAYS_INCOMPATIBLE)


def health_causes(topic: AuditedTopic) -> Iterator[Cause]:
    """All that is wrong with the versions of one topic."""
    yield from _poison(topic)
    yield from _refused_consumers(topic)
    if topic.policies.strategy not in _NO_PROMISE:
        yield from _broken_promise(topic)
    if topic.policies.strategy is Strategy.ALWAYS_COMPATIBLE:
        yield from _unreadable(topic)
    else:
        yield from _unchecked(topic)


def _refused_consumers(topic: AuditedTopic) -> Iterator[Cause]:
    """Nobody can consume with the latest version, as on a topic in use (Pulsar 4.0.7)."""
    target = ConnectionTarget(
        history=topic.history, policies=topic.policies, line=topic.line, use="active"
    )
    admission = admit_consumer(target, topic.latest)
    if admission.accepted:
        return
    strategy, by = topic.policies.strategy.value, topic.policies.strategy_by
    message = f"consumers with the latest version are refused: {strategy} ({by}) is in force"
    reason = admission.decision.reason.replace(CANDIDATE, f"v{topic.latest_version}")
    yield Cause(
        message=message,
        finding=make_finding(
            REFUSED_CONSUMERS,
            f"v{topic.latest_version}: {message}: {reason}",
            subject=str(topic.name),
            hint="set a strategy that its history satisfies, or move to a new topic; see "
            f"`pulsar-gitops explain {strategy}`",
        ),
        rests_on=topic.rests_on(RELEASE, STRATEGY, LEGACY_JSON),
    )


def _poison(topic: AuditedTopic) -> Iterator[Cause]:
    """A version on which nothing new can be registered any more, whatever it is.

    On AVRO, JSON and PROTOBUF the registry's equality fails before anything is compared. A pair is
    equal by its bytes, and what is compared are its halves: those of the versions that the strategy
    asks (4.0.7, 5.0.0-M1).
    """
    if topic.latest.type in AVRO_DEFINED:
        asked = iter([(version, "", item) for version, item in topic.history.entries])
        rests_on: tuple[str, ...] = (RELEASE,)
    elif topic.policies.strategy not in _NO_PROMISE:
        asked, rests_on = _halves(topic), topic.rests_on(RELEASE, STRATEGY)
    else:
        return
    for version, half, schema in asked:
        if reason := unreadable_reason(schema, topic.line):
            message = f"no new schema can be registered: {half}{reason}"
            yield Cause(
                message=message,
                finding=make_finding(
                    POISONED,
                    f"v{version}: {message}",
                    subject=str(topic.name),
                    hint="when the backlog is consumed, delete the topic's schema and register a "
                    "valid definition",
                ),
                rests_on=rests_on,
            )
            return


def _halves(topic: AuditedTopic) -> Iterator[tuple[int, str, StoredSchema]]:
    """Version, `key: ` or `value: `, and half, of the pairs that a new one is compared with.

    Other types have no properties that give a half its type, and so none that is read.
    """
    every = topic.policies.strategy in TRANSITIVE
    for version, schema in topic.history.entries if every else topic.history.entries[-1:]:
        with suppress(UndecodableError):
            for name, half in zip(HALVES, split(schema), strict=True):
                if half.type in AVRO_DEFINED:
                    yield version, f"{name}: ", half


def _broken_promise(topic: AuditedTopic) -> Iterator[Cause]:
    strategy = topic.policies.strategy
    if refused := refused_versions(topic, strategy):
        why = mismatch_text(refused[0][1])
        versions = versions_text(tuple(version for version, _ in refused))
        message = (
            f"{strategy.value} ({topic.policies.strategy_by}) is in force, and versions break it"
        )
        yield Cause(
            message=message,
            finding=make_finding(
                BROKEN_PROMISE,
                f"{versions}: {message}: {why}",
                subject=str(topic.name),
                hint="read the older messages with a consumer of their own version, or "
                "let them expire; a new topic for the new definition keeps both",
            ),
            rests_on=topic.rests_on(RELEASE, STRATEGY, LEGACY_JSON),
        )


def _unchecked(topic: AuditedTopic) -> Iterator[Cause]:
    """Changes of PROTOBUF_NATIVE that the check of the root's name lets pass (Pulsar 4.0.7).

    Of all older versions, whose messages may still be there; each place of a step once.
    """
    types, strategy = topic.line.types, topic.policies.strategy
    rests_on = topic.rests_on(RELEASE, STRATEGY)
    entries, texts = topic.history.entries, set[tuple[str, str]]()
    for index, (version, new) in enumerate(entries):
        stops: list[Remark] = []
        for old, remark in changes_of_all(types, entries[:index], new, strategy):
            place, is_step = (remark.rule, remark.path), old == entries[index - 1][0]
            if (remark.stops_readers or remark.stops_old_readers) and (
                is_step or place not in texts
            ):
                texts.add(place)
                stops.append(remark)
        if not stops:
            continue
        where = f"at '{stops[0].path}': " if stops[0].path else ""
        message = f"Pulsar accepted a change that readers fail on: {where}{stops[0].message}"
        finding = make_finding(
            UNCHECKED,
            f"v{version}: {message}",
            subject=str(topic.name),
            hint=stops[0].hint or "readers of older messages need the older definition",
        )
        yield Cause(message=message, finding=finding, rests_on=rests_on)


def _unreadable(topic: AuditedTopic) -> Iterator[Cause]:
    older = topic.history.entries[:-1]
    reasons = {
        version: reason
        for version, schema in older
        if (reason := topic.line.types.unreadable_reason(topic.latest, schema))
    }
    if reasons:
        message = "ALWAYS_COMPATIBLE is in force, and the latest version cannot read older ones"
        finding = make_finding(
            UNREADABLE,
            f"{versions_text(tuple(reasons))}: {message}: {next(iter(reasons.values()))}",
            subject=str(topic.name),
            hint="a strategy such as BACKWARD_TRANSITIVE refuses such changes from now on",
        )
        yield Cause(message=message, finding=finding, rests_on=(RELEASE,))


def unread_causes(reasons: Mapping[TopicName, str]) -> Iterator[Cause]:
    """Topics on whose schemas the broker fails: what it answers, and that nothing was judged."""
    for topic, reason in sorted(reasons.items()):
        message = f"the schemas cannot be read, and were not judged: {reason}"
        finding = make_finding(
            UNREAD,
            message,
            subject=str(topic),
            hint="brokers of the line that stored them can show them; else, when the backlog is "
            "consumed, delete the topic's schema and register it anew",
        )
        yield Cause(message=message, finding=finding)


def inactive_topic_findings(
    broker: BrokerSettings, short_lived: Sequence[TopicName] = ()
) -> Iterator[Finding]:
    """Brokers that delete topics which nobody uses: their schemas go with them (Pulsar 4.0.7).

    `short_lived` are topics of which that can happen now.
    """
    if short_lived:
        reason = "once nobody is connected: no partitions and no subscription keep"
        verb = "delete" if broker.deletes_inactive_topics else "may delete"
        members = [
            make_finding(
                INACTIVE,
                f"the brokers {verb} it with its schemas {reason} it",
                subject=str(topic),
                hint="create the subscriptions of clients that come later, or keep inactive "
                f"topics: pulsar-admin namespaces set-inactive-topic-policies {topic.namespace}",
            )
            for topic in short_lived
        ]
        what = f"the brokers {verb} {len(members)} topics with their schemas {reason} them"
        finding = group(what, members)
        yield replace(finding, severity=Severity.WARNING)
    elif broker.deletes_inactive_topics:
        yield make_finding(
            INACTIVE,
            "the brokers delete topics without producers, consumers and subscriptions, and their "
            "schemas with them",
            subject="brokerDeleteInactiveTopicsEnabled",
            hint="create the subscriptions of clients that come later, or turn it off for a "
            "namespace: pulsar-admin namespaces set-inactive-topic-policies",
        )
