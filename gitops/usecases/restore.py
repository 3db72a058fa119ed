"""`restore`: the recorded histories of a registry, with their version numbers, made again."""

from __future__ import annotations

from collections.abc import Collection

from gitops.model.errors import UsageError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.restore import Restore, RestoreCheck
from gitops.model.state import NamespaceState, RegistryState, Scope
from gitops.planning.restore import RestoreInput, check_restore, prove_restore
from gitops.ports import FileTree, Progress, Registry, UnreadableTopicsError, no_progress
from gitops.repository import snapshots


def read_snapshot(
    tree: FileTree, registry: str, namespaces: Collection[NamespaceName] = ()
) -> RegistryState:
    """All that was recorded of a registry, or of these namespaces of it; each file is read once.

    Raises UsageError for a broken file, and for a namespace that was not recorded.
    """
    known = sorted(snapshots.recorded_namespaces(tree, registry))
    if missing := sorted(set(namespaces) - set(known)):
        raise UsageError(
            f"the snapshot has no namespace {missing[0]}",
            where=snapshots.folder_of(registry),
            hint=f"it has {', '.join(map(str, known))}",
        )
    wanted = namespaces or known
    spaces = {name: NamespaceState(namespace=name) for name in wanted}
    topics, partitions = {}, {}
    for path in snapshots.snapshot_files(tree, registry):
        if snapshots.namespace_of(path) not in spaces:
            continue
        if snapshots.is_of_topic(path):
            topic, found = snapshots.read_topic(tree, path)
            topics[topic.topic], partitions[topic.topic] = topic, found
        else:
            namespace = snapshots.read_namespace_state(tree, path)
            spaces[namespace.namespace] = namespace
    return RegistryState(namespaces=spaces, topics=topics, partitions=partitions)


def restore(
    source: str, recorded: RegistryState, registry: Registry, progress: Progress = no_progress
) -> Restore:
    """What restores the snapshot of `source` into the registry, or what keeps it from that.

    Nothing is written. Raises OutsideError where the registry does not answer.
    """
    live, unreadable = _observe(recorded, registry, progress)
    return prove_restore(
        RestoreInput(
            source=source,
            recorded=recorded,
            live=live,
            registry=registry.name,
            address=registry.address,
            broker=registry.broker,
            unreadable=unreadable,
        )
    )


def check(
    recorded: RegistryState, registry: Registry, progress: Progress = no_progress
) -> RestoreCheck:
    """Read every version back, once all of them should be there."""
    return check_restore(recorded, registry.observe(_scope(recorded), progress))


def _observe(
    recorded: RegistryState, registry: Registry, progress: Progress
) -> tuple[RegistryState, dict[TopicName, str]]:
    try:
        return registry.observe(_scope(recorded), progress), {}
    except UnreadableTopicsError as error:
        return error.state, dict(error.reasons)


def _scope(recorded: RegistryState) -> Scope:
    """What was recorded, and whether the topics exist that existed."""
    existed = (name for name, one in recorded.partitions.items() if one.exists)
    return Scope(
        namespaces=frozenset(recorded.namespaces),
        topics=frozenset(recorded.topics),
        partitions=frozenset(existed),
    )
