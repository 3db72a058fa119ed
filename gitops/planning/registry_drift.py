"""Drift of a registry: the files, the registry and the last snapshot, compared by three.

A difference between files and registry is drift where the registry moved, and a pending change
where the files did. Of versions git's history decides, of the rest the snapshot.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from typing import Any

from gitops.broker.connection import connection_policies
from gitops.broker.consumer_compatibility import check_consumer
from gitops.broker.lines.table import line_of
from gitops.model.drift import (
    DefinitionAnswer,
    Drift,
    DriftReport,
    NamespaceDeletion,
    PartitionDrift,
    PolicyDrift,
    Recording,
    SchemaDeletion,
    UnmanagedNamespace,
    UnmanagedTopic,
    VersionDrift,
    VersionLoss,
    VersionOutsideGit,
)
from gitops.model.findings import Finding
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import (
    CreateNamespace,
    CreateTopic,
    Plan,
    RefusedSchema,
    RegisterSchema,
    SchemaWithoutEffect,
    SetPolicy,
)
from gitops.model.policy import is_same_value, managed_items, snake_case
from gitops.model.schema import SchemaEntry, SchemaHistory, SchemaInfo
from gitops.model.state import NamespaceState, RegistryState, TopicPartitions, TopicState
from gitops.planning.drift import Provenance, split_versions
from gitops.planning.fingerprints import is_same
from gitops.planning.lockout_findings import policy_lockout_findings
from gitops.planning.lockouts import TopicChange, declared_uses, topic_lockouts
from gitops.planning.lost_versions import RecordedVersions, lost_numbers, lost_versions
from gitops.planning.plan import PlanInput, strategy_of
from gitops.schemas.diff import schema_changes
from gitops.schemas.payload import PayloadError, stored_history

_Outcome = RegisterSchema | RefusedSchema | SchemaWithoutEffect


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftInput:
    """What drift is found from.

    `plan` is what `make_plan` made of `plan_input`, `provenance` are the versions that commits
    declared. `recorded` is the snapshot of the same subjects, None where there is none; what it
    has not recorded does not exist in it. `versions` are those of the snapshot, of its past and of
    journals.
    """

    plan_input: PlanInput
    plan: Plan
    provenance: Provenance = field(default_factory=Provenance)
    recorded: RegistryState | None = None
    recording: Recording | None = None
    unmanaged: tuple[TopicState, ...] = ()
    unmanaged_namespaces: tuple[NamespaceName, ...] = ()
    without_schema: int = 0
    unlisted: tuple[NamespaceName, ...] = ()
    other_namespaces: tuple[NamespaceName, ...] = ()
    other_topics: int = 0
    limits: tuple[str, ...] = ()
    versions: RecordedVersions = field(default_factory=RecordedVersions)


def find_drift(drift_input: DriftInput) -> DriftReport:
    """The drift of one registry, with what is no drift counted."""
    search = _Search(drift_input)
    drifts = sorted(search.drifts(), key=lambda drift: _place(drift.subject))
    plan_input = drift_input.plan_input
    limit = drift_input.provenance.limit
    of_history = f"Versions that only earlier files declared are unknown: {limit}."
    return DriftReport(
        registry=plan_input.registry,
        address=plan_input.address,
        drifts=tuple(drifts),
        recording=drift_input.recording,
        namespaces=drift_input.plan.namespaces,
        topics=drift_input.plan.topics,
        pending=len(search.pending),
        without_schema=drift_input.without_schema,
        unread=plan_input.unread,
        unlisted=drift_input.unlisted,
        other_namespaces=drift_input.other_namespaces,
        other_topics=drift_input.other_topics,
        limits=(*drift_input.limits, *((of_history,) if limit else ())),
        recorded_losses=_recorded_losses(drift_input),
    )


def _recorded_losses(drift_input: DriftInput) -> dict[TopicName, tuple[int, ...]]:
    losses: dict[TopicName, tuple[int, ...]] = {}
    for topic, loss in sorted(drift_input.versions.accepted.items()):
        live = drift_input.plan_input.observed.topics.get(topic)
        if live is None:
            continue
        if lost := sorted(set(lost_versions(loss.versions, live.history))):
            losses[topic] = tuple(lost)
    return losses


def _place(subject: NamespaceName | TopicName) -> tuple[bool, str]:
    return isinstance(subject, TopicName), str(subject)


class _Search:
    """Goes through the plan; `pending` are the subjects that wait for an apply."""

    def __init__(self, drift_input: DriftInput) -> None:
        self._input = drift_input
        self._plan_input = drift_input.plan_input
        self._observed = drift_input.plan_input.observed
        self._recorded = drift_input.recorded or RegistryState()
        self._declared = declared_uses(drift_input.plan_input.clients)
        self.pending: set[NamespaceName | TopicName] = set()

    def drifts(self) -> Iterator[Drift]:
        plan = self._input.plan
        outcomes = [item for item in (*plan.actions, *plan.notices) if isinstance(item, _Outcome)]
        desired = self._plan_input.desired
        yield from chain(
            chain.from_iterable(map(self._namespace_or_policy, plan.actions)),
            chain.from_iterable(map(self._unmanaged_keys, desired.namespaces)),
            chain.from_iterable(map(self._unmanaged_keys, desired.topics)),
            chain.from_iterable(map(self._partitions, desired.partitions.values())),
            chain.from_iterable(map(self._schema, outcomes)),
            chain.from_iterable(map(self._losses, self._observed.topics.values())),
            map(_unmanaged_topic, self._input.unmanaged),
            (
                UnmanagedNamespace(namespace=unmanaged_namespace)
                for unmanaged_namespace in self._input.unmanaged_namespaces
            ),
        )

    def _namespace_or_policy(self, action: object) -> Iterator[Drift]:
        match action:
            case CreateNamespace():
                if self._recorded_namespace(action.namespace) is None:
                    self.pending.add(action.namespace)
                else:
                    yield NamespaceDeletion(namespace=action.namespace)
            case CreateTopic():
                if not self._is_deleted(action.topic):
                    self.pending.add(action.topic)
            case SetPolicy() if not action.waiver:
                yield from self._policy(action)
            case _:
                pass

    def _policy(self, action: SetPolicy) -> Iterator[Drift]:
        subject, change = action.subject, action.change
        before = self._recorded_state(subject)
        recorded = getattr(before.policies, snake_case(change.key)) if before else None
        is_as_recorded = before is not None and is_same_value(change.key, recorded, change.before)
        if is_as_recorded or not self._observed.subject(subject).exists:
            self.pending.add(subject)
            return
        drift = PolicyDrift(
            subject=subject,
            key=change.key,
            files=change.after,
            live=change.before,
            recorded=recorded,
            was_recorded=before is not None,
        )
        yield replace(drift, lockouts=self._lockouts(drift))

    def _unmanaged_keys(self, subject: NamespaceName | TopicName) -> Iterator[Drift]:
        """Keys that the files do not manage, set otherwise than the snapshot has them.

        A setting that is gone leaves nothing that the files could say.
        """
        before, live = self._recorded_state(subject), self._observed.subject(subject)
        if before is None or not live.exists:
            return
        managed = dict(managed_items(self._plan_input.desired.subject(subject).policies))
        old, new = (dict(managed_items(state.policies)) for state in (before, live))
        for key in sorted(new.keys() - managed.keys()):
            if not is_same_value(key, old.get(key), new[key]):
                drift = PolicyDrift(
                    subject=subject,
                    key=key,
                    files=None,
                    live=new[key],
                    recorded=old.get(key),
                    was_recorded=True,
                )
                yield replace(drift, lockouts=self._lockouts(drift))

    def _lockouts(self, drift: PolicyDrift) -> tuple[Finding, ...]:
        """Clients that the former value accepts and the value in the registry refuses."""
        broker, subject = self._plan_input.broker, drift.subject
        namespace = subject.namespace if isinstance(subject, TopicName) else subject
        former: dict[str, Any] = {
            snake_case(drift.key): drift.recorded if drift.files is None else drift.files
        }
        above = self._observed.namespaces[namespace].policies
        unmanaged = {state.topic: state for state in self._input.unmanaged}
        clients, line = self._plan_input.observed_clients, line_of(broker)
        lockouts = []
        for topic, state in sorted({**unmanaged, **self._observed.topics}.items()):
            if subject not in (topic, topic.namespace):
                continue
            former_own, former_above = state.policies, above
            if isinstance(subject, TopicName):
                former_own = replace(former_own, **former)
            else:
                former_above = replace(former_above, **former)
            change = TopicChange(
                topic=topic,
                history=state.history,
                before=connection_policies(topic, former_own, former_above, broker),
                after=connection_policies(topic, state.policies, above, broker),
                line=line,
                declared=tuple(self._declared.get(topic, ())),
                is_new=not state.exists,
                observed=clients.topics.get(topic) if clients else None,
                is_unread=topic in clients.unread if clients else False,
            )
            lockouts.append(topic_lockouts(change))
        return policy_lockout_findings(namespace, lockouts)

    def _partitions(self, desired: TopicPartitions) -> Iterator[Drift]:
        topic, wanted = desired.topic, desired.count or 0
        live, before = self._observed.partitions.get(topic), self._recorded.partitions.get(topic)
        if live is None or live.count in (None, wanted):
            return
        recorded = before.count if before else None
        if recorded == live.count:
            self.pending.add(topic)
            return
        yield PartitionDrift(topic=topic, files=wanted, live=live.count or 0, recorded=recorded)

    def _schema(self, outcome: _Outcome) -> Iterator[Drift]:
        topic = outcome.topic
        observed = self._observed.topics[topic]
        if not observed.history.entries:
            yield from self._missing_schema(observed)
            return
        equal = outcome.equal_version if isinstance(outcome, SchemaWithoutEffect) else None
        declared = self._input.provenance.declared.get(topic, ())
        known, unknown = split_versions(observed.history, declared, equal)
        # With commits missing only a version of the files proves that those after it are not.
        if not unknown or (equal is None and self._input.provenance.limit):
            self.pending.add(topic)
            return
        yield VersionDrift(
            topic=topic,
            versions=tuple(self._versions(topic, known, unknown)),
            definition=self._answer(outcome),
            limit=self._input.provenance.limit,
        )

    def _missing_schema(self, observed: TopicState) -> Iterator[Drift]:
        recorded = self._recorded_history(observed.topic)
        versions = tuple(entry.version for entry in recorded.entries)
        lost = lost_numbers(recorded, observed.history, self._plan_input.broker)
        if not lost and not observed.history.next_version:
            self.pending.add(observed.topic)
            return
        before = self._recorded.partitions.get(observed.topic)
        was_there = before is None or before.exists
        is_kept = observed.exists or not was_there or bool(observed.history.next_version)
        yield SchemaDeletion(
            topic=observed.topic,
            versions=versions,
            topic_exists=is_kept,
            begins_anew=recorded.next_version > observed.history.next_version,
            next_version=observed.history.next_version,
            journal=self._input.versions.journals.get(observed.topic, ""),
        )

    def _is_deleted(self, topic: TopicName) -> bool:
        """Whether it is reported as deleted, with its schema."""
        observed = self._observed.topics.get(topic)
        return bool(self._recorded_history(topic).entries and observed and observed.is_empty)

    def _versions(
        self, topic: TopicName, known: tuple[SchemaEntry, ...], unknown: tuple[SchemaEntry, ...]
    ) -> Iterator[VersionOutsideGit]:
        desired = self._desired(topic)
        first = known[-1].info if known else desired
        infos: list[SchemaInfo | None] = [first, *(item.info for item in unknown)]
        for entry, (before, after) in zip(unknown, pairwise(infos), strict=True):
            yield VersionOutsideGit(
                version=entry.version,
                timestamp=entry.timestamp,
                changes=schema_changes(before, after) if after else (),
                recorded=self._has_recorded(topic, entry),
            )

    def _has_recorded(self, topic: TopicName, entry: SchemaEntry) -> bool | None:
        if self._input.recorded is None:
            return None
        recorded = self._recorded_topic(topic)
        return recorded is not None and any(
            item.version == entry.version and is_same(item.info, entry.info)
            for item in recorded.history.entries
        )

    def _answer(self, outcome: _Outcome) -> DefinitionAnswer:
        consumers = self._consumers(outcome.topic)
        match outcome:
            case SchemaWithoutEffect():
                return DefinitionAnswer(version=outcome.equal_version, consumers=consumers)
            case RegisterSchema() if outcome.accepted:
                return DefinitionAnswer(version=outcome.version, is_new=True, consumers=consumers)
            case _:
                reasons = dict.fromkeys(finding.message for finding in outcome.findings)
                return DefinitionAnswer(version=None, reasons=tuple(reasons), consumers=consumers)

    def _consumers(self, topic: TopicName) -> str:
        """Why consumers with the files' definition are refused now; empty where they are not."""
        desired = self._desired(topic)
        try:
            history = stored_history(self._observed.topics[topic].history)
        except PayloadError as error:
            return str(error)
        if desired is None:
            return ""
        line = line_of(self._plan_input.broker)
        strategy = strategy_of(self._plan_input, topic)
        return check_consumer(history, desired, strategy, line).reason or ""

    def _desired(self, topic: TopicName) -> SchemaInfo | None:
        latest = self._plan_input.desired.topics[topic].history.latest
        return latest.info if latest else None

    def _losses(self, observed: TopicState) -> Iterator[Drift]:
        if not observed.history.entries:
            return
        recorded = self._recorded_history(observed.topic)
        lost = lost_numbers(recorded, observed.history, self._plan_input.broker)
        if lost:
            journal = self._input.versions.journals.get(observed.topic, "")
            yield VersionLoss(topic=observed.topic, versions=tuple(sorted(lost)), journal=journal)

    def _recorded_history(self, topic: TopicName) -> SchemaHistory:
        """What the snapshot has, with what only its past or journals have."""
        history = self._input.versions.history(topic)
        recorded = self._recorded_topic(topic)
        if history == SchemaHistory() and recorded:
            return recorded.history
        return history

    def _recorded_state(
        self, subject: NamespaceName | TopicName
    ) -> NamespaceState | TopicState | None:
        if isinstance(subject, NamespaceName):
            return self._recorded_namespace(subject)
        return self._recorded_topic(subject)

    def _recorded_namespace(self, name: NamespaceName) -> NamespaceState | None:
        state = self._recorded.namespaces.get(name)
        return state if state is not None and state.exists else None

    def _recorded_topic(self, topic: TopicName) -> TopicState | None:
        state = self._recorded.topics.get(topic)
        return None if state is None or state == TopicState(topic=topic) else state


def _unmanaged_topic(state: TopicState) -> UnmanagedTopic:
    history = state.history
    return UnmanagedTopic(
        topic=state.topic,
        type=history.latest.info.type if history.latest else None,
        versions=tuple(entry.version for entry in history.entries),
        since=history.entries[0].timestamp if history.entries else None,
        policies=dict(managed_items(state.policies)),
    )
