"""What a registry holds that no file declares."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gitops.changes.known_names import KnownNames
from gitops.model.errors import OutsideError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.state import RegistryState, Scope, TopicState
from gitops.ports import Progress, Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmanaged:
    """Topics that a manifest could be written for, and how many others there are.

    `namespaces` exist and were managed by earlier files. The topics of the `unlisted` ones cannot
    be listed or read.
    """

    topics: tuple[TopicState, ...] = ()
    without_schema: int = 0
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
) -> Unmanaged:
    """Look in the namespaces of `managed`, which is observed, and in those that are known.

    In a namespace that the files do not have any more only known topics count: others may be
    somebody else's. Where it is not `required`, what cannot be read is in nobody's way; else this
    raises OutsideError.
    """
    names = sorted({*managed.namespaces, *known.namespaces})
    found: dict[NamespaceName, _Namespace] = {}
    for done, name in enumerate(names):
        progress("looking for unmanaged topics", done, len(names))
        try:
            found[name] = _look_into(name, registry, managed, known)
        except OutsideError:
            if required:
                raise
    topics = [(one, its.listed) for its in found.values() for one in its.topics]
    return Unmanaged(
        topics=tuple(one for one, _ in topics if not one.is_empty),
        without_schema=sum(one.is_empty and one.topic in listed for one, listed in topics),
        namespaces=tuple(
            name for name, its in found.items() if its.exists and name not in managed.namespaces
        ),
        unlisted=tuple(name for name in names if name not in found),
    )


def _look_into(
    name: NamespaceName, registry: Registry, managed: RegistryState, known: KnownNames
) -> _Namespace:
    state = managed.namespaces.get(name)
    listed = frozenset(registry.list_topics(name) if state and state.exists else ())
    named = (topic for topic in known.topics if topic.namespace == name)
    wanted = _without_manifest([*listed, *named], managed)
    if not wanted and state:
        return _Namespace(exists=state.exists, topics=(), listed=listed)
    seen = registry.observe(Scope(namespaces=frozenset({name}), topics=wanted))
    topics = tuple(seen.topics[topic] for topic in sorted(seen.topics))
    return _Namespace(exists=seen.namespaces[name].exists, topics=topics, listed=listed)


def _without_manifest(topics: Iterable[TopicName], managed: RegistryState) -> frozenset[TopicName]:
    """Those of which no manifest has the schema history, one for each history."""
    taken = {topic.keeper for topic in managed.topics}
    # Persistent ones come last, and so stand for both domains.
    by_history = {topic.keeper: topic for topic in sorted(topics, key=lambda one: one.domain)}
    return frozenset(topic for keeper, topic in by_history.items() if keeper not in taken)
