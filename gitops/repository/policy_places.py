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
    registry: str,
) -> Location | None:
    """The line of a policy, as it holds for a registry; None where no file says it."""
    if isinstance(subject, TopicName):
        source = repository.topics.get(subject)
        if source is None:
            return None
        return _place(tree, source.manifest.file, TopicDocument, ("policies", key))
    override = _place(
        tree, CONFIG, ConfigDocument, ("registries", registry, "namespaces", str(subject), key)
    )
    own = f"namespaces/{subject}/{NAMESPACE_FILE}"
    return override or _place(tree, own, NamespaceDocument, (key,))


def settings_place(tree: FileTree, path: Path) -> Location | None:
    """The line of a key of gitops.yaml, None where it does not stand there."""
    return _place(tree, CONFIG, ConfigDocument, path)


def _place(tree: FileTree, file: str, model: type[Document], path: Path) -> Location | None:
    """The place of a value that stands there, None where nothing does."""
    try:
        manifest = Manifest(file, tree.read(file), model)
    except UnreadableFileError:
        return None
    return manifest.location(path) if path in manifest.parsed.values else None
