"""`snapshots/`: the recorded version history of a registry, one file for each topic.

A namespace's policies stand beside its folder, as `<namespace>.json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Final

from pydantic import ValidationError

from gitops.model.errors import InvalidNameError, UnreadableFileError, UsageError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import TopicPolicies, plain_policies
from gitops.model.schema import SchemaEntry, SchemaInfo
from gitops.model.state import NamespaceState, RegistryState, TopicState
from gitops.ports import FileTree
from gitops.repository.broken_snapshots import (
    MOVE_AWAY,
    SNAPSHOTS,
    TOPIC_DEPTH,
    is_placed,
    looks_like_one,
    what_is_wrong,
)
from gitops.repository.documents.base import API_VERSION
from gitops.repository.documents.snapshot import NamespaceSnapshot, TopicSnapshot
from gitops.repository.writing.file_names import FileNames

_TOPIC: Final = re.compile(r'(?<!\\)"topic"\s*:\s*"([^"\\]+)"')


def folder_of(registry: str) -> str:
    """The folder of a registry's snapshot."""
    return f"{SNAPSHOTS}{registry}"


def recorded_topics(tree: FileTree, registry: str) -> frozenset[TopicName]:
    """The topics that the snapshot of a registry names; a broken file's are those of its path."""
    return frozenset(
        topic
        for path in snapshot_files(tree, registry)
        if _is_of_topic(path)
        for topic in _topics_named(path, _peek(tree, path))
    )


def recorded_namespaces(tree: FileTree, registry: str) -> frozenset[NamespaceName]:
    """The namespaces that the snapshot of a registry has files of."""
    start = len(f"{folder_of(registry)}/")
    parts = (path[start:].split("/") for path in snapshot_files(tree, registry))
    names = {(tenant, name.removesuffix(".json")) for tenant, name, *_ in parts}
    found: set[NamespaceName] = set()
    for each in names:
        with suppress(InvalidNameError):
            found.add(NamespaceName.parse("/".join(each)))
    return frozenset(found)


def topic_recorded(tree: FileTree, path: str) -> TopicState:
    """What one file records of a topic; raises UsageError for a broken one."""
    data = _read(tree, path)
    topic = _topic(path, data)
    document = TopicSnapshot.model_validate_json(data)
    policies = document.policies.policies() if document.policies else TopicPolicies()
    return TopicState(topic=topic, history=document.history(), policies=policies)


def namespace_recorded(tree: FileTree, path: str) -> NamespaceState:
    """What one file records of a namespace; raises UsageError for a broken one."""
    data = _read(tree, path)
    try:
        document = NamespaceSnapshot.model_validate_json(data)
    except ValidationError:
        raise _broken(path, data) from None
    return NamespaceState(
        namespace=NamespaceName.parse(document.namespace), policies=document.policies.policies()
    )


def latest_recorded(
    tree: FileTree, topics: frozenset[TopicName]
) -> dict[TopicName, list[SchemaInfo]]:
    """The latest schema of each of these topics in every snapshot; broken files are passed over."""
    found: dict[TopicName, list[SchemaInfo]] = {}
    for path in tree.paths():
        if not (path.startswith(SNAPSHOTS) and is_placed(path) and _is_of_topic(path)):
            continue
        with suppress(UnreadableFileError, ValidationError):
            snapshot = TopicSnapshot.model_validate_json(tree.read(path))
            topic = TopicName.parse(snapshot.topic)
            latest = snapshot.history().latest
            if topic in topics and latest:
                found.setdefault(topic, []).append(latest.info)
    return found


def replaceable_topics(tree: FileTree, registry: str) -> frozenset[TopicName]:
    """The topics that a snapshot is about that is to be recorded again, broken or not.

    Raises UsageError for a file that does not look like a snapshot: nothing may be lost that
    somebody keeps there.
    """
    topics: set[TopicName] = set()
    for path in snapshot_files(tree, registry):
        data = _read(tree, path)
        if not looks_like_one(data):
            raise UsageError(
                "this does not look like a snapshot, and would be overwritten or removed",
                where=path,
                hint=f"{MOVE_AWAY}, then record the snapshot again",
            )
        if _is_of_topic(path):
            topics.update(_topics_named(path, data))
    return frozenset(topics)


def snapshot_files(tree: FileTree, registry: str) -> tuple[str, ...]:
    """The paths of a registry's snapshot."""
    start = f"{folder_of(registry)}/"
    return tuple(path for path in tree.paths() if path.startswith(start) and is_placed(path))


def render(registry: str, state: RegistryState) -> dict[str, bytes]:
    """Path → content of the snapshot of a state; topics that never had a schema are left out."""
    files = dict(_namespace_file(registry, ns) for ns in state.namespaces.values() if ns.exists)
    names = FileNames(files)
    for _, topic in sorted(state.topics.items()):
        if topic.history.entries or topic.history.next_version:
            path, content = _topic_file(registry, topic, names)
            files[path] = content
    return files


def _is_of_topic(path: str) -> bool:
    return path.count("/") == TOPIC_DEPTH - 1


def _read(tree: FileTree, path: str) -> bytes:
    try:
        return tree.read(path)
    except UnreadableFileError as error:
        raise UsageError(
            f"the snapshot cannot be read: {error.what}",
            where=path,
            hint="remove the file, then record it again with `pulsar-gitops snapshot`",
        ) from None


def _peek(tree: FileTree, path: str) -> bytes:
    try:
        return tree.read(path)
    except UnreadableFileError:
        return b""


def _topic(path: str, data: bytes) -> TopicName:
    try:
        return TopicName.parse(TopicSnapshot.model_validate_json(data).topic)
    except ValidationError:
        raise _broken(path, data) from None


def _broken(path: str, data: bytes) -> UsageError:
    first = what_is_wrong(path, data)[0]
    return UsageError(
        f"the snapshot cannot be read: {first.message}",
        where=str(first.location),
        hint=first.hint,
    )


def _topics_named(path: str, data: bytes) -> Iterator[TopicName]:
    """What a file says, and its path where the file cannot be understood."""
    try:
        yield TopicName.parse(TopicSnapshot.model_validate_json(data).topic)
    except ValidationError:
        _, _, tenant, namespace, name = path.removesuffix(".json").split("/")
        said = _TOPIC.findall(data.decode("utf-8", "replace"))
        for text in dict.fromkeys([f"{tenant}/{namespace}/{name}", *said]):
            with suppress(InvalidNameError):
                yield TopicName.parse(text)


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
