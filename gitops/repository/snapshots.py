"""`snapshots/`: the recorded version history of a registry, one file for each topic.

A namespace's policies stand beside its folder, as `<namespace>.json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from pydantic import ValidationError

from gitops.model.errors import UnreadableFileError, UsageError
from gitops.model.names import TopicName
from gitops.model.policy import plain_policies
from gitops.model.schema import SchemaEntry
from gitops.model.state import NamespaceState, RegistryState, TopicState
from gitops.ports import FileTree
from gitops.repository.documents.base import API_VERSION
from gitops.repository.documents.snapshot import TopicSnapshot
from gitops.repository.writing.file_names import FileNames

_TOPIC_DEPTH = 5


def folder_of(registry: str) -> str:
    """The folder of a registry's snapshot."""
    return f"snapshots/{registry}"


def recorded_topics(tree: FileTree, registry: str) -> frozenset[TopicName]:
    """The topics that the snapshot of a registry names; raises UsageError for a broken file."""
    return frozenset(TopicName.parse(document.topic) for document in _topics(tree, registry))


def snapshot_files(tree: FileTree, registry: str) -> tuple[str, ...]:
    """The paths of a registry's snapshot."""
    start = f"{folder_of(registry)}/"
    return tuple(path for path in tree.paths() if path.startswith(start))


def render(registry: str, state: RegistryState) -> dict[str, bytes]:
    """Path → content of the snapshot of a state; topics that never had a schema are left out."""
    files = dict(_namespace_file(registry, ns) for ns in state.namespaces.values() if ns.exists)
    names = FileNames(files)
    for _, topic in sorted(state.topics.items()):
        if topic.history.entries or topic.history.next_version:
            path, content = _topic_file(registry, topic, names)
            files[path] = content
    return files


def _topics(tree: FileTree, registry: str) -> Iterator[TopicSnapshot]:
    for path in snapshot_files(tree, registry):
        if path.count("/") == _TOPIC_DEPTH - 1 and path.endswith(".json"):
            try:
                yield TopicSnapshot.model_validate_json(tree.read(path))
            except (ValidationError, UnreadableFileError) as error:
                what = _why(error)
                raise UsageError(
                    f"the snapshot cannot be read: {what}",
                    where=path,
                    hint="remove the file, then record it again with `pulsar-gitops snapshot`",
                ) from None


def _why(error: ValidationError | UnreadableFileError) -> str:
    if isinstance(error, UnreadableFileError):
        return error.what
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else str(first["msg"])


def _namespace_file(registry: str, state: NamespaceState) -> tuple[str, bytes]:
    document = {
        "apiVersion": API_VERSION,
        "kind": "NamespaceSnapshot",
        "namespace": str(state.namespace),
        "policies": plain_policies(state.policies),
    }
    return f"{folder_of(registry)}/{state.namespace}.json", _json(document)


def _topic_file(registry: str, state: TopicState, names: FileNames) -> tuple[str, bytes]:
    folder = f"{folder_of(registry)}/{state.topic.namespace}"

    def files(stem: str) -> Iterable[str]:
        return (f"{folder}/{stem}.json",)

    document = {
        "apiVersion": API_VERSION,
        "kind": "TopicSnapshot",
        "topic": str(state.topic),
        "nextVersion": state.history.next_version,
        "policies": plain_policies(state.policies),
        "versions": [_version(entry) for entry in state.history.entries],
    }
    return f"{folder}/{names.stem(state.topic, files)}.json", _json(document)


def _version(entry: SchemaEntry) -> dict[str, object]:
    return {
        "version": entry.version,
        "type": entry.info.type.value,
        "timestamp": entry.timestamp,
        "schema": entry.info.schema,
        "properties": dict(sorted(entry.info.properties.items())),
    }


def _json(document: Mapping[str, object]) -> bytes:
    # ASCII only, so that a lone surrogate or a line separator in a schema does no harm.
    return f"{json.dumps(document, indent=2)}\n".encode()
