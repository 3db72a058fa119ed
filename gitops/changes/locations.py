"""Locations of a change's policies, settings and definitions, in its new files or in the base."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from gitops.changes.change import LoadedChange
from gitops.changes.registries import former_name
from gitops.model.errors import UnreadableFileError
from gitops.model.findings import Finding, Location, group
from gitops.model.names import NamespaceName, TopicName
from gitops.model.state import RegistryState, Repository
from gitops.planning.fingerprints import is_same
from gitops.planning.lockouts import LocatePolicy
from gitops.ports import FileTree
from gitops.repository.definitions.locations import Locator
from gitops.repository.documents.base import Document
from gitops.repository.documents.config import ConfigDocument
from gitops.repository.documents.manifests import NamespaceDocument, TopicDocument
from gitops.repository.documents.parser import Manifest
from gitops.repository.loading.layout import CONFIG, NAMESPACE_FILE
from gitops.repository.positions import Path

# Where a policy stands in the files.


def policy_place(
    tree: FileTree,
    repository: Repository,
    subject: NamespaceName | TopicName,
    key: str,
) -> Location | None:
    """The line of a policy in its subject's own file; None where that does not say it."""
    if isinstance(subject, TopicName):
        source = repository.topics.get(subject)
        if source is None:
            return None
        return _place(tree, source.manifest.file, TopicDocument, ("policies", key))
    return _place(tree, f"namespaces/{subject}/{NAMESPACE_FILE}", NamespaceDocument, (key,))


def override_place(
    tree: FileTree, subject: NamespaceName | TopicName, key: str, registry: str
) -> Location | None:
    """The line of a policy that a registry has of its own; None where it has none."""
    return settings_place(tree, ("registries", registry, "namespaces", str(subject), key))


def settings_place(tree: FileTree, path: Path, *, at_key: bool = False) -> Location | None:
    """The line of a value of gitops.yaml, or of its key; None where it does not stand there."""
    return _place(tree, CONFIG, ConfigDocument, path, at_key=at_key)


def policy_locator(tree: FileTree, repository: Repository, registry: str) -> LocatePolicy:
    """Finds the lines of policies as they hold for a registry; each is looked for once."""

    @cache
    def locate(subject: NamespaceName | TopicName | None, key: str) -> Location | None:
        if subject is None:
            setting = (key,) if key == "broker" else ("brokerDefaults", key)
            return settings_place(tree, ("registries", registry, *setting))
        own = policy_place(tree, repository, subject, key)
        if isinstance(subject, TopicName):
            return own
        return override_place(tree, subject, key, registry) or own

    return locate


def _place(
    tree: FileTree, file: str, model: type[Document], path: Path, *, at_key: bool = False
) -> Location | None:
    """The place of a value that stands there, None where nothing does."""
    try:
        manifest = Manifest(file, tree.read(file), model)
    except UnreadableFileError:
        return None
    return manifest.location(path, at_key=at_key) if path in manifest.parsed.values else None


# Where a setting of a change stands: in the new files, or in the base where it is gone.


def place_of_policy(
    loaded: LoadedChange, subject: NamespaceName | TopicName, key: str, registry: str
) -> Location | None:
    """The policy's line, as it holds for a registry.

    What a registry no longer says by itself stands in the base, although the namespace's own file
    may say something else still.
    """
    new = override_place(loaded.head_tree, subject, key, registry)
    return (
        new
        or _base_location(override_place(loaded.base_tree, subject, key, _former(loaded, registry)))
        or policy_place(loaded.head_tree, loaded.head, subject, key)
        or _base_location(policy_place(loaded.base_tree, loaded.base, subject, key))
    )


def place_of_setting(loaded: LoadedChange, path: Path, *, at_key: bool = False) -> Location | None:
    """The line of a key of gitops.yaml."""
    new = settings_place(loaded.head_tree, path, at_key=at_key)
    return new or _base_location(settings_place(loaded.base_tree, path, at_key=at_key))


def _former(loaded: LoadedChange, registry: str) -> str:
    return former_name(registry, loaded.base.config, loaded.head.config)


def _base_location(where: Location | None) -> Location | None:
    return replace(where, in_base=True) if where else None


# Places in the base for findings that compare with a version: there it stands in a file.


class BaseLocations:
    """Finds the lines of the base, where the base holds the version that is compared with."""

    def __init__(self, loaded: LoadedChange, observed: RegistryState) -> None:
        self._loaded = loaded
        self._observed = observed
        self._locator = Locator(loaded.base_tree, loaded.base.topics)
        self._names = {topic.keeper: topic for topic in loaded.base.topics}
        self._topics = {str(topic): topic for topic in observed.topics}

    def locate(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """The findings with their places in the base.

        What was removed stands there and nowhere else.
        """
        return tuple(
            group(finding.message, [self._with_location(member) for member in finding.members])
            for finding in findings
        )

    def _with_location(self, finding: Finding) -> Finding:
        topic, where = self._topics.get(finding.subject), finding.compared
        there = self._place(topic, where) if topic and where and not where.line else None
        if there is None or where is None:
            return finding
        if not _is_removed(finding, where):
            return replace(finding, compared=there)
        return replace(finding, location=there, compared=finding.location)

    def _place(self, topic: TopicName, where: Location) -> Location | None:
        name = self._names.get(topic.keeper, topic)
        state = self._loaded.base.desired.topics.get(name)
        latest = state.history.latest if state else None
        entries = self._observed.topics[topic].history.entries
        version = next((entry for entry in entries if f"v{entry.version}" == where.file), None)
        if latest is None or version is None or not is_same(version.info, latest.info):
            return None
        place = self._locator.locate(name, where.pointer)
        return replace(place, in_base=True) if place else None


def _is_removed(finding: Finding, where: Location) -> bool:
    """Whether the finding is about something that the new definition has no place for."""
    old_reads = finding.message.startswith(f"{where.file} cannot read")
    return finding.rule == "PROTO-W001" or (finding.rule == "AVRO-R002" and old_reads)
