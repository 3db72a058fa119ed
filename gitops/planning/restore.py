"""Whether a registry can get a recorded history back with its numbers, and in which steps.

A broker numbers the entries of a history 0, 1, 2 and so on; a deletion is an entry too, and hides
all versions before it (Pulsar 4.0.7). So what a registry shows of a history follows its last
deletion without a gap, and only the numbers before it need something in their place: one deletion
each, which a broker accepts of a topic without a schema as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, TypeVar, cast

from gitops.broker.connection import connection_policies
from gitops.broker.lines.line import BrokerLine
from gitops.broker.lines.table import line_of
from gitops.broker.registration import register
from gitops.model.clients import Client, ObservedClients
from gitops.model.decision import StoredHistory
from gitops.model.findings import Finding, Severity
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import (
    Action,
    CreateNamespace,
    CreateTopic,
    DeleteSchema,
    Hold,
    Plan,
    RegisterSchema,
    SetPolicy,
)
from gitops.model.policy import (
    BrokerSettings,
    NamespacePolicies,
    Policies,
    PolicyChange,
    PolicyValue,
    TopicPolicies,
    camel_case,
    effective_strategy,
    is_same_value,
    snake_case,
)
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.restore import (
    Difference,
    Obstacle,
    Restore,
    RestoreCheck,
    TopicRestore,
    UnfinishedRestore,
)
from gitops.model.rollout_reason import name_list
from gitops.model.rules import apply_severities
from gitops.model.schema import SchemaEntry, SchemaHistory
from gitops.model.state import NamespaceState, RegistryState, TopicState
from gitops.planning.creations import FIXED_PARTITIONS, counted, partitions_command
from gitops.planning.fingerprints import schema_fingerprint, state_fingerprints
from gitops.planning.held_policies import before_restore
from gitops.planning.lockout_findings import policy_lockout_findings
from gitops.planning.lockouts import (
    TopicChange,
    TopicLockouts,
    declared_uses,
    topic_lockouts,
)
from gitops.planning.lost_versions import Contradiction, forget_command, restore_command
from gitops.planning.policies import direction
from gitops.schemas.payload import PayloadError, stored_history

_STRATEGY: Final = "schemaCompatibilityStrategy"
_AUTO_UPDATE: Final = "isAllowAutoUpdateSchema"
_ENFORCED: Final = "schemaValidationEnforced"
_OPEN: Final = Strategy.ALWAYS_COMPATIBLE
_LISTED: Final = 5
_P = TypeVar("_P", NamespacePolicies, TopicPolicies)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreInput:
    """What was recorded of the registry `source`, and the registry that is to have it.

    `live` has every subject of `recorded` but the topics of `unreadable`, on whose schemas the
    registry fails, with its reason. `additions` are files that have versions which the snapshot of
    `source` lacks. `contradictions` keep a topic from being restored. `unfinished` is what
    restores left that came to no end. `clients` are the declared ones, `observed_clients` those
    that statistics showed, `rules` the severities that differ from the table's. `unrecorded` are
    other topics of these namespaces.
    """

    source: str
    recorded: RegistryState
    live: RegistryState
    registry: str
    address: str
    broker: BrokerSettings
    unreadable: Mapping[TopicName, str]
    additions: tuple[str, ...] = ()
    contradictions: Mapping[TopicName, Contradiction] = field(default_factory=dict)
    unfinished: UnfinishedRestore = field(default_factory=UnfinishedRestore)
    clients: tuple[Client, ...] = ()
    observed_clients: ObservedClients | None = None
    rules: Mapping[str, Severity] = field(default_factory=dict)
    unrecorded: Mapping[TopicName, TopicState] = field(default_factory=dict)


def prove_restore(given: RestoreInput) -> Restore:
    """What a restore does, or why its numbers would not come out; raises UnknownBrokerError."""
    line = line_of(given.broker)
    lockouts = policy_lockouts(given)
    given = _with_kept_policies(given, lockouts.kept)
    topics = tuple(
        _contradiction(recorded, given.contradictions[name], given.source)
        if name in given.contradictions
        else _topic(
            recorded,
            given.live.topics.get(name),
            line,
            given.registry,
            given.unreadable.get(name, ""),
        )
        for name, recorded in sorted(given.recorded.topics.items())
    )
    other_obstacles = tuple(_other_obstacles(given))
    topics = tuple(restore.with_remedies(given.registry) for restore in topics)
    is_possible = not other_obstacles and not any(restore.obstacles for restore in topics)
    by_namespace: dict[NamespaceName, list[TopicRestore]] = {
        n: [] for n in given.recorded.namespaces
    }
    for restore in topics:
        by_namespace[restore.topic.namespace].append(restore)
    actions = [
        action
        for name, restores in sorted(by_namespace.items())
        for action in (_namespace_actions(name, restores, given) if is_possible else ())
    ]
    plan = Plan(
        registry=given.registry,
        address=given.address,
        files="",
        broker=given.broker,
        actions=tuple(actions),
        observed=state_fingerprints(given.live),
        namespaces=len(given.recorded.namespaces),
        topics=len(topics),
        unchanged=sum(restore.is_there for restore in topics),
    )
    left = (*lockouts.kept, *_other_partitions(given))
    kept = {difference.subject for difference in lockouts.kept}
    warnings = (
        f"{lockout_text(member)} ({finding.rule})"
        for name, findings in lockouts.findings.items()
        for finding in findings
        if name not in kept
        for member in _single_findings(finding)
    )
    return Restore(
        source=given.source,
        plan=plan,
        topics=topics,
        others=other_obstacles,
        left=left,
        additions=given.additions,
        notes=tuple(warnings),
    )


def check_restore(recorded: RegistryState, live: RegistryState) -> RestoreCheck:
    """Whether the registry has every recorded version, by number and content."""
    differences = {
        name: value
        for name, topic in sorted(recorded.topics.items())
        if (value := _difference(topic.history, live.topics[name].history))
    }
    good = (t for name, t in recorded.topics.items() if name not in differences)
    return RestoreCheck(
        versions=sum(len(topic.history.entries) for topic in good), differences=differences
    )


def _difference(recorded: SchemaHistory, live: SchemaHistory) -> str:
    """What the registry has instead, in a few words; empty where it has all of it."""
    there = {entry.version: entry for entry in live.entries}
    for entry in recorded.entries:
        result = there.get(entry.version)
        if result is None:
            return f"there is no v{entry.version}"
        if not _is_same(result, entry):
            return f"v{entry.version} is another schema"
    if live.next_version < recorded.next_version:
        return f"the next version is v{live.next_version}, not v{recorded.next_version}"
    return ""


def _is_same(left: SchemaEntry, right: SchemaEntry) -> bool:
    """Whether both are the same version, to the byte and with the same properties."""
    same_number = left.version == right.version
    return same_number and schema_fingerprint(left.info) == schema_fingerprint(right.info)


# One history.


def _topic(
    recorded: TopicState,
    live: TopicState | None,
    line: BrokerLine,
    registry: str,
    unreadable: str,
) -> TopicRestore:
    topic, history = recorded.topic, recorded.history
    if live is None:
        reason = f"the registry fails on its schemas: {unreadable}"
        return TopicRestore(
            topic=topic, recorded=history, obstacles=(_obstacle(topic, reason, history.entries),)
        )
    if not _difference(history, live.history):
        return TopicRestore(topic=topic, recorded=history)
    obstacle = (
        _foreign_entries(topic, history, live.history)
        or _deletion(topic, history, live.history, registry)
        or _gap(topic, history)
    )
    if obstacle:
        return TopicRestore(topic=topic, recorded=history, obstacles=(obstacle,))
    there = len(live.history.entries)
    missing = history.entries[there:]
    first = missing[0].version if missing else history.next_version
    refused = _refusal(topic, live.history, missing, line)
    return TopicRestore(
        topic=topic,
        recorded=history,
        deletions=tuple(range(live.history.next_version, first)),
        versions=tuple(entry.version for entry in missing),
        obstacles=(refused,) if refused else (),
    )


def _contradiction(recorded: TopicState, contradiction: Contradiction, source: str) -> TopicRestore:
    """A version of which two records have different schemas: which one messages have is unknown."""
    topic, number = recorded.topic, contradiction.version
    restore = restore_command(topic.namespace, source)
    obstacle = Obstacle(
        subject=topic,
        reason=f"v{number} in {contradiction.sources[0]} and v{number} in "
        f"{contradiction.sources[1]} are different schemas",
        hint="take the one that messages were stored with into snapshots/; if it is there: "
        f"{restore} --trust-files",
        versions=(number,),
    )
    return TopicRestore(topic=topic, recorded=recorded.history, obstacles=(obstacle,))


def _foreign_entries(
    topic: TopicName, recorded: SchemaHistory, live: SchemaHistory
) -> Obstacle | None:
    """What is in the registry and is not the beginning of what was recorded."""
    for there, entry in zip(live.entries, recorded.entries, strict=False):
        if not _is_same(there, entry):
            what = "is another schema" if there.version == entry.version else "is not recorded"
            left = [item for item in recorded.entries if item.version >= there.version]
            return _obstacle(topic, f"v{there.version} of the registry {what}", left or [entry])
    if live.entries and len(live.entries) > len(recorded.entries):
        return _obstacle(topic, f"the registry has v{live.entries[0].version}", ())
    return None


def _deletion(
    topic: TopicName, recorded: SchemaHistory, live: SchemaHistory, registry: str
) -> Obstacle | None:
    """Numbers that a deletion used up in the registry, after which it has no version."""
    first = recorded.entries[0].version if recorded.entries else recorded.next_version
    if live.entries or live.next_version <= first:
        return None
    lost = [entry for entry in recorded.entries if entry.version < live.next_version]
    return _obstacle(
        topic,
        f"a deletion in the registry is v{live.next_version - 1}: the next version is "
        f"v{live.next_version}, and v{first} is to be made",
        lost,
        "no version is left there, so let the numbers begin at v0 and restore again: "
        f"{forget_command(topic, registry)}",
    )


def _gap(topic: TopicName, recorded: SchemaHistory) -> Obstacle | None:
    """A number between two versions that neither a version nor a deletion can have."""
    entries = recorded.entries
    for number, entry in enumerate(entries, entries[0].version if entries else 0):
        if entry.version != number:
            reason = f"no v{number} is recorded, and a v{entry.version} after it"
            hint = "a deletion in its place would hide all versions before it: see whether an "
            hint += "older snapshot in git has the version"
            return Obstacle(
                subject=topic, reason=reason, hint=hint, versions=_numbers(entries[number:])
            )
    if entries and recorded.next_version != entries[-1].version + 1:
        reason = f"v{entries[-1].version} is recorded, and nothing up to "
        reason += f"v{recorded.next_version}"
        return Obstacle(subject=topic, reason=reason, hint="record the snapshot again")
    return None


def _refusal(
    topic: TopicName, live: SchemaHistory, missing: Iterable[SchemaEntry], line: BrokerLine
) -> Obstacle | None:
    """The first version to which the broker would not give its number, whatever its strategy."""
    missing = tuple(missing)
    try:
        history = stored_history(live)
        for place, entry in enumerate(missing):
            decision = register(history, entry.info, _OPEN, line)
            if not decision.accepted:
                reason = f"the broker would refuse v{entry.version}: {decision.reason}"
                return _obstacle(topic, reason, missing[place:], _LINE)
            if decision.known:
                reason = f"v{entry.version} equals v{decision.version}: the broker would answer "
                reason += f"v{decision.version} and store nothing"
                return _obstacle(topic, reason, missing[place:], _LINE)
            history = _longer(history, entry)
    except PayloadError as error:
        return _obstacle(topic, f"a recorded schema is not valid: {error}", missing)
    return None


def _longer(history: StoredHistory, entry: SchemaEntry) -> StoredHistory:
    (stored,) = stored_history(SchemaHistory(entries=(entry,))).entries
    return StoredHistory(entries=(*history.entries, stored), next_version=entry.version + 1)


def _obstacle(
    topic: TopicName, reason: str, lost: Iterable[SchemaEntry], hint: str = ""
) -> Obstacle:
    """Without a hint nothing helps but to begin anew, in the registry that the restore names."""
    return Obstacle(subject=topic, reason=reason, hint=hint, versions=_numbers(lost))


def _numbers(entries: Iterable[SchemaEntry]) -> tuple[int, ...]:
    return tuple(entry.version for entry in entries)


_LINE: Final = (
    "restore into a broker of the release that stored these versions, or leave the topic out: "
    "move its file out of snapshots/"
)


# What is not a history: namespaces, policies, topics.


def _other_obstacles(given: RestoreInput) -> Iterator[Obstacle]:
    for name, namespace in sorted(given.live.namespaces.items()):
        if not namespace.exists and not namespace.tenant_exists:
            reason = f"there is no tenant {name.tenant}"
            hint = f"create it: pulsar-admin tenants create {name.tenant}"
            yield Obstacle(subject=name, reason=reason, hint=hint)
    for topic, recorded in sorted(given.recorded.topics.items()):
        live = given.live.topics.get(topic)
        exists = (live and live.exists) or topic in given.live.partitions
        if not exists and recorded.policies != TopicPolicies():
            reason = "the snapshot has policies for the topic, and the topic does not exist"
            hint = f"create it: pulsar-admin topics create {topic}"
            yield Obstacle(subject=topic, reason=reason, hint=hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyLockouts:
    """Who can no longer connect under the recorded policies, topic by topic.

    `findings` are rated, `kept` are namespaces whose policies stay because of an error among them.
    """

    topics: tuple[TopicLockouts, ...] = ()
    findings: Mapping[NamespaceName, tuple[Finding, ...]] = field(default_factory=dict)
    kept: tuple[Difference, ...] = ()


def policy_lockouts(given: RestoreInput) -> PolicyLockouts:
    """As a plan decides it that sets the recorded policies once the versions are back.

    Of all topics of the namespaces, also of those that are not restored. Raises UnknownBrokerError.
    """
    declared = declared_uses(given.clients)
    topics: list[TopicLockouts] = []
    by_namespace: dict[NamespaceName, tuple[Finding, ...]] = {}
    kept: list[Difference] = []
    former = before_restore(given.unfinished.held, given.live)
    states = {**given.unrecorded, **former.topics}
    for name, namespace in sorted(given.recorded.namespaces.items()):
        above = former.namespaces[name]
        if not above.exists or name in given.unfinished.created:
            continue
        lockouts = [
            topic_lockouts(
                replace(
                    _topic_change(given, state, above.policies, namespace.policies),
                    declared=tuple(declared.get(topic, ())),
                )
            )
            for topic, state in sorted(states.items())
            if topic.namespace == name
        ]
        topics += lockouts
        findings = tuple(apply_severities(policy_lockout_findings(name, lockouts), given.rules))
        by_namespace[name] = findings
        errors = [finding for finding in findings if finding.severity is Severity.ERROR]
        if errors:
            kept.append(
                Difference(
                    subject=name,
                    reason="policies that differ from the snapshot, and they stay: with the "
                    f"recorded ones, {lockout_text(errors[0])}",
                    hint="`pulsar-gitops plan` shows how they differ from the files, and "
                    "`pulsar-gitops policies set` sets them once no such client is left",
                )
            )
    return PolicyLockouts(topics=tuple(topics), findings=by_namespace, kept=tuple(kept))


def _topic_change(
    given: RestoreInput,
    live: TopicState,
    above: NamespacePolicies,
    recorded_above: NamespacePolicies,
) -> TopicChange:
    """The change of a topic's policies, once its recorded versions are back."""
    topic = live.topic
    recorded = given.recorded.topics.get(topic)
    history = live.history
    if recorded and history.next_version < recorded.history.next_version:
        history = recorded.history
    clients = given.observed_clients
    observed = clients.topics.get(topic) if clients else None
    is_used = live.exists or topic.domain == "non-persistent" or bool(observed and observed.is_used)
    own = recorded.policies if recorded else live.policies
    return TopicChange(
        topic=topic,
        history=history,
        before=connection_policies(topic, live.policies, above, given.broker),
        after=connection_policies(topic, own, recorded_above, given.broker),
        line=line_of(given.broker),
        is_new=not is_used,
        observed=observed,
        is_unread=topic in clients.unread if clients else False,
    )


def _single_findings(finding: Finding) -> tuple[Finding, ...]:
    """Those of single topics, which name their clients, or one for all where these are many."""
    is_short = 0 < len(finding.members) <= _LISTED
    return finding.members if is_short else (finding,)


def lockout_text(finding: Finding) -> str:
    """The finding with its topics, where its message does not name them."""
    topics = [subject for subject in finding.subjects if subject and subject not in finding.message]
    return f"{finding.message} ({name_list(topics, _LISTED)})" if topics else finding.message


def _with_kept_policies(given: RestoreInput, kept: Sequence[Difference]) -> RestoreInput:
    """As if the policies that stay were recorded, with those of the topics there.

    What lets more clients in is set all the same, and what an unfinished restore left does not
    stay.
    """
    names = {difference.subject for difference in kept}
    if not names:
        return given
    recorded, live = given.recorded, before_restore(given.unfinished.held, given.live)
    namespaces = {
        name: replace(state, policies=_loosened(live.namespaces[name].policies, state.policies))
        if name in names
        else state
        for name, state in recorded.namespaces.items()
    }
    topics = {
        name: replace(state, policies=_loosened(live.topics[name].policies, state.policies))
        if name.namespace in names and name in live.topics
        else state
        for name, state in recorded.topics.items()
    }
    return replace(given, recorded=replace(recorded, namespaces=namespaces, topics=topics))


def _loosened(live: _P, recorded: _P) -> _P:
    """The live policies, with those of the recorded ones that are looser."""
    values = _values(live)
    changes = (
        PolicyChange(key=key, before=values[key], after=_settable(key, value))
        for key, value in _values(recorded).items()
    )
    looser = {
        snake_case(change.key): change.after
        for change in changes
        if direction(change) == "loosened"
    }
    return replace(live, **cast("dict[str, Any]", looser))


def _other_partitions(given: RestoreInput) -> Iterator[Difference]:
    """Messages keep their partition, so a key's may be on another one than what follows them."""
    for topic, recorded in sorted(given.recorded.partitions.items()):
        partitions = given.live.partitions.get(topic)
        if not (recorded.exists and partitions and partitions.exists) or partitions.count in (
            None,
            recorded.count,
        ):
            continue
        command = partitions_command(topic, recorded.count or 0, partitions.count)
        yield Difference(
            subject=topic,
            reason=f"{counted(partitions.count)} in the registry, {counted(recorded.count)} in the "
            "snapshot",
            hint=f"add them: {command}" if command else FIXED_PARTITIONS,
        )


# The actions, namespace by namespace: what is held, the histories, what is set back.


def _namespace_actions(
    name: NamespaceName, topics: list[TopicRestore], given: RestoreInput
) -> Iterator[Action]:
    live, recorded = given.live.namespaces[name], given.recorded.namespaces[name]
    if not live.exists:
        yield CreateNamespace(namespace=name)
    held = _held(live.policies, recorded, topics, given.broker)
    yield from _begin(name, live.policies, recorded.policies, held)
    for topic in topics:
        yield from _topic_actions(topic, given)
    yield from _end(name, live.policies, recorded.policies, held)


def _held(
    live: NamespacePolicies,
    recorded: NamespaceState,
    topics: Iterable[TopicRestore],
    broker: BrokerSettings,
) -> dict[str, PolicyValue]:
    """The keys that have another value while versions are registered.

    No strategy may refuse a version that the lost registry had, and no producer may come between
    two of them. A namespace that has never heard of auto-update is left alone: Pulsar could not
    take the setting back (4.0.7).
    """
    renumbered = [topic for topic in topics if topic.versions or topic.deletions]
    held: dict[str, PolicyValue] = {}
    if any(len(topic.recorded.entries) > 1 for topic in renumbered):
        strategy = effective_strategy(TopicPolicies(), live, broker)
        held |= {} if strategy is _OPEN else {_STRATEGY: _OPEN}
    settings = (live.is_allow_auto_update_schema, recorded.policies.is_allow_auto_update_schema)
    if renumbered and settings != (None, None):
        held[_AUTO_UPDATE] = False
    return held


def _topic_actions(restore: TopicRestore, given: RestoreInput) -> Iterator[Action]:
    live, recorded = given.live.topics[restore.topic], given.recorded.topics[restore.topic]
    own = live.policies.schema_compatibility_strategy
    is_strict = own not in (None, _OPEN, Strategy.UNDEFINED)
    held = {_STRATEGY: _OPEN} if restore.versions and is_strict else {}
    partitions = given.live.partitions.get(restore.topic)
    if partitions and not partitions.exists:
        count = given.recorded.partitions[restore.topic].count or 0
        yield CreateTopic(topic=restore.topic, partitions=count)
    yield from _begin(restore.topic, live.policies, recorded.policies, held)
    for number in restore.deletions:
        yield DeleteSchema(topic=restore.topic, versions=(), tombstone=number)
    entries = {entry.version: entry for entry in restore.recorded.entries}
    for number in restore.versions:
        yield RegisterSchema(
            topic=restore.topic,
            info=entries[number].info,
            version=number,
            latest_version=number - 1 if number - 1 in entries else None,
            strategy=_OPEN,
        )
    yield from _end(restore.topic, live.policies, recorded.policies, held)


def _begin(
    subject: NamespaceName | TopicName,
    live: Policies,
    recorded: Policies,
    held: Mapping[str, PolicyValue],
) -> Iterator[SetPolicy]:
    values = _values(live)
    for key, value in held.items():
        if values[key] != value:
            change = PolicyChange(key=key, before=values[key], after=value)
            hold = None if _values(recorded)[key] == value else Hold.BEGIN
            yield SetPolicy(subject=subject, change=change, hold=hold)


def _end(
    subject: NamespaceName | TopicName,
    live: Policies,
    recorded: Policies,
    held: Mapping[str, PolicyValue],
) -> Iterator[SetPolicy]:
    """Each key to its recorded value; one that is held is set back, however the restore ends.

    A strategy that a killed restore left open is set back too.
    """
    for key, have in _values(live).items():
        now, want = held.get(key, have), _values(recorded)[key]
        if _is_recorded(key, now, want):
            continue
        change = PolicyChange(key=key, before=now, after=_settable(key, want))
        is_open = key in held or (key == _STRATEGY and have is _OPEN)
        yield SetPolicy(subject=subject, change=change, hold=Hold.END if is_open else None)


def _values(policies: Policies) -> dict[str, PolicyValue]:
    return {camel_case(item.name): getattr(policies, item.name) for item in fields(policies)}


def _is_recorded(key: str, now: PolicyValue, recorded: PolicyValue) -> bool:
    """Whether a value is as recorded, or has the effect of none where none was recorded."""
    if now == recorded or recorded is not None:
        return now == recorded
    # A new namespace allows auto-update (Pulsar 4.0.7).
    return is_same_value(key, now, None) or (key == _AUTO_UPDATE and now is True)


def _settable(key: str, value: PolicyValue) -> PolicyValue:
    """The value with the same effect that can be set: two keys cannot be removed (Pulsar 4.0.7)."""
    if value is None and key == _AUTO_UPDATE:
        return True
    return False if value is None and key == _ENFORCED else value
