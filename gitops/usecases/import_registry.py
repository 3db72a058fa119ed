"""What a registry has and no manifest declares, as new files of a repository."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gitops.model.errors import NotThereError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.state import RegistryState, Repository, Scope
from gitops.ports import FileTree, Progress, Registry, no_progress
from gitops.repository.observed_clients import require_clients, unread_notes
from gitops.repository.writing.client_manifests import propose_clients
from gitops.repository.writing.imported_files import ImportedFiles, imported_files


def import_new_topics(  # noqa: PLR0913 - all different
    registry: Registry,
    tree: FileTree,
    repository: Repository,
    *,
    namespaces: tuple[NamespaceName, ...] = (),
    recorded: Iterable[TopicName] = (),
    clients: bool = False,
    progress: Progress = no_progress,
) -> tuple[ImportedFiles, tuple[TopicName, ...], tuple[TopicName, ...]]:
    """The files of what has no manifest yet, its topics, and the topics that have one.

    With `clients` also manifests of clients that the statistics of all these topics show and nobody
    declares. Raises NotThereError for a namespace that the registry does not have, and UsageError
    for a registry without clients.
    """
    source = require_clients(registry) if clients else None
    state = observe_all(registry, namespaces=namespaces, recorded=recorded, progress=progress)
    new, kept = new_to(repository, state)
    made = imported_files(tree, repository, new)
    if source is not None:
        observed = source.observe_clients(state.topics, progress)
        histories = {name: topic.history for name, topic in state.topics.items()}
        proposed = propose_clients(
            observed, histories, repository.clients, tree.paths(), registry.name
        )
        notes = (*unread_notes(observed), *proposed.notes)
        made = replace(made, files={**made.files, **proposed.files}, notes=notes)
    return made, tuple(new.topics), kept


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
        state, topics={item.topic: item for item in state.topics.values() if not item.is_empty}
    )


def new_to(
    repository: Repository, state: RegistryState
) -> tuple[RegistryState, tuple[TopicName, ...]]:
    """The part of `state` that has no manifest yet, and the topics that have one."""
    managed = {(topic.namespace, topic.local_name) for topic in repository.desired.topics}
    kept = tuple(t for t in sorted(state.topics) if (t.namespace, t.local_name) in managed)
    new = {name: topic for name, topic in state.topics.items() if name not in kept}
    return replace(state, topics=new), kept
