"""What a registry holds, for recording."""

from __future__ import annotations

from gitops.model.names import TopicName
from gitops.model.state import RegistryState, Repository, Scope
from gitops.ports import Progress, Registry, no_progress


def observe_managed(
    repository: Repository,
    registry: Registry,
    recorded: frozenset[TopicName],
    progress: Progress = no_progress,
) -> RegistryState:
    """The repository's namespaces with all their topics.

    Topics come from the files, from what was recorded before, and from the registry itself,
    which does not list a topic whose schema was posted before the topic was created.
    """
    desired = repository.desired
    namespaces = frozenset(desired.namespaces) | {topic.namespace for topic in desired.topics}
    known = set(desired.topics)
    taken = {(topic.namespace, topic.local_name) for topic in known}
    exist = registry.observe(Scope(namespaces=namespaces)).namespaces
    listed = [
        topic
        for name in sorted(namespaces)
        if exist[name].exists
        for topic in registry.list_topics(name)
    ]
    for topic in (*listed, *sorted(recorded)):
        if topic.namespace in namespaces and (topic.namespace, topic.local_name) not in taken:
            known.add(topic)
            taken.add((topic.namespace, topic.local_name))
    return registry.observe(Scope(namespaces=namespaces, topics=frozenset(known)), progress)
