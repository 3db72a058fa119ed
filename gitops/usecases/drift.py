"""`drift`: what a registry has and the files in git do not, and the files that adopt it."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from gitops.changes.known_names import find_unmanaged, known_names
from gitops.changes.repository_plan import PlanRequest, read_plan_input, with_unread
from gitops.changes.short_lived_topics import short_lived_limits
from gitops.git.changed_files import uncommitted_files
from gitops.git.checkout import open_checkout
from gitops.git.history import last_commit
from gitops.git.references import head_of
from gitops.model.clients import ObservedClients, ObservedTopic
from gitops.model.drift import DriftReport, Recording, UnmanagedNamespace
from gitops.model.errors import GitopsError, OutsideError, UsageError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.state import RegistryState, Scope
from gitops.planning.drift import Provenance, read_provenance
from gitops.planning.held_policies import held_text, still_held
from gitops.planning.lost_versions import journal_notes, redefined_notes
from gitops.planning.plan import PlanInput, make_plan
from gitops.planning.registry_drift import DriftInput, find_drift
from gitops.ports import ClientSource, FileTree, Progress, Registry, no_progress
from gitops.registries.git.earlier_definitions import definitions_at_head
from gitops.registries.git.provenance import provenance_at_head
from gitops.registries.git.recorded_versions import recorded_at_head
from gitops.registries.snapshot import SnapshotRegistry
from gitops.repository.broker_snapshots import recorded_time
from gitops.repository.observed_clients import require_clients, unread_limits
from gitops.repository.writing.adoption import Adoption, AdoptionInput, adopt


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundDrift:
    """The drift of a registry, and what was observed there of its subjects."""

    report: DriftReport
    observed: RegistryState


def drift(
    planning: PlanRequest, root: Path, tree: FileTree, progress: Progress = no_progress
) -> FoundDrift:
    """Read the registry, the history of the files at `root` and the snapshot, and compare.

    Raises UnplannableError, OutsideError, and UsageError for a broken snapshot, or where the
    request asks for clients and the registry has none.
    """
    repository, registry = planning.repository, planning.registry
    known = known_names(root, tree, repository, registry.name)
    source = require_clients(registry) if planning.asks_for_clients else None
    plan_input = read_plan_input(planning, progress)
    new_clients: dict[TopicName, ObservedTopic] | None = None
    client_limits: tuple[str, ...] = ()
    if source:
        plan_input, new_clients, client_limits = _add_live_clients(source, plan_input, progress)
    plan = make_plan(plan_input, progress)
    provenance = read_provenance(plan, plan_input, provenance_at_head(root, repository))
    managed = with_unread(plan_input)
    unmanaged = find_unmanaged(registry, managed, known, progress, required=False)
    other_namespaces, limits = _other_namespaces(registry, known.namespaces)
    other_topics = 0
    if not known.namespaces:
        with suppress(OutsideError):
            other_topics = sum(len(registry.list_topics(name)) for name in other_namespaces)
    recorded = SnapshotRegistry(registry.name, tree, registry.broker)
    names = plan_input.desired.topics.keys()
    versions = recorded_at_head(root, recorded, address=registry.address)(names)
    registered = [restore.topic for restore in managed.topics.values() if restore.history.entries]
    report = find_drift(
        DriftInput(
            plan_input=plan_input,
            plan=plan,
            provenance=provenance or Provenance(),
            recorded=None if recorded.is_empty else recorded.observe(_scope(plan_input)),
            recording=None if recorded.is_empty else _recording(root, tree, recorded),
            unmanaged=unmanaged.topics,
            unmanaged_namespaces=unmanaged.namespaces,
            without_schema=len(unmanaged.without_schema),
            unlisted=unmanaged.unlisted,
            other_namespaces=other_namespaces,
            other_topics=other_topics,
            limits=(
                *known.limits,
                *limits,
                *short_lived_limits(registry, registered),
                *journal_notes(versions, registry.address),
                *(
                    f"A restore did not come to its end: {policy.subject} has "
                    f"{held_text([policy])}; run it again."
                    for policy in still_held(versions.held, plan_input.observed)
                ),
                *redefined_notes(plan, versions, definitions_at_head(root, repository.topics)),
                *client_limits,
            ),
            versions=versions,
        )
    )
    report = replace(report, new_clients=new_clients)
    topics = {
        **plan_input.observed.topics,
        **{restore.topic: restore for restore in unmanaged.topics},
    }
    return FoundDrift(report=report, observed=replace(plan_input.observed, topics=topics))


def _add_live_clients(
    source: ClientSource, plan_input: PlanInput, progress: Progress
) -> tuple[PlanInput, dict[TopicName, ObservedTopic], tuple[str, ...]]:
    """The input with the connected clients, those that nobody declared or recorded, and limits."""
    recorded = plan_input.observed_clients or ObservedClients()
    topics = [name for name, state in plan_input.observed.topics.items() if state.exists]
    live = source.observe_clients(topics, progress)
    new = {}
    for topic, seen in sorted(live.topics.items()):
        undeclared = seen.undeclared(topic, plan_input.clients)
        unrecorded = undeclared.without(recorded.topics.get(topic, ObservedTopic()))
        if unrecorded.is_used:
            new[topic] = unrecorded
    plan_input = replace(plan_input, observed_clients=recorded.with_live(live))
    return plan_input, new, tuple(unread_limits(live))


def adopt_drift(
    found_drift: FoundDrift,
    planning: PlanRequest,
    root: Path,
    tree: FileTree,
    subjects: Collection[NamespaceName | TopicName],
) -> Adoption:
    """The files that adopt the drift of these subjects, of all without any.

    Raises UsageError for a subject that has not drifted, OutsideError.
    """
    drifted = {drift.subject for drift in found_drift.report.drifts}
    if strange := sorted(map(str, {*subjects} - drifted)):
        verb = "has" if len(strange) == 1 else "have"
        hint = "`pulsar-gitops drift` lists what has drifted"
        raise UsageError(f"{', '.join(strange)} {verb} not drifted", hint=hint)
    drifts = [
        drift for drift in found_drift.report.drifts if not subjects or drift.subject in subjects
    ]
    new = frozenset(drift.namespace for drift in drifts if isinstance(drift, UnmanagedNamespace))
    namespaces = planning.registry.observe(Scope(namespaces=new)).namespaces if new else {}
    observed = found_drift.observed
    return adopt(
        AdoptionInput(
            tree=tree,
            repository=planning.repository,
            drifts=drifts,
            observed=replace(observed, namespaces={**observed.namespaces, **namespaces}),
            overrides=planning.config.namespaces,
            uncommitted=partial(uncommitted_files, tree, root),
        )
    )


def _other_namespaces(
    registry: Registry, known: Collection[NamespaceName]
) -> tuple[tuple[NamespaceName, ...], tuple[str, ...]]:
    """Namespaces of the same tenants that no file ever had, or why they are unknown.

    Of all tenants where the files never had a namespace: then nothing is managed.
    """
    tenants = {name.tenant for name in known}
    try:
        listed = registry.list_namespaces()
    except OutsideError as error:
        of_tenants = " of the same tenants" if tenants else ""
        return (), (f"Other namespaces{of_tenants} are unknown: {error.what}.",)
    others = (namespace for namespace in listed if not tenants or namespace.tenant in tenants)
    return tuple(namespace for namespace in others if namespace not in known), ()


def _scope(plan_input: PlanInput) -> Scope:
    desired = plan_input.desired
    return Scope(
        namespaces=frozenset(desired.namespaces),
        topics=frozenset(desired.topics),
        partitions=frozenset(desired.partitions),
    )


def _recording(root: Path, tree: FileTree, snapshot: SnapshotRegistry) -> Recording:
    """The snapshot's time, and its commit and day where git knows them."""
    taken, folder = recorded_time(tree, snapshot.name), snapshot.address
    try:
        with open_checkout(root) as checkout:
            head = head_of(checkout)
            commit, day = last_commit(checkout, head, folder) if head else ("", "")
    except GitopsError:
        return Recording(taken=taken)
    return Recording(commit=commit, day=day, taken=taken)
