"""`restore`: the recorded histories of a registry, with their version numbers, made again."""

from __future__ import annotations

from collections.abc import Collection

from gitops.model.errors import UsageError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.restore import Restore, RestoreCheck
from gitops.model.state import RegistryState, Scope
from gitops.planning.restore import RestoreInput, check_restore, prove_restore
from gitops.ports import Progress, Registry, UnreadableTopicsError, no_progress


def read_snapshot(
    recorded: Registry, namespaces: Collection[NamespaceName], progress: Progress = no_progress
) -> RegistryState:
    """All that was recorded of these namespaces, or of all; raises UsageError for others."""
    known = recorded.list_namespaces()
    if missing := sorted(set(namespaces) - set(known)):
        raise UsageError(
            f"the snapshot has no namespace {missing[0]}",
            where=recorded.address,
            hint=f"it has {', '.join(map(str, known))}",
        )
    wanted = tuple(namespaces) or known
    topics = frozenset(topic for name in wanted for topic in recorded.list_topics(name))
    return recorded.observe(Scope(namespaces=frozenset(wanted), topics=topics), progress)


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
    return Scope(namespaces=frozenset(recorded.namespaces), topics=frozenset(recorded.topics))
