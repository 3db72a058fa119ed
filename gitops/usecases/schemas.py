"""What a registry holds of one topic, and the schema of a class, alone or against a topic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from gitops.broker.connection import connection_policies
from gitops.broker.lines.table import UnknownBrokerError, line_of
from gitops.broker.registration import register
from gitops.changes.known_names import similar_topic
from gitops.changes.schema_match import SchemaMatch, TopicPlace, match_schema
from gitops.extraction.extraction import Extraction, ExtractRequest
from gitops.extraction.java_classes import extract_java
from gitops.extraction.python_classes import extract_python
from gitops.journal.versions import forgotten_history
from gitops.journal.writer import JournalFile
from gitops.model.broker_settings import is_seen
from gitops.model.clients import ObservedClients
from gitops.model.errors import GitopsError, NotThereError, OutsideError
from gitops.model.findings import Finding, Severity
from gitops.model.journal import APPLIED
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import DeleteSchema, RegisterSchema
from gitops.model.rules import make_finding
from gitops.model.schema import SchemaEntry, SchemaHistory, SchemaInfo
from gitops.model.state import Repository, Scope, TopicState
from gitops.planning.lockout_findings import policy_lockout_findings
from gitops.planning.lockouts import TopicChange, declared_uses, topic_lockouts
from gitops.planning.lost_versions import (
    accept_command,
    is_same_version,
    restore_command,
    restore_steps,
    source_of,
)
from gitops.planning.refusals import version_list
from gitops.ports import ClientSource, Registry
from gitops.registries.git.recorded_versions import VersionLookUp
from gitops.repository.client_schema import topic_avro_type
from gitops.schemas.payload import PayloadError, stored_history

_SHOWN: Final = 3


def read_history(registry: Registry, topic: TopicName) -> SchemaHistory:
    """The live versions of a topic, one at least; raises NotThereError, OutsideError."""
    history = registry.observe(_schemas_of(topic)).topics[topic].history
    if history.entries:
        return history
    _require_namespace(registry, topic.namespace)
    hint = similar_topic(registry, topic) or "nobody has registered one, or it was deleted"
    raise NotThereError(f"{topic} has no schema", where=registry.address, hint=hint)


def read_version(registry: Registry, topic: TopicName, version: int | None) -> SchemaEntry:
    """One version of a topic, the latest without a number; raises as `read_history`."""
    entries = read_history(registry, topic).entries
    matching = [entry for entry in entries if version is None or entry.version == version]
    if not matching:
        known = ", ".join(str(entry.version) for entry in entries[-_SHOWN:])
        raise NotThereError(
            f"{topic} has no version {version}",
            where=registry.address,
            hint=f"the newest are {known}; `pulsar-gitops schemas versions {topic}` lists all",
        )
    return matching[-1]


def upload_findings(
    registry: Registry,
    topic: TopicName,
    schema: SchemaInfo,
    look_up: VersionLookUp | None = None,
    files: Repository | None = None,
) -> tuple[tuple[str, ...], Finding | None]:
    """What follows from registering the schema by hand: warnings, and what forbids it.

    Warnings name clients that can no longer connect, as a plan does: `files` declare and recorded
    some of them, and a cluster is asked who is connected now. A version number that a lost version
    had, of which `look_up` finds the recorded ones, forbids it, as in a plan. Empty where the
    registry does not answer.
    """
    try:
        state = registry.observe(Scope(topics=frozenset({topic}))).topics[topic]
    except OutsideError:
        return (), None
    findings = _upload_lockouts(registry, state, schema, files)
    lockouts = tuple(finding.message for finding in findings)
    return lockouts, _reused_number(registry, state, schema, look_up) if look_up else None


def deletion_warnings(registry: Registry, state: TopicState) -> tuple[str, ...]:
    """Clients that can no longer connect once the topic's schema is deleted.

    Empty where the registry does not answer, or the release has no profile.
    """
    change = _topic_change(registry, state)
    if change is None:
        return ()
    lockouts = topic_lockouts(replace(change, is_deleted=True))
    findings = policy_lockout_findings(state.topic.namespace, [lockouts])
    return tuple(finding.message for finding in findings)


def _upload_lockouts(
    registry: Registry, state: TopicState, schema: SchemaInfo, files: Repository | None
) -> tuple[Finding, ...]:
    """Empty if the namespace's policies cannot be read, or the release has no profile."""
    latest = state.history.latest
    change = _topic_change(registry, state)
    if change is None:
        return ()
    strategy = change.after.strategy
    try:
        decision = register(stored_history(state.history), schema, strategy, change.line)
    except PayloadError:
        return ()
    if not decision.accepted or decision.known:
        return ()
    action = RegisterSchema(
        topic=state.topic,
        info=schema,
        version=state.history.next_version,
        latest_version=latest.version if latest else None,
        strategy=strategy,
    )
    change = _with_clients(replace(change, schema=action), registry, files)
    lockouts = topic_lockouts(change)
    return policy_lockout_findings(state.topic.namespace, [lockouts])


def _topic_change(registry: Registry, state: TopicState) -> TopicChange | None:
    """The topic as it is; None if its policies cannot be read, or the release has no profile."""
    topic, broker = state.topic, registry.broker
    try:
        scope = Scope(namespaces=frozenset({topic.namespace}))
        above = registry.observe(scope).namespaces[topic.namespace].policies
        policies = connection_policies(topic, state.policies, above, broker)
        line = line_of(broker)
    except (OutsideError, UnknownBrokerError):
        return None
    return TopicChange(
        topic=topic,
        history=state.history,
        before=policies,
        after=policies,
        line=line,
        exists=state.exists and is_seen(broker, "release"),  # a cluster, which may have clients
    )


def _with_clients(change: TopicChange, registry: Registry, files: Repository | None) -> TopicChange:
    """With its declared clients, and those that statistics show or showed."""
    topic = change.topic
    observed = files.observed_clients.get(registry.name, ObservedClients()) if files else None
    observed = observed or ObservedClients()
    is_unread = False
    if isinstance(registry, ClientSource) and change.exists:
        try:
            observed = observed.with_live(registry.observe_clients([topic]))
        except OutsideError:
            is_unread = True
    return replace(
        change,
        declared=tuple(declared_uses(files.clients if files else ()).get(topic, ())),
        observed=observed.topics.get(topic),
        is_unread=is_unread or topic in observed.unread,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ForcedDeletion:
    """A deletion after which a topic's numbers begin at v0, and what is recorded of its versions.

    `forgotten` is what only the registry has. `versions` are all that stored messages may have;
    `restorable` those of them that a restore brings back once `forgotten` is in a journal.
    """

    topic: TopicName
    forgotten: SchemaHistory | None = None
    versions: tuple[int, ...] = ()
    restorable: tuple[int, ...] = ()


def forced_deletion(
    topic: TopicName, live: SchemaHistory, look_up: VersionLookUp | None
) -> ForcedDeletion:
    """What a forced deletion loses; without `look_up` no repository can record it."""
    live_numbers = tuple(entry.version for entry in live.entries)
    if look_up is None:
        return ForcedDeletion(topic=topic, versions=live_numbers)
    recorded = look_up({topic}).history(topic)
    forgotten = forgotten_history(recorded, live)
    restorable = {entry.version for entry in recorded.entries}
    restorable |= set(live_numbers) if forgotten else set()
    return ForcedDeletion(
        topic=topic,
        forgotten=forgotten,
        versions=tuple(sorted(restorable | set(live_numbers))),
        restorable=tuple(sorted(restorable)),
    )


def delete_by_force(registry: Registry, deletion: ForcedDeletion, journal: JournalFile) -> None:
    """Forget all versions of a topic, once a journal has those that nothing else has.

    Raises OutsideError before the deletion if the journal cannot be written.
    """
    topic, forgotten = deletion.topic, deletion.forgotten
    if forgotten is None:
        registry.delete_schema(topic, force=True)
        return
    start = {
        "plan": "",
        "registry": registry.name,
        "address": registry.address,
        "actions": 1,
        "doneBefore": 0,
        "command": "schemas delete",
    }
    action = DeleteSchema(topic=topic, versions=deletion.versions)
    try:
        journal.begin(start)
        attempt = journal.intend(action, forgotten=forgotten)
    except OutsideError as error:
        hint = "nothing was deleted: the journal keeps the versions for `restore`"
        raise OutsideError(error.what, where=error.where, hint=hint) from error
    try:
        registry.delete_schema(topic, force=True)
    except GitopsError as error:
        journal.conclude(attempt, None, error)
        journal.end("stopped")
        raise
    journal.conclude(attempt, None, None)
    journal.end(APPLIED)


def forced_deletion_lines(deletion: ForcedDeletion, registry: str) -> Iterator[str]:
    """What the deletion did, what it means for stored messages, and what to do about it."""
    topic = deletion.topic
    yield f"deleted all versions of {topic} in {registry}: numbers begin again at v0"
    if deletion.versions:
        versions = version_list(deletion.versions)
        yield (
            f"messages stored with {versions} decode wrongly or not at all once other schemas get "
            "these numbers"
        )
    restore = restore_command(topic.namespace, registry)
    unrestorable = sorted({*deletion.versions} - {*deletion.restorable})
    if deletion.forgotten and not deletion.versions:
        yield f"  let the numbers go on: {restore}; to begin anew: {accept_command(registry)}"
    if deletion.restorable:
        which = version_list(deletion.restorable) if unrestorable else "them"
        yield f"  bring {which} back: {restore}; to begin anew: {accept_command(registry)}"
    if unrestorable:
        yield f"  nothing has recorded {version_list(unrestorable)}, so no restore brings this back"


def _reused_number(
    registry: Registry, state: TopicState, schema: SchemaInfo, look_up: VersionLookUp
) -> Finding | None:
    """If another recorded schema had the next version's number, or if that is unknown."""
    topic, number = state.topic, state.history.next_version
    recorded = look_up({topic})
    former = recorded.history(topic)
    if number >= former.next_version:
        broken = recorded.unreadable.get(topic)
        if broken is None and not state.history.entries:
            broken = next(iter(recorded.unreadable_journals.values()), None)
        if not broken:
            return None
        finding = make_finding(
            "PLAN-R023",
            f"whether v{number} was another schema is unknown: {broken}",
            subject=str(topic),
            hint="restore the file from git; if the registry has all versions, record it again: "
            f"pulsar-gitops snapshot --registry {registry.name}",
        )
        severity = Severity.WARNING if state.history.entries else finding.severity
        return replace(finding, severity=severity)
    restored = (entry for entry in former.entries if entry.version == number)
    if any(is_same_version(entry.info, schema) for entry in (*state.history.entries, *restored)):
        return None
    return make_finding(
        "PLAN-R023",
        f"v{number} is a number that {source_of(recorded, topic)} has for another schema: stored "
        "messages may carry it, and would decode wrongly or not at all",
        subject=str(topic),
        hint=f"bring the lost versions back: {restore_steps(recorded, topic, registry.name)}; "
        f"to begin anew instead: {accept_command(registry.name)}",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassMatch:
    """The schema of a class, and what a topic has of it."""

    name: str
    extraction: Extraction
    match: SchemaMatch


def extract(request: ExtractRequest) -> Extraction:
    """The schema of a class; raises UsageError, and OutsideError where Java fails."""
    return extract_python(request) if request.class_path is None else extract_java(request)


def match_class(request: ExtractRequest, place: TopicPlace) -> ClassMatch:
    """The same against a topic; without a type the class has the topic's, if it can."""
    history = place.registry.observe(_schemas_of(place.topic)).topics[place.topic].history
    kind = topic_avro_type(place.topic, place.repository, history)
    request = replace(request, topic_type=kind)
    extraction = extract(request)
    match = match_schema(extraction.info, extraction.locate, place)
    return ClassMatch(name=request.name, extraction=extraction, match=match)


def _schemas_of(topic: TopicName) -> Scope:
    return Scope(topics=frozenset({topic}), topic_policies=False)


def _require_namespace(registry: Registry, name: NamespaceName) -> None:
    """Raise NotThereError where there is none, as far as these credentials may know."""
    try:
        state = registry.observe(Scope(namespaces=frozenset({name}))).namespaces[name]
    except OutsideError:
        return
    if not state.exists:
        raise NotThereError(f"there is no namespace '{name}'", where=registry.address)
