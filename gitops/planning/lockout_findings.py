"""Findings about clients that a plan locks out, by cause, and the waivers that approve it."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from gitops.broker.connection import ConnectionPolicies
from gitops.broker.registration import CANDIDATE
from gitops.model.findings import Finding, Severity, group
from gitops.model.names import NamespaceName
from gitops.model.rules import apply_severities, make_finding
from gitops.model.waivers import Waiver, WaiverProposal
from gitops.planning.fingerprints import history_fingerprint
from gitops.planning.lockouts import Lockout, TopicLockouts
from gitops.planning.policies import policy_text
from gitops.planning.refusals import version_list
from gitops.planning.waivers import DIGITS, has_expired, propose_waiver, waive_findings

LATEST: Final = "PLAN-R020"
OLDER: Final = "PLAN-R021"
UNREGISTERED: Final = "PLAN-R022"
_LISTED: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class LockoutReport:
    """The findings of all topics, and a waiver for each namespace where one could approve them."""

    findings: tuple[Finding, ...] = ()
    proposals: tuple[WaiverProposal, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cause:
    """Kinds of clients of one role that one change locks out of one topic."""

    topic: TopicLockouts
    rule: str
    role: str
    is_policy: bool
    lockouts: tuple[Lockout, ...]

    @property
    def change(self) -> str:
        """What locks them out."""
        change = self.topic.change
        if self.is_policy:
            return policy_change_text(change.before, change.after)
        version = change.schema.version if change.schema else 0
        return f"{change.after.strategy.value} once v{version} is registered"


def lockout_report(
    topics: Sequence[TopicLockouts],
    waivers: Iterable[Waiver],
    rules: Mapping[str, Severity],
    today: datetime.date,
) -> LockoutReport:
    """One finding for each cause; what a valid waiver of the namespace approves is a note."""
    findings: list[Finding] = []
    proposals: list[WaiverProposal] = []
    by_namespace: dict[NamespaceName, list[TopicLockouts]] = {}
    waivers_by_namespace: dict[NamespaceName, list[Waiver]] = {}
    for waiver in waivers:
        if isinstance(waiver.subject, NamespaceName):
            waivers_by_namespace.setdefault(waiver.subject, []).append(waiver)
    for topic in topics:
        by_namespace.setdefault(topic.change.topic.namespace, []).append(topic)
    for namespace in sorted({*by_namespace, *waivers_by_namespace}):
        lockouts = by_namespace.get(namespace, [])
        found = list(apply_severities(_namespace_findings(namespace, lockouts), rules))
        of_namespace = waivers_by_namespace.get(namespace, [])
        errors = any(finding.severity is Severity.ERROR for finding in found)
        wanted = lockout_fingerprint(namespace, lockouts) if errors else ""
        holding = [
            waiver
            for waiver in of_namespace
            if waiver.fingerprint == wanted and not has_expired(waiver, today)
        ]
        if holding:
            found = list(waive_findings(found, holding[0]))
        elif errors:
            proposals.append(propose_waiver(namespace, wanted, today, of_namespace))
        findings += found
        findings += apply_severities(_waiver_findings(of_namespace, wanted, today), rules)
    return LockoutReport(findings=tuple(findings), proposals=tuple(proposals))


def lockout_fingerprint(namespace: NamespaceName, topics: Sequence[TopicLockouts]) -> str:
    """32 hex digits of everybody whom a plan locks out of a namespace, and of why.

    What counts, of each topic with a lockout: its name and versions, the policies in force before
    and after, what is registered, and which roles with which versions are locked out.
    """
    content: list[object] = [str(namespace)]
    for topic in sorted(topics, key=lambda topic: topic.change.topic):
        if not topic.by_policy and not topic.by_schema:
            continue
        change = topic.change
        content.append(
            [
                str(change.topic),
                history_fingerprint(change.history),
                _policies(change.before),
                _policies(change.after),
                change.schema.version if change.schema else None,
                [[one.kind.role, one.kind.version] for one in (*topic.by_policy, *topic.by_schema)],
            ]
        )
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def _policies(policies: ConnectionPolicies) -> list[object]:
    return [policies.strategy.value, policies.allows_auto_update, policies.enforces_validation]


def policy_change_text(before: ConnectionPolicies, after: ConnectionPolicies) -> str:
    """`schemaCompatibilityStrategy BACKWARD → FULL_TRANSITIVE`, of all that differ."""
    changes = (
        ("schemaCompatibilityStrategy", before.strategy, after.strategy),
        ("isAllowAutoUpdateSchema", before.allows_auto_update, after.allows_auto_update),
        ("schemaValidationEnforced", before.enforces_validation, after.enforces_validation),
    )
    return ", ".join(
        f"{key} {policy_text(old)} → {policy_text(new)}" for key, old, new in changes if old != new
    )


def _namespace_findings(
    namespace: NamespaceName, topics: Sequence[TopicLockouts]
) -> Iterator[Finding]:
    causes = [cause for topic in topics for cause in _causes(topic)]
    causes.sort(key=_cause_key)
    for (rule, role, change), same in groupby(causes, key=_cause_key):
        members = [_member(cause) for cause in same]
        subject = f"{len(members)} topics of {namespace}"
        what = f"{_PLURAL[rule].format(role)} can no longer connect to {subject}: {change}"
        yield group(what, members)
    yield from _registration_findings(namespace, topics)


def policy_lockout_findings(
    namespace: NamespaceName, topics: Sequence[TopicLockouts]
) -> tuple[Finding, ...]:
    """One finding for each cause, as the table of rules rates it and without waivers."""
    return tuple(_namespace_findings(namespace, topics))


def _cause_key(cause: _Cause) -> tuple[str, str, str]:
    return cause.rule, cause.role, cause.change


_PLURAL: Final = {
    LATEST: "{}s with the latest version",
    OLDER: "some {}s that can connect now",
}


def _causes(topic: TopicLockouts) -> Iterator[_Cause]:
    """A new version of which a waiver says that it may pass locks out with approval."""
    for is_policy, lockouts in ((True, topic.by_policy), (False, topic.by_schema)):
        for role in ("consumer", "producer"):
            of_role = [one for one in lockouts if one.kind.role == role]
            latest = tuple(one for one in of_role if _is_latest(topic, one, is_policy=is_policy))
            older = tuple(one for one in of_role if one not in latest)
            for rule, some in ((LATEST, latest), (OLDER, older)):
                if some:
                    yield _Cause(
                        topic=topic, rule=rule, role=role, is_policy=is_policy, lockouts=some
                    )


def _is_latest(topic: TopicLockouts, lockout: Lockout, *, is_policy: bool) -> bool:
    """Whether no client of the topic could have a newer schema."""
    schema, latest = topic.change.schema, topic.change.history.latest
    if not is_policy and schema:
        return lockout.kind.version == schema.version
    return latest is not None and lockout.kind.version == latest.version


def _member(cause: _Cause) -> Finding:
    """The finding about one topic."""
    change, lockouts = cause.topic.change, cause.lockouts
    finding = make_finding(
        cause.rule,
        f"{_clients_text(cause)} can no longer connect: {cause.change}: {_reason(lockouts[0])}",
        subject=str(change.topic),
        location=None if cause.is_policy else change.location,
        hint=_policy_hint(cause) if cause.is_policy else _schema_hint(cause),
    )
    if cause.is_policy:
        finding = finding.from_origin(str(change.topic.namespace), "schemaCompatibilityStrategy")
    if any(one.kind.clients for one in lockouts):
        finding = replace(finding, severity=Severity.ERROR)
    elif not change.history.entries:
        # Nobody is known to have connected to a topic without a schema so far.
        finding = replace(finding, severity=min(finding.severity, Severity.WARNING))
    if not cause.is_policy and change.schema and change.schema.waiver:
        (finding,) = (replace(finding, severity=min(finding.severity, Severity.WARNING)),)
    return finding


def _reason(lockout: Lockout) -> str:
    """The broker's reason, which calls the schema of the client `candidate`."""
    version = lockout.kind.version
    name = "the client's schema" if version is None else f"v{version}"
    return lockout.reason.replace(CANDIDATE, name)


def _clients_text(cause: _Cause) -> str:
    """`consumers with v1, v0, without a schema (billing)`."""
    versions = [one.kind.version for one in cause.lockouts if one.kind.version is not None]
    kinds = [f"with {version_list(sorted(versions, reverse=True))}"] if versions else []
    if any(one.kind.offer == "NONE" for one in cause.lockouts):
        kinds.append("without a schema")
    if any(one.kind.version is None and one.kind.offer != "NONE" for one in cause.lockouts):
        kinds.append("with a schema of their own")
    latest = ", the latest version," if cause.rule == LATEST else ""
    names = _declared_clients(cause)
    declared = f" ({', '.join(names)})" if names else ""
    return f"{cause.role}s {' and '.join(kinds)}{latest}{declared}"


def _declared_clients(cause: _Cause) -> list[str]:
    return sorted({name for one in cause.lockouts for name in one.kind.clients})


def _policy_hint(cause: _Cause) -> str:
    if cause.rule == LATEST:
        return (
            "keep the former policy, or move to a new topic; a waiver approves it: "
            "`--waivers waivers/` writes one"
        )
    return "first make sure that no such client is left, or keep the former policy"


def _schema_hint(cause: _Cause) -> str:
    if cause.rule == LATEST:
        return "use a strategy that lets consumers in, or move to a new topic"
    if names := _declared_clients(cause):
        return (
            f"deploy {', '.join(names)} with code that reads the old and the new schema, and "
            "declare the new schema in the client manifest (`schema: {definition: …}`); then apply"
        )
    return "upgrade them before this is applied: see `pulsar-gitops rollout`"


def _registration_findings(
    namespace: NamespaceName, topics: Sequence[TopicLockouts]
) -> Iterator[Finding]:
    """Clients may no longer register schemas: who would have is not known."""
    closed = [
        topic.change
        for topic in topics
        if topic.change.before.allows_auto_update and not topic.change.after.allows_auto_update
    ]
    if not closed:
        return
    empty = [str(change.topic) for change in closed if not change.history.entries]
    names = ", ".join(empty[:_LISTED]) + (", …" if len(empty) > _LISTED else "")
    without = f"; no client with a schema can connect to {names} until one is" if empty else ""
    yield make_finding(
        UNREGISTERED,
        "clients can no longer register schemas (isAllowAutoUpdateSchema true → false): those "
        f"whose schema is not a registered version can no longer connect{without}",
        subject=str(namespace),
        hint="which schemas running clients have is not known here: register them first",
    ).from_origin(str(namespace), "isAllowAutoUpdateSchema")


def _waiver_findings(
    waivers: Iterable[Waiver], wanted: str, today: datetime.date
) -> Iterator[Finding]:
    for waiver in waivers:
        if has_expired(waiver, today) or waiver.fingerprint == wanted:
            continue
        if wanted:
            yield make_finding(
                "WAIVER-R004",
                f"it is for {waiver.fingerprint}, and the lockout is {wanted}: the policies, the "
                "versions in the registry or the topics changed",
                location=waiver.location,
                subject=str(waiver.subject),
                hint="review the lockout again, and have it approved with its own fingerprint",
            )
        else:
            yield make_finding(
                "WAIVER-R003",
                "no client of the namespace is locked out",
                location=waiver.location,
                subject=str(waiver.subject),
                hint="remove the file",
            )
