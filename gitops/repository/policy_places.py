"""Where a policy stands in the files."""

from __future__ import annotations

from gitops.model.errors import UnreadableFileError
from gitops.model.findings import Location
from gitops.model.names import NamespaceName, TopicName
from gitops.model.repository import Repository
from gitops.ports import FileTree
from gitops.repository.documents.base import Document
from gitops.repository.documents.config import ConfigDocument
from gitops.repository.documents.namespace import NamespaceDocument
from gitops.repository.documents.reading import Manifest
from gitops.repository.documents.topic import TopicDocument
from gitops.repository.loading.layout import CONFIG, NAMESPACE_FILE
from gitops.repository.positions import Path


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


def _place(
    tree: FileTree, file: str, model: type[Document], path: Path, *, at_key: bool = False
) -> Location | None:
    """The place of a value that stands there, None where nothing does."""
    try:
        manifest = Manifest(file, tree.read(file), model)
    except UnreadableFileError:
        return None
    return manifest.location(path, at_key=at_key) if path in manifest.parsed.values else None
