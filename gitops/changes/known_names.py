"""The topics and namespaces that a registry may have, and those that no file declares."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Final

from gitops.git.checkout import Checkout, GitFailedError, open_checkout
from gitops.git.history import oldest_known, replaced_files
from gitops.git.references import head_of
from gitops.git.tree import CommitTree, files_with_words, tree_of
from gitops.model.errors import GitopsError, OutsideError, UnreadableFileError, UsageError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.state import (
    NamespaceState,
    PlanScope,
    RegistryState,
    Repository,
    Scope,
    TopicState,
)
from gitops.ports import FileTree, Progress, Registry
from gitops.repository.loading.layout import layout
from gitops.repository.loading.namespaces import folder_namespace
from gitops.repository.loading.topics import TOPIC_KEYS, declared_topic, topic_of_path
from gitops.repository.snapshots import recorded_namespaces, recorded_topics
from gitops.repository.suggestions import closest

_MANIFESTS: Final = "namespaces/*/*/*.yaml"
_UNKNOWN: Final = "Topics that only earlier files named are unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownNames:
    """Names from everywhere; `limits` are whole sentences on what they may lack.

    `namespaces` are those that the repository manages or has managed. `has_history` is false
    where there is no git repository, so that nothing is known of earlier files.
    """

    topics: frozenset[TopicName] = frozenset()
    namespaces: frozenset[NamespaceName] = frozenset()
    limits: tuple[str, ...] = ()
    has_history: bool = True

    def within(self, scope: PlanScope) -> KnownNames:
        """The names in the namespaces of a scope."""
        return replace(
            self,
            topics=frozenset(topic for topic in self.topics if topic.namespace in scope.namespaces),
            namespaces=self.namespaces & scope.namespaces,
        )

    def __or__(self, other_known_names: KnownNames) -> KnownNames:
        """The names of both."""
        return KnownNames(
            topics=self.topics | other_known_names.topics,
            namespaces=self.namespaces | other_known_names.namespaces,
            limits=(*self.limits, *other_known_names.limits),
            has_history=self.has_history and other_known_names.has_history,
        )


def known_names(root: Path, tree: FileTree, repository: Repository, registry: str) -> KnownNames:
    """What the files below `root`, their history and the snapshot of a registry name.

    Without git, or where git fails, the names of the history are missing, and `limits` says so.
    """
    return reduce(
        KnownNames.__or__,
        (_names_of_files(repository), _names_of_snapshot(tree, registry), _names_of_history(root)),
    )


def _names_of_files(repository: Repository) -> KnownNames:
    """What manifests declare, and what clients use in the namespaces of these."""
    desired = repository.desired
    namespaces = frozenset(desired.namespaces) | {topic.namespace for topic in desired.topics}
    consumed = {use.topic for client in repository.clients for use in client.consumes}
    produced = {use.topic for client in repository.clients for use in client.produces}
    used = {topic for topic in consumed | produced if topic.namespace in namespaces}
    return KnownNames(topics=frozenset(desired.topics) | used, namespaces=namespaces)


def _names_of_snapshot(tree: FileTree, registry: str) -> KnownNames:
    return KnownNames(
        topics=recorded_topics(tree, registry), namespaces=recorded_namespaces(tree, registry)
    )


def _names_of_history(root: Path) -> KnownNames:
    """What manifests declared at the commit that is checked out, and at those before it."""
    try:
        with open_checkout(root) as checkout:
            commit = head_of(checkout)
            return _up_to(checkout, commit) if commit else KnownNames()
    except GitopsError as error:
        limit = f"{_UNKNOWN}: {error.what}."
        return KnownNames(limits=(limit,), has_history=not isinstance(error, UsageError))


def _up_to(checkout: Checkout, commit: str) -> KnownNames:
    declared = (*_at(checkout, commit), *_before(checkout, commit))
    oldest = oldest_known(checkout, commit)
    limit = (
        f"{_UNKNOWN}: the clone is shallow and begins at {oldest[:7]} (git fetch --unshallow)."
        if oldest
        else ""
    )
    return KnownNames(
        topics=frozenset(topic for _, topic in declared if topic),
        namespaces=frozenset(name for name, _ in declared if name),
        limits=(limit,) if limit else (),
    )


_Declared = tuple[NamespaceName | None, TopicName | None]
"""What a manifest is about, as far as its path and its content are names."""


def _at(checkout: Checkout, commit: str) -> Iterator[_Declared]:
    """What the manifests of a commit are about; only those with a key `topic` are read."""
    tree = tree_of(checkout, commit)
    result = layout(tree.paths())
    named = files_with_words(checkout, commit, TOPIC_KEYS, [".yaml"])
    for file in result.namespaces:
        yield folder_namespace(file), None
    for file in result.topics:
        yield folder_namespace(file), _topic(tree, file) if file in named else topic_of_path(file)


def _topic(tree: CommitTree, file: str) -> TopicName | None:
    try:
        return declared_topic(file, tree.read(file))
    except (UnreadableFileError, GitFailedError):
        return topic_of_path(file)


def _before(checkout: Checkout, commit: str) -> Iterator[_Declared]:
    """What manifests were about that were removed or changed since."""
    replaced = replaced_files(checkout, commit, _MANIFESTS)
    topics = frozenset(layout(item.path for item in replaced).topics)
    for version in replaced:
        namespace = folder_namespace(version.path)
        if version.path not in topics:
            yield namespace, None
            continue
        try:
            yield namespace, declared_topic(version.path, checkout.blob(version.blob, version.path))
        except (UnreadableFileError, GitFailedError):
            yield namespace, topic_of_path(version.path)


# What a registry holds that no file declares.


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmanagedTopics:
    """Topics that a manifest could be written for, and others, which have no schema.

    `namespaces` exist and were managed by earlier files. The topics of the `unlisted` ones cannot
    be listed or read.
    """

    topics: tuple[TopicState, ...] = ()
    without_schema: tuple[TopicName, ...] = ()
    namespaces: tuple[NamespaceName, ...] = ()
    unlisted: tuple[NamespaceName, ...] = ()


@dataclass(frozen=True, slots=True)
class _Namespace:
    """What one namespace holds of topics that may be unmanaged; `listed` are all it can name."""

    exists: bool
    topics: tuple[TopicState, ...]
    listed: frozenset[TopicName]


def find_unmanaged(
    registry: Registry,
    managed: RegistryState,
    known: KnownNames,
    progress: Progress,
    *,
    required: bool,
) -> UnmanagedTopics:
    """Look in the namespaces of `managed`, which is observed, and in those that are known.

    In a namespace that the files do not have any more only known topics count: others may be
    somebody else's. Where it is not `required`, what cannot be read is in nobody's way; else this
    raises OutsideError.
    """
    names = sorted({*managed.namespaces, *known.namespaces})
    taken = _by_namespace(topic.keeper for topic in managed.topics)
    named = _by_namespace(known.topics)
    grouped: dict[NamespaceName, _Namespace] = {}
    for done, name in enumerate(names):
        progress("looking for unmanaged topics", done, len(names))
        try:
            state = managed.namespaces.get(name)
            without_manifest = _Wanted(named=named[name], taken=taken[name])
            grouped[name] = _look_into(name, registry, state, without_manifest)
        except OutsideError:
            if required:
                raise
    topics = [
        (topic, namespace.listed) for namespace in grouped.values() for topic in namespace.topics
    ]
    return UnmanagedTopics(
        topics=tuple(item for item, _ in topics if not item.is_empty),
        without_schema=tuple(
            item.topic for item, listed in topics if item.is_empty and item.topic in listed
        ),
        namespaces=tuple(
            name
            for name, namespace in grouped.items()
            if namespace.exists and name not in managed.namespaces
        ),
        unlisted=tuple(name for name in names if name not in grouped),
    )


def _by_namespace(topics: Iterable[TopicName]) -> defaultdict[NamespaceName, set[TopicName]]:
    grouped: defaultdict[NamespaceName, set[TopicName]] = defaultdict(set)
    for topic in topics:
        grouped[topic.namespace].add(topic)
    return grouped


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wanted:
    """Topics of a namespace that are `named` somewhere, and those whose history is `taken`."""

    named: Collection[TopicName]
    taken: Collection[TopicName]

    def unnamed_topics(self, listed: Iterable[TopicName]) -> frozenset[TopicName]:
        """Those of which no manifest has the schema history, one for each history."""
        # Persistent ones come last, and so stand for both domains.
        both = sorted([*listed, *self.named], key=lambda topic: topic.domain)
        by_history = {topic.keeper: topic for topic in both}
        return frozenset(topic for keeper, topic in by_history.items() if keeper not in self.taken)


def _look_into(
    name: NamespaceName, registry: Registry, state: NamespaceState | None, wanting: _Wanted
) -> _Namespace:
    listed = frozenset(registry.list_topics(name) if state and state.exists else ())
    wanted = wanting.unnamed_topics(listed)
    if not wanted and state:
        return _Namespace(exists=state.exists, topics=(), listed=listed)
    seen = registry.observe(Scope(namespaces=frozenset({name}), topics=wanted))
    topics = tuple(seen.topics[topic] for topic in sorted(seen.topics))
    return _Namespace(exists=seen.namespaces[name].exists, topics=topics, listed=listed)


# A name that is meant, where a registry has none like it.


def similar_topic(registry: Registry, topic: TopicName) -> str:
    """A topic of the namespace with nearly this name, as a question; empty where none is known."""
    try:
        known = registry.list_topics(topic.namespace)
    except OutsideError:
        return ""
    names = {item.local_name: item for item in known}
    near = closest(topic.local_name, names)
    return f"did you mean {names[near]}?" if near else ""
