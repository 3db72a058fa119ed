"""What another strategy would have refused, and how strict a topic's history already is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from gitops.audit.cause import LEGACY_JSON, RELEASE, STRATEGY, Cause
from gitops.audit.topic import (
    AuditedTopic,
    mismatch_text,
    refused_versions,
    unregistered_versions,
    versions_text,
)
from gitops.broker.connection import ConnectionTarget
from gitops.broker.consumer_compatibility import check_sent
from gitops.broker.lockouts import ROLES, ClientKind, Lockout, find_lockouts
from gitops.broker.registration import CANDIDATE
from gitops.model.findings import Severity
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.rules import make_finding

REFUSED: Final = "AUDIT-S001"
STRICTER: Final = "AUDIT-S002"
LOCKED_OUT: Final = "AUDIT-S003"

STRICTEST_FIRST: Final = (
    Strategy.FULL_TRANSITIVE,
    Strategy.FULL,
    Strategy.BACKWARD_TRANSITIVE,
    Strategy.FORWARD_TRANSITIVE,
    Strategy.BACKWARD,
    Strategy.FORWARD,
)
ALL_STRICT: Final = frozenset(STRICTEST_FIRST)
_STRICTER: Final = {
    Strategy.ALWAYS_COMPATIBLE: ALL_STRICT,
    Strategy.BACKWARD: frozenset(
        {Strategy.FULL_TRANSITIVE, Strategy.FULL, Strategy.BACKWARD_TRANSITIVE}
    ),
    Strategy.FORWARD: frozenset(
        {Strategy.FULL_TRANSITIVE, Strategy.FULL, Strategy.FORWARD_TRANSITIVE}
    ),
    Strategy.FULL: frozenset({Strategy.FULL_TRANSITIVE}),
    Strategy.BACKWARD_TRANSITIVE: frozenset({Strategy.FULL_TRANSITIVE}),
    Strategy.FORWARD_TRANSITIVE: frozenset({Strategy.FULL_TRANSITIVE}),
}
"""The strategies that refuse all that one refuses, and more."""


def refusal_causes(topic: AuditedTopic, strategy: Strategy) -> Iterator[Cause]:
    """The versions that a strategy would have refused, each after those before it as they are."""
    if refused := unregistered_versions(topic, strategy):
        versions = versions_text(tuple(version for version, _ in refused))
        message = f"{strategy.value} would have refused what was registered"
        yield Cause(
            message=message,
            finding=make_finding(
                REFUSED,
                f"{versions}: {message}: {mismatch_text(refused[0][1])}",
                subject=str(topic.name),
                hint=f"set {strategy.value} only where such changes must be refused",
            ),
            rests_on=topic.rests_on(RELEASE, LEGACY_JSON),
        )


def lockout_causes(topic: AuditedTopic, strategy: Strategy) -> Iterator[Cause]:
    """Clients that can connect now and could not under a strategy, as on a topic in use.

    Clients with the latest version are an error, those with an older one a warning: whether such
    clients run is not known.
    """
    now = ConnectionTarget(
        history=topic.history, policies=topic.policies, line=topic.line, use="active"
    )
    then = replace(now, policies=replace(topic.policies, strategy=strategy))
    kinds = [
        ClientKind(role=role, offer=schema, version=version)
        for version, schema in reversed(topic.history.entries)
        for role in ROLES
    ]
    lockouts = find_lockouts(now, then, kinds)
    alike: dict[tuple[str, bool], list[Lockout]] = {}
    for lockout in lockouts:
        is_latest = lockout.kind.version == topic.latest_version
        alike.setdefault((lockout.kind.role, is_latest), []).append(lockout)
    for (role, is_latest), same in alike.items():
        who = f"{role}s with {'the latest' if is_latest else 'an older'} version"
        message = f"{who} could no longer connect under {strategy.value}"
        versions = tuple(
            lockout.kind.version for lockout in same if lockout.kind.version is not None
        )
        reason = same[0].reason.replace(CANDIDATE, f"v{same[0].kind.version}")
        before = "" if is_latest else f"set {strategy.value} once no such client is left, or "
        finding = make_finding(
            LOCKED_OUT,
            f"{versions_text(versions)}: {message}: {reason}",
            subject=str(topic.name),
            hint=f"{before}keep the topic's strategy, or move to a new topic",
        )
        if not is_latest:
            finding = replace(finding, severity=Severity.WARNING)
        rests_on = topic.rests_on(RELEASE, STRATEGY, LEGACY_JSON)
        yield Cause(message=message, finding=finding, rests_on=rests_on)


def stricter_strategies(topic: AuditedTopic, now: Strategy) -> frozenset[Strategy]:
    """Stricter strategies than `now` under which nothing known of the topic is refused.

    Each registration of the past is replayed, and each consumer with a live version, also by a
    checker that broker.conf leaves out: it may be there again tomorrow.
    """
    wanted = _STRICTER.get(now, frozenset())
    if Strategy.FULL_TRANSITIVE in wanted and _fits(topic, now, Strategy.FULL_TRANSITIVE):
        # Each pair of versions reads each other, so that every question has been answered.
        return wanted
    return frozenset(
        strategy for strategy in wanted - {Strategy.FULL_TRANSITIVE} if _fits(topic, now, strategy)
    )


def _fits(topic: AuditedTopic, now: Strategy, strategy: Strategy) -> bool:
    if unregistered_versions(topic, strategy):
        return False
    if topic.line.rules.unchecked and refused_versions(topic, strategy):
        return False
    return all(
        check_sent(topic.history, schema, strategy, topic.line).accepted
        or not check_sent(topic.history, schema, now, topic.line).accepted
        for _, schema in topic.history.entries
    )


def stricter_cause(
    subject: str, now: Strategy, by: str, fitting: frozenset[Strategy], *, whole: bool
) -> Cause | None:
    """The strictest of those that fit, None where none does; of a whole namespace, or a topic.

    `by` is who sets the strategy that is in force `now`.
    """
    strictest = next((item for item in STRICTEST_FIRST if item in fitting), None)
    if strictest is None:
        return None
    what = "all topics satisfy" if whole else "the topic's history satisfies"
    message = f"{what} {strictest.value}"
    hint = f"set schemaCompatibilityStrategy to {strictest.value}: nothing registered is refused"
    return Cause(
        message=message,
        finding=make_finding(
            STRICTER, f"{now.value} is in force: {message}", subject=subject, hint=hint
        ),
        rests_on=(RELEASE, STRATEGY) if by == "broker" else (RELEASE,),
    )
