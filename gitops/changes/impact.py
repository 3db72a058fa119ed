"""What a change touches and what it reaches."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from gitops.changes.change import LoadedChange
from gitops.changes.registries import changed_overrides, defaults_differ
from gitops.model.check import Impact
from gitops.model.clients import Client
from gitops.model.names import NamespaceName, TopicName
from gitops.model.schema import SchemaInfo
from gitops.model.state import Repository, TopicSource
from gitops.model.waivers import Waiver
from gitops.planning.fingerprints import is_same
from gitops.repository.loading.layout import CONFIG

_Key = tuple[NamespaceName, str]


def impact_of(loaded: LoadedChange) -> Impact:
    """Topics, namespaces, clients and waivers, each with what leads there."""
    namespaces = _namespaces(loaded)
    removed = _removed(loaded)
    renamed = _renamed(loaded, removed)
    topics = _topics(loaded, _ruling(loaded, namespaces))
    return Impact(
        topics=dict(sorted(topics.items())),
        namespaces=dict(sorted(namespaces.items())),
        clients=_clients(loaded, topics),
        waivers=_waivers(loaded, topics),
        removed=tuple(sorted(removed - set(renamed.values()))),
        renamed=dict(sorted(renamed.items())),
    )


def files_of(source: TopicSource) -> frozenset[str]:
    """The manifest and all definitions of a topic."""
    return frozenset({source.manifest.file, *source.definitions})


def manifest_and_definitions(source: TopicSource) -> frozenset[str]:
    """The manifest and the definitions that it names, without the shared types in them.

    A change of those that leaves the schema as it is does not reach the topic.
    """
    first = [files[0] for files in (source.definitions, *source.halves.values()) if files]
    return frozenset({source.manifest.file, *first})


def differs(loaded: LoadedChange, topic: TopicName) -> bool:
    """Whether the files want something else of a topic itself than before."""
    states = loaded.base.desired.topics, loaded.head.desired.topics
    return states[0].get(topic) != states[1].get(topic)


def _topics(
    loaded: LoadedChange, ruling: Mapping[NamespaceName, tuple[str, ...]]
) -> dict[TopicName, tuple[str, ...]]:
    waived: dict[TopicName | NamespaceName, set[str]] = {}
    for repository in (loaded.base, loaded.head):
        for waiver in repository.waivers:
            if waiver.location.file in loaded.changed:
                waived.setdefault(waiver.subject, set()).add(waiver.location.file)
    topics = {}
    for topic in loaded.head.topics:
        own = _own_files(loaded, topic, manifest_and_definitions) & loaded.changed
        if differs(loaded, topic):
            own = _own_files(loaded, topic, files_of) & loaded.changed or _leading(loaded, topic)
        own |= loaded.sampled.get(loaded.head.topics[topic].manifest.file, frozenset())
        why = (
            own
            | waived.get(topic, set())
            | waived.get(topic.namespace, set())
            | set(ruling.get(topic.namespace, ()))
        )
        if why:
            topics[topic] = tuple(sorted(why))
    return topics


def _own_files(
    loaded: LoadedChange, topic: TopicName, files: Callable[[TopicSource], frozenset[str]]
) -> frozenset[str]:
    sources = (repository.topics.get(topic) for repository in (loaded.base, loaded.head))
    return frozenset(path for source in sources if source for path in files(source))


def _leading(loaded: LoadedChange, topic: TopicName) -> frozenset[str]:
    files = (
        loaded.leads.get(path, frozenset[str]()) for path in _own_files(loaded, topic, files_of)
    )
    return frozenset(path for leads in files for path in leads)


def _namespaces(loaded: LoadedChange) -> dict[NamespaceName, tuple[str, ...]]:
    namespaces = {name: {path} for name, path in loaded.namespace_files.items()}
    if loaded.is_config_changed and loaded.had_config:
        for name in changed_overrides(loaded.base.config, loaded.head.config):
            namespaces.setdefault(name, set()).add(CONFIG)
    return {name: tuple(sorted(files)) for name, files in namespaces.items()}


def _ruling(
    loaded: LoadedChange, namespaces: Mapping[NamespaceName, tuple[str, ...]]
) -> dict[NamespaceName, tuple[str, ...]]:
    """Of these namespaces, those whose topics the change reaches: their policies are others."""
    base, head = loaded.base.desired.namespaces, loaded.head.desired.namespaces
    config = loaded.base.config, loaded.head.config
    everywhere = loaded.had_config and defaults_differ(*config)
    rulings = {
        name: files
        for name, files in namespaces.items()
        if CONFIG in files or _policies(base.get(name)) != _policies(head.get(name))
    }
    if everywhere:
        for name in head:
            rulings[name] = tuple(sorted({*rulings.get(name, ()), CONFIG}))
    return rulings


def _policies(state: object) -> object:
    return getattr(state, "policies", None)


def _removed(loaded: LoadedChange) -> frozenset[TopicName]:
    """The topics that no manifest declares any more; one that cannot be read may still do."""
    left = {_key(topic) for topic in loaded.head.topics}
    read = {source.manifest.file for source in loaded.head.topics.values()}
    unread = set(loaded.head_tree.paths()) - read
    return frozenset(
        topic
        for topic, source in loaded.base.topics.items()
        if _key(topic) not in left and source.manifest.file not in unread
    )


def _renamed(loaded: LoadedChange, removed: frozenset[TopicName]) -> dict[TopicName, TopicName]:
    """New → old, for topics that look like one that is gone; each old one is taken once."""
    known = {_key(topic) for topic in loaded.base.topics}
    new = [topic for topic in sorted(loaded.head.topics) if _key(topic) not in known]
    renamed: dict[TopicName, TopicName] = {}
    for sure in (True, False):
        for topic in new:
            left = sorted(removed - set(renamed.values()))
            old = next((o for o in left if _is_renamed(loaded, topic, o, sure=sure)), None)
            if topic not in renamed and old:
                renamed[topic] = old
    return renamed


def _is_renamed(loaded: LoadedChange, new: TopicName, old: TopicName, *, sure: bool) -> bool:
    """Whether a new topic is an old one by another name; `sure`: it has the very same schema."""
    schema, other_schema = _schema(loaded.head, new), _schema(loaded.base, old)
    if schema is None or other_schema is None or schema.type is not other_schema.type:
        return False
    sources = loaded.head.topics[new], loaded.base.topics[old]
    if sure:
        return bool(schema.schema) and is_same(schema, other_schema)
    after, before = map(_first_file, sources)
    if loaded.renamed.get(after, after) == before:
        return True
    # Git pairs no file that is not staged; a definition's text was compared before.
    alike = loaded.head_tree.read(after) == loaded.base_tree.read(before)
    return not schema.schema and alike


def _first_file(source: TopicSource) -> str:
    """The file that tells topics apart: the definition, else the manifest."""
    return source.definitions[0] if source.definitions else source.manifest.file


def _schema(repository: Repository, topic: TopicName) -> SchemaInfo | None:
    state = repository.desired.topics.get(topic)
    latest = state.history.latest if state else None
    return latest.info if latest else None


def _key(topic: TopicName) -> _Key:
    """What a schema history belongs to: the domain is no part of it."""
    return topic.namespace, topic.local_name


def _is_about(waiver: Waiver, touched: Collection[_Key]) -> bool:
    if isinstance(waiver.subject, TopicName):
        return _key(waiver.subject) in touched
    return any(namespace == waiver.subject for namespace, _ in touched)


def _clients(loaded: LoadedChange, topics: Iterable[TopicName]) -> tuple[str, ...]:
    touched = {_key(topic) for topic in topics}
    names = {
        client.name
        for repository in (loaded.base, loaded.head)
        for client in repository.clients
        if client.location.file in loaded.leads
        or any(_key(topic) in touched for topic in _topics_of(client))
    }
    return tuple(sorted(names))


def topics_of_clients(loaded: LoadedChange, names: Iterable[str]) -> frozenset[TopicName]:
    """The topics of clients whose own files were changed, before or after."""
    wanted = set(names)
    return frozenset(
        topic
        for repository in (loaded.base, loaded.head)
        for client in repository.clients
        if client.name in wanted
        and not loaded.changed.isdisjoint({client.location.file, *client.definitions})
        for topic in _topics_of(client)
    )


def _topics_of(client: Client) -> list[TopicName]:
    return [
        *(use.topic for use in client.consumes),
        *(use.topic for use in client.produces),
    ]


def _waivers(loaded: LoadedChange, topics: Iterable[TopicName]) -> tuple[str, ...]:
    touched = {_key(topic) for topic in topics}
    names = {
        waiver.name
        for repository in (loaded.base, loaded.head)
        for waiver in repository.waivers
        if waiver.location.file in loaded.changed or _is_about(waiver, touched)
    }
    return tuple(sorted(names))
