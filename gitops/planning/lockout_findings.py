"""Findings about clients that a plan locks out, by cause, and the waivers that approve it."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from gitops.broker.connection import ConnectionPolicies, Role
from gitops.broker.lockouts import ClientKind, Lockout
from gitops.broker.registration import CANDIDATE
from gitops.model.clients import Client, ObservedClients
from gitops.model.decision import StoredSchema
from gitops.model.findings import Finding, Location, Severity, group
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import Plan, RegisterSchema
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.rollout_reason import name_list
from gitops.model.rules import apply_severities, make_finding
from gitops.model.waivers import Waiver, WaiverProposal
from gitops.planning.client_readers import client_names
from gitops.planning.fingerprints import history_fingerprint
from gitops.planning.lockouts import (
    TopicChange,
    TopicLockouts,
    deciding_policies,
    undeclared_names,
)
from gitops.planning.policies import policy_text
from gitops.planning.refusals import version_list
from gitops.planning.waivers import (
    DIGITS,
    has_expired,
    is_waived,
    propose_waiver,
    waive_findings,
)
from gitops.schemas.event_kinds import have_common_reader
from gitops.schemas.payload import PayloadError, to_stored, to_stored_type

LATEST: Final = "PLAN-R020"
OLDER: Final = "PLAN-R021"
LOCKOUTS: Final = (LATEST, OLDER)
STILL_USED: Final = "CLIENT-R005"
UNREGISTERED: Final = "PLAN-R022"
_LISTED: Final = 5
_LEGACY: Final = ("schemaCompatibilityStrategy", "schemaAutoUpdateCompatibilityStrategy")
"""A policy, and the older one that holds where it is not set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockoutReport:
    """The findings of all topics, and a waiver for each namespace where one could approve them."""

    findings: tuple[Finding, ...] = ()
    proposals: tuple[WaiverProposal, ...] = ()


Source = Literal["broker", "policy", "schema", "deletion"]
"""What locks clients out: a broker line, a policy, the next version, or that no version is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cause:
    """Kinds of clients of one role that one change locks out of one topic.

    Either all of them are declared or none is. `policies` are the keys of those that decide.
    """

    topic: TopicLockouts
    rule: str
    role: Role
    source: Source
    lockouts: tuple[Lockout, ...]
    policies: tuple[str, ...] = ()

    @property
    def is_without_version(self) -> bool:
        """Whether they are clients of a topic that has no version yet."""
        return self.source == "policy" and not self.topic.change.history.entries

    @property
    def is_example(self) -> bool:
        """Whether they are all consumers with a schema, or with another one than the first."""
        return any(lockout.kind.is_example for lockout in self.lockouts)

    @property
    def client_names(self) -> list[str]:
        """The declared clients."""
        return sorted({name for lockout in self.lockouts for name in lockout.kind.clients})

    @property
    def waiver(self) -> Waiver | None:
        """The waiver of the topic's schema that names these declared clients."""
        waiver, names = self.topic.change.waiver, self.client_names
        if waiver is None or self.source != "schema" or not names:
            return None
        return waiver if waiver.locked_out.issuperset(names) else None

    @property
    def change(self) -> str:
        """What locks them out."""
        change = self.topic.change
        if self.source == "policy":
            return policy_change_text(change.before, change.after, self.policies)
        if self.source == "broker" and change.upgrade:
            old, new = change.upgrade
            return f"broker {old.name} → {new.name}"
        if self.source == "deletion":
            return f"the schema is deleted, under {change.after.strategy.value}"
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
        topic_waivers = {str(topic.change.topic): topic.change.waiver for topic in lockouts}
        items = [
            waived
            for finding in apply_severities(_namespace_findings(namespace, lockouts), rules)
            for waived in _waived_by_topic(finding, topic_waivers)
        ]
        of_namespace = waivers_by_namespace.get(namespace, [])
        errors = any(finding.severity is Severity.ERROR for finding in items)
        wanted = lockout_fingerprint(namespace, lockouts) if errors else ""
        holding = [
            waiver
            for waiver in of_namespace
            if waiver.fingerprint == wanted and not has_expired(waiver, today)
        ]
        if holding:
            items = list(waive_findings(items, holding[0]))
        elif errors:
            effects = [
                _effect_text(finding) for finding in items if finding.severity is Severity.ERROR
            ]
            proposals.append(propose_waiver(namespace, wanted, today, of_namespace, effects))
        findings += items
        findings += apply_severities(_waiver_findings(of_namespace, wanted, today), rules)
    return LockoutReport(findings=tuple(findings), proposals=tuple(proposals))


def _waived_by_topic(finding: Finding, waivers: Mapping[str, Waiver | None]) -> tuple[Finding, ...]:
    """A note where the waiver of a topic's schema names the clients that are locked out."""
    waiver = waivers.get(finding.subject)
    if waiver is None or not _is_by_schema(finding) or not finding.members[0].clients:
        return (finding,)
    is_named = waiver.locked_out.issuperset(finding.members[0].clients)
    return waive_findings([finding], waiver) if is_named else (finding,)


def approved_lockouts(plan: Plan) -> tuple[Finding, ...]:
    """Clients that can no longer connect, as waivers of the plan's policies and schemas approve."""
    waived_topics = {
        str(action.topic)
        for action in plan.actions
        if isinstance(action, RegisterSchema) and action.waiver
    }
    return tuple(
        finding
        for finding in plan.findings
        if finding.rule in LOCKOUTS
        and (is_waived(finding) or waived_topics.issuperset(finding.subjects))
    )


def _effect_text(finding: Finding) -> str:
    """Who can no longer connect to which topics, as a sentence of a waiver's file."""
    topics = name_list([subject for subject in finding.subjects if subject], _LISTED)
    return f"{finding.message[:1].upper()}{finding.message[1:]} ({topics})."


def lockouts_of_new_clients(plan: Plan, before: Plan) -> Iterator[Finding]:
    """Errors about declared clients that `plan` locks out, and of which `before` has nothing.

    Both are plans of the same files, with more clients and with fewer.
    """
    known = {
        (member.subject, client)
        for finding in before.findings
        if finding.rule in LOCKOUTS
        for member in finding.members
        for client in member.clients
    }
    for finding in plan.findings:
        if finding.rule not in LOCKOUTS or finding.severity < Severity.ERROR:
            continue
        for member in finding.members:
            new = tuple(name for name in member.clients if (member.subject, name) not in known)
            if new:
                yield replace(member, clients=new)


def deletion_findings(
    topics: Collection[TopicName], clients: Sequence[Client], observed: ObservedClients | None
) -> Iterator[Finding]:
    """Clients that use topics whose schemas are deleted: one finding for each client.

    Their messages lose the schema, and where auto-update is off nobody with a schema can connect.
    """
    for client in clients:
        places = {use.topic: use.location for use in client.produces if use.topic in topics}
        places |= {use.topic: use.location for use in client.consumes if use.topic in topics}
        findings = [
            make_finding(
                STILL_USED,
                f"{client.name} still uses {topic}, whose schema is deleted",
                location=place,
                subject=client.name,
                hint="change the client first, and delete the schema after that",
            ).from_origin(str(topic))
            for topic, place in sorted(places.items())
        ]
        if findings:
            names = name_list([str(topic) for topic in sorted(places)], _LISTED)
            yield group(
                f"{client.name} still uses {len(places):,} topics whose schemas are deleted: "
                f"{names}",
                findings,
            )
    seen_topics = observed.topics if observed else {}
    for topic in sorted(seen_topics.keys() & topics):
        users = list(client_names(seen_topics[topic].undeclared(topic, clients)))
        if users:
            yield make_finding(
                STILL_USED,
                f"observed clients still use {topic}, whose schema is deleted: "
                f"{name_list(users, _LISTED)}",
                subject=str(topic),
                hint="end these clients first, and delete the schema after that; a subscription "
                "that nobody needs can be deleted",
            )


def lockout_fingerprint(namespace: NamespaceName, topics: Sequence[TopicLockouts]) -> str:
    """32 hex digits of everybody whom a plan locks out of a namespace, and of why.

    It covers, for each topic with a lockout: its name and versions, the policies in force before
    and after, the new version, and the role, version or schema, and declared clients of each kind
    that is locked out.
    """
    content: list[object] = [str(namespace)]
    for topic in sorted(topics, key=lambda topic: topic.change.topic):
        lockouts = (*topic.by_broker, *topic.by_policy, *topic.by_schema)
        if not lockouts:
            continue
        change = topic.change
        content.append(
            [
                str(change.topic),
                history_fingerprint(change.history),
                _policies(change.before),
                _policies(change.after),
                change.schema.version if change.schema else None,
                [_client_kind(lockout.kind) for lockout in lockouts],
                *([line.name for line in change.upgrade or ()] if topic.by_broker else []),
            ]
        )
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def _client_kind(kind: ClientKind) -> list[object]:
    """Includes declared clients: an approval does not cover clients that are declared later."""
    document: list[object] = [kind.role, kind.version, *sorted(kind.clients)]
    if kind.version is None and isinstance(kind.offer, StoredSchema):
        document += [kind.offer.type.value, kind.offer.data.hex()]
    return document


def _policies(policies: ConnectionPolicies) -> list[object]:
    return [policies.strategy.value, policies.allows_auto_update, policies.enforces_validation]


def policy_change_text(
    before: ConnectionPolicies, after: ConnectionPolicies, keys: Collection[str]
) -> str:
    """`schemaCompatibilityStrategy BACKWARD → FULL_TRANSITIVE`, of all these that differ."""
    changes = (
        ("schemaCompatibilityStrategy", before.strategy, after.strategy),
        ("isAllowAutoUpdateSchema", before.allows_auto_update, after.allows_auto_update),
        ("schemaValidationEnforced", before.enforces_validation, after.enforces_validation),
    )
    return ", ".join(
        f"{key} {policy_text(old)} → {policy_text(new)}"
        for key, old, new in changes
        if old != new and key in keys
    )


def _namespace_findings(
    namespace: NamespaceName, topics: Sequence[TopicLockouts]
) -> Iterator[Finding]:
    members: dict[tuple[str, int, str, str, bool, str, str], list[Finding]] = {}
    for topic in topics:
        for cause in _causes(topic):
            member = _member(cause)
            who, change = _PLURAL[cause.rule], cause.change
            if cause.is_example:
                who, change = _clients_text(cause), f"{change}: {_reason(cause)}"
            key = (
                cause.rule,
                -member.severity,
                who.format(cause.role),
                change,
                bool(member.clients),
                " that have no schema" if cause.is_without_version else "",
                cause.waiver.file if cause.waiver else "",
            )
            members.setdefault(key, []).append(member)
    for (_, _, who, change, _, which, _), same in sorted(members.items(), key=lambda item: item[0]):
        names = sorted({client for member in same for client in member.clients})
        declared = f" ({name_list(names, _LISTED)})" if names else ""
        what = f"{who}{declared} can no longer connect to {_topic_count(len(same))} of {namespace}"
        yield group(f"{what}{which}: {change}", same)
    yield from _registration_findings(namespace, topics)


def _topic_count(number: int) -> str:
    return f"{number:,} topics"


def without_named_clients(
    findings: Iterable[Finding], named: Collection[tuple[str, str]]
) -> tuple[Finding, ...]:
    """Remove lockouts by a new version whose declared clients other findings name.

    `named` are pairs of topic and client. Lockouts that a waiver approves stay.
    """
    kept: list[Finding] = []
    for finding in findings:
        members = [
            member
            for member in finding.members
            if not _is_by_schema(member)
            or not member.clients
            or any((member.subject, client) not in named for client in member.clients)
        ]
        if len(members) == len(finding.members):
            kept.append(finding)
        elif members:
            before, now = _topic_count(len(finding.members)), _topic_count(len(members))
            kept.append(group(finding.message.replace(before, now, 1), members))
    return tuple(kept)


def _is_by_schema(finding: Finding) -> bool:
    """Whether it names clients that a new version locks out, without the approval of a waiver."""
    is_lockout = finding.rule in LOCKOUTS
    return is_lockout and finding.origin is None and not is_waived(finding)


def clients_named_by_plan(findings: Iterable[Finding]) -> frozenset[tuple[str, str]]:
    """Topic and name of each declared client whose lockout a plan's own findings report.

    These are lockouts by a policy or a broker line, and lockouts that a waiver approves. The others
    are findings of the rollout: see `without_named_clients`. Mere notes do not report it.
    """
    return frozenset(
        (member.subject, client)
        for finding in findings
        for member in finding.members
        if member.rule in LOCKOUTS
        and not _is_by_schema(member)
        and (member.severity > Severity.INFO or is_waived(member))
        for client in member.clients
    )


def policy_lockout_findings(
    namespace: NamespaceName, topics: Sequence[TopicLockouts]
) -> tuple[Finding, ...]:
    """One finding for each cause, as the table of rules rates it and without waivers."""
    return tuple(_namespace_findings(namespace, topics))


_PLURAL: Final = {
    LATEST: "{}s with the latest version",
    OLDER: "some {}s that can connect now",
}


def _causes(topic: TopicLockouts) -> Iterator[_Cause]:
    sources: tuple[tuple[Source, tuple[Lockout, ...]], ...] = (
        ("broker", topic.by_broker),
        ("policy", topic.by_policy),
        ("schema", topic.by_schema),
        ("deletion", topic.by_deletion),
    )
    for source, lockouts in sources:
        waiver = topic.change.waiver if source == "schema" else None
        approved = waiver.locked_out if waiver else frozenset[str]()
        alike: dict[tuple[Role, str, tuple[str, ...], bool, bool, bool], list[Lockout]] = {}
        for lockout in _split_by_name(lockouts, approved):
            kind = lockout.kind
            rule = LATEST if kind.version == _newest_version(topic.change, source) else OLDER
            is_approved = not approved.isdisjoint(kind.clients)
            policies = deciding_policies(topic.change, lockout) if source == "policy" else ()
            key = (kind.role, rule, policies, bool(kind.clients), is_approved, kind.is_example)
            alike.setdefault(key, []).append(lockout)
        for (role, rule, policies, *_), same in alike.items():
            yield _Cause(
                topic=topic,
                rule=rule,
                role=role,
                source=source,
                lockouts=tuple(same),
                policies=policies,
            )


def _split_by_name(lockouts: Iterable[Lockout], names: Collection[str]) -> Iterator[Lockout]:
    """Kinds of clients of which `names` has all declared clients, or none."""
    for lockout in lockouts:
        kind = lockout.kind
        named = tuple(client for client in kind.clients if client in names)
        unnamed = tuple(client for client in kind.clients if client not in names)
        if not kind.clients:
            yield lockout
        for clients in (named, unnamed):
            if clients:
                yield replace(lockout, kind=replace(kind, clients=clients))


def _newest_version(change: TopicChange, source: Source) -> int:
    """The version than which no client of the topic could have a newer one; -1 without any."""
    if source == "schema" and change.schema:
        return change.schema.version
    latest = change.history.latest
    return latest.version if latest else -1


def _member(cause: _Cause) -> Finding:
    """The finding about one topic."""
    change = cause.topic.change
    namespace = str(change.topic.namespace)
    message = f"{_clients_text(cause)} can no longer connect: {cause.change}: {_reason(cause)}"
    if observed := _observed_text(cause):
        message = f"{message}; {observed}"
    finding = make_finding(
        cause.rule,
        message,
        subject=str(change.topic),
        location=change.location,
        hint=_schema_hint(cause),
    )
    if cause.source == "policy":
        location, hint = _policy_location(change, cause.policies), _policy_hint(cause)
        finding = replace(finding, location=location, hint=hint)
        finding = finding.from_origin(namespace, "schemaCompatibilityStrategy")
    elif cause.source == "broker" and change.upgrade:
        locate = change.locate_policy
        location = locate(None, "broker") if locate else None
        hint = (
            "upgrade the brokers once no such client is left; "
            f"`pulsar-gitops audit --as-if-broker {change.upgrade[1].name}` shows what to fix "
            "before that"
        )
        finding = replace(finding, location=location, hint=hint).from_origin(namespace, "broker")
    elif cause.source == "deletion":
        # Most topics that are deleted have no clients left; CLIENT-R005 names those that are known.
        finding = replace(
            finding,
            severity=min(finding.severity, Severity.WARNING),
            hint="first make sure that no such client is left",
        ).from_origin(namespace, "schema")
    if names := tuple(cause.client_names):
        finding = replace(finding, severity=Severity.ERROR, clients=names)
    elif _are_observed_without_schema(cause):
        finding = replace(finding, severity=Severity.ERROR)
    elif not change.history.entries:
        # Nobody is known to have connected to a topic without a schema so far.
        finding = replace(finding, severity=min(finding.severity, Severity.WARNING))
    if cause.source == "schema" and change.waiver:
        if names:
            hint = f"add {name_list(names)} to lockedOut in {change.waiver.file} to approve that"
            finding = replace(finding, hint=f"{finding.hint}; or {hint}")
        else:
            finding = replace(finding, severity=min(finding.severity, Severity.WARNING))
    return finding


def _observed_text(cause: _Cause) -> str:
    """The observed clients that nobody declares, any of which may be locked out.

    Statistics show no schema, so that such a client makes no lockout certain.
    """
    change = cause.topic.change
    if cause.client_names:
        return ""
    if change.is_unread:
        return "its statistics could not be read, so that its clients are not known"
    names = undeclared_names(cause.topic.change, cause.role)
    if not names:
        return ""
    plural = "" if len(names) == 1 else "s"
    what = "subscription" if cause.role == "consumer" else "producer"
    clients = f"{len(names):,} observed {what}{plural} ({name_list(names, _LISTED)})"
    if _are_observed_without_schema(cause):
        verb = "is" if len(names) == 1 else "are"
        return f"{clients} {verb} among them: a topic without a version has no other clients"
    unknown = (
        "whether they have a schema" if cause.is_without_version else "which versions they use"
    )
    return f"{clients} may be among them: {unknown} is not known"


def _are_observed_without_schema(cause: _Cause) -> bool:
    """Whether clients without a schema are locked out, and observed clients have none.

    A client with a schema registers it on a topic that never had one, or is refused (Pulsar 4.0.7).
    """
    history = cause.topic.change.history
    return (
        not history.entries
        and not history.next_version
        and any(lockout.kind.offer == "NONE" for lockout in cause.lockouts)
        and bool(undeclared_names(cause.topic.change, cause.role))
    )


def _policy_location(change: TopicChange, keys: Collection[str]) -> Location | None:
    """The line of the first of these policies that changes, in the file that changes it."""
    before, after = change.before, change.after
    policies = (
        ("schemaCompatibilityStrategy", before.strategy, after.strategy, after.strategy_by),
        (
            "schemaValidationEnforced",
            before.enforces_validation,
            after.enforces_validation,
            after.validation_by,
        ),
        (
            "isAllowAutoUpdateSchema",
            before.allows_auto_update,
            after.allows_auto_update,
            after.auto_update_by,
        ),
    )
    for key, old, new, level in policies:
        if old == new or key not in keys:
            continue
        for subject, changed_key in change.changed_policies:
            is_cause = changed_key == key or (key, changed_key) == _LEGACY
            if is_cause and change.locate_policy:
                return change.locate_policy(subject, changed_key) or change.location
        return _key_location(change, key, level)
    return None


def _auto_update_location(change: TopicChange) -> Location | None:
    return _key_location(change, "isAllowAutoUpdateSchema", change.after.auto_update_by)


def _key_location(change: TopicChange, key: str, level: str) -> Location | None:
    """The line of a policy; where no file sets it, the namespace's manifest, or the topic's."""
    if change.locate_policy is None:
        return None
    subject = change.topic if level == "topic" else change.topic.namespace
    return (
        change.locate_policy(None if level == "broker" else subject, key)
        or change.locate_policy(change.topic.namespace, "kind")
        or change.location
    )


def _reason(cause: _Cause) -> str:
    """The broker's reason, which calls the schema of the client `candidate`."""
    change, lockout = cause.topic.change, cause.lockouts[0]
    if cause.is_example and change.after.strategy is Strategy.ALWAYS_INCOMPATIBLE:
        return "ALWAYS_INCOMPATIBLE refuses all consumers with a schema"
    if cause.is_example and change.history.entries:
        return "only those whose schema fits the registered versions are let in"
    if cause.is_example and change.schema:
        return f"only consumers whose schema fits v{change.schema.version} are let in"
    is_unversioned = cause.is_without_version and not change.schema
    if cause.role == "consumer" and (is_unversioned or cause.source == "deletion"):
        return "a topic in use without a schema accepts them under ALWAYS_COMPATIBLE alone"
    version = lockout.kind.version
    name = "the client's schema" if version is None else f"v{version}"
    return lockout.reason.replace(f"the {CANDIDATE}", CANDIDATE).replace(CANDIDATE, name)


def _clients_text(cause: _Cause) -> str:
    """`consumers with v1, v0, without a schema (billing)`."""
    if cause.is_example:
        schema = cause.topic.change.schema
        another = f"another schema than v{schema.version}" if schema else "a schema"
        if cause.topic.change.history.entries:
            another = "a schema that is no version of the topic"
        return f"{cause.role}s with {another}"
    versions = [
        lockout.kind.version for lockout in cause.lockouts if lockout.kind.version is not None
    ]
    kinds = [f"with {version_list(sorted(versions, reverse=True))}"] if versions else []
    if any(lockout.kind.offer == "NONE" for lockout in cause.lockouts):
        kinds.append("without a schema")
    if any(
        lockout.kind.version is None and lockout.kind.offer != "NONE" for lockout in cause.lockouts
    ):
        kinds.append("with a schema of their own")
    latest = ", the latest version," if cause.rule == LATEST else ""
    names = cause.client_names
    declared = f" ({', '.join(names)})" if names else ""
    return f"{cause.role}s {' and '.join(kinds)}{latest}{declared}"


def _policy_hint(cause: _Cause) -> str:
    if cause.rule == LATEST:
        return (
            "keep the former policy, or move to a new topic; a waiver approves it: "
            "`--waivers waivers/` writes one"
        )
    names = cause.client_names
    if cause.is_without_version and cause.role == "consumer" and not cause.topic.change.schema:
        whose = f"the schema of {name_list(names, _LISTED)}" if names else "the topic's schema"
        return (
            f"first declare and register {whose}: consumers whose schema fits the latest version "
            "are let in; or keep the former policy"
        )
    if names:
        return f"first upgrade {name_list(names, _LISTED)}, or keep the former policy"
    return "first make sure that no such client is left, or keep the former policy"


def _schema_hint(cause: _Cause) -> str:
    if cause.rule == LATEST and cause.role == "producer":
        return "change the definition to one that the broker accepts again, or move to a new topic"
    if cause.rule == LATEST:
        return "use a strategy that lets consumers in, or move to a new topic"
    if not _has_common_reader(cause.topic.change):
        return (
            "no code reads the old and the new schema: change the schema in two steps, or move to "
            "a new topic: see `pulsar-gitops rollout`"
        )
    if names := cause.client_names:
        return (
            f"deploy {', '.join(names)} with code that reads the old and the new schema, and "
            "declare the new schema in the client manifest (`schema: {definition: …}`); then apply"
        )
    return "upgrade them before this is applied: see `pulsar-gitops rollout`"


def _has_common_reader(change: TopicChange) -> bool:
    latest, new = change.history.latest, change.schema
    if latest is None or new is None:
        return True
    try:
        schemas = [to_stored_type(to_stored(info)) for info in (latest.info, new.info)]
    except PayloadError:
        return True
    return have_common_reader(change.line.types, *schemas)


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
    empty = [
        str(change.topic)
        for change in closed
        if not change.history.entries and change.schema is None
    ]
    names = ", ".join(empty[:_LISTED]) + (", …" if len(empty) > _LISTED else "")
    without = f"; no client with a schema can connect to {names} until one is" if empty else ""
    yield make_finding(
        UNREGISTERED,
        "clients can no longer register schemas (isAllowAutoUpdateSchema true → false): those "
        f"whose schema is not a registered version can no longer connect{without}",
        subject=str(namespace),
        location=next(filter(None, map(_auto_update_location, closed)), None),
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
                "no client of the namespace is locked out by this plan",
                location=waiver.location,
                subject=str(waiver.subject),
                hint="remove the file",
            )
