"""A registry observed as a whole, and the part of it that a repository does not have yet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gitops.model.errors import NotThereError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.state import RegistryState, Repository, Scope
from gitops.ports import Progress, Registry, no_progress


def observe_all(
    registry: Registry,
    *,
    namespaces: tuple[NamespaceName, ...] = (),
    recorded: Iterable[TopicName] = (),
    progress: Progress = no_progress,
) -> RegistryState:
    """Everything in these namespaces, in all where none is named.

    `recorded` are topics that may exist without being listed. Topics without a schema and
    without policies of their own are left out. Raises NotThereError for a namespace that the
    registry does not have.
    """
    wanted = namespaces or registry.list_namespaces()
    exist = registry.observe(Scope(namespaces=frozenset(wanted))).namespaces
    for name in wanted:
        if not exist[name].exists:
            raise NotThereError(f"there is no namespace '{name}'", where=registry.address)
    topics: dict[tuple[NamespaceName, str], TopicName] = {}
    for done, name in enumerate(wanted):
        progress("list topics", done, len(wanted))
        for topic in registry.list_topics(name):
            topics.setdefault((topic.namespace, topic.local_name), topic)
    for topic in sorted(recorded):
        if topic.namespace in wanted:
            topics.setdefault((topic.namespace, topic.local_name), topic)
    scope = Scope(namespaces=frozenset(wanted), topics=frozenset(topics.values()))
    state = registry.observe(scope, progress)
    return replace(
        state, topics={one.topic: one for one in state.topics.values() if not one.is_empty}
    )


def new_to(
    repository: Repository, state: RegistryState
) -> tuple[RegistryState, tuple[TopicName, ...]]:
    """The part of `state` that has no manifest yet, and the topics that have one."""
    managed = {(topic.namespace, topic.local_name) for topic in repository.desired.topics}
    kept = tuple(t for t in sorted(state.topics) if (t.namespace, t.local_name) in managed)
    new = {name: topic for name, topic in state.topics.items() if name not in kept}
    return replace(state, topics=new), kept
