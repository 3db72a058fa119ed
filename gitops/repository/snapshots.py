"""`snapshots/`: the recorded version history of a registry, and what is wrong with a file there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Final

from pydantic import ValidationError

from gitops.model.errors import InvalidNameError, UnreadableFileError, UsageError
from gitops.model.findings import Finding, Location
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import TopicPolicies, plain_policies
from gitops.model.rules import make_finding
from gitops.model.schema import AcceptedLoss, SchemaEntry, SchemaInfo
from gitops.model.state import NamespaceState, RegistryState, TopicPartitions, TopicState
from gitops.ports import FileTree
from gitops.repository.definitions.json_mistakes import json_mistake
from gitops.repository.definitions.json_positions import JsonPositions
from gitops.repository.documents.base import API_VERSION, Document
from gitops.repository.documents.snapshots import (
    BrokerSnapshot,
    ClientsSnapshot,
    NamespaceSnapshot,
    TopicSnapshot,
)
from gitops.repository.documents.validation_messages import DocumentProblem, problem_of
from gitops.repository.folder import FileNames
from gitops.repository.positions import pointer
from gitops.repository.suggestions import did_you_mean_or_list, one_line
from gitops.repository.tracked_files import TrackedFiles

# What is wrong with a file below `snapshots/`, with its place.

SNAPSHOTS: Final = "snapshots/"
NAMESPACE_DEPTH: Final = 4
TOPIC_DEPTH: Final = 5
"""How many parts the paths of the two kinds of file have."""
BROKER_FILE: Final = "broker.json"
"""In a registry's folder: what its brokers told of themselves."""

CLIENTS_FILE: Final = "clients.json"
"""In a registry's folder: who was connected to its topics."""

MOVE_AWAY: Final = "move it out of snapshots/, or remove it"

_HEAD: Final = f'{{\n  "apiVersion": "{API_VERSION}",\n  "kind": "'.encode()
_NEWER: Final = re.compile(rb'^\s*\{\s*"apiVersion": "(pulsar-gitops/v(?!1")\d{1,9})"')
"""How a snapshot begins that another release wrote, whose format this one does not know."""
_KINDS: Final = re.compile(rb'"(?:Topic|Namespace|Broker|Clients)Snapshot"')
_RELEASE: Final = f"this release reads {API_VERSION}: use the release that wrote it"
_PLACE: Final = "write snapshots/<registry>/<tenant>/<namespace>/<topic>.json"


def is_snapshot_path(path: str) -> bool:
    """Whether a snapshot is looked for in a file of this path."""
    parts = path.split("/")
    hidden = any(part.startswith(".") for part in parts)
    return len(parts) in (NAMESPACE_DEPTH, TOPIC_DEPTH) and path.endswith(".json") and not hidden


def is_broker_path(path: str) -> bool:
    """Whether the settings of a registry's brokers are looked for in a file of this path."""
    return _is_file_of_registry(path, BROKER_FILE)


def is_clients_path(path: str) -> bool:
    """Whether the observed clients of a registry are looked for in a file of this path."""
    return _is_file_of_registry(path, CLIENTS_FILE)


def _is_file_of_registry(path: str, name: str) -> bool:
    folder, _, rest = path.removeprefix(SNAPSHOTS).partition("/")
    return path.startswith(SNAPSHOTS) and rest == name and not folder.startswith(".")


def looks_like_snapshot(data: bytes) -> bool:
    """Whether we have written it, perhaps not to the end, or changed by others since."""
    return (
        _KINDS.search(data) is not None or data.startswith(_HEAD) or _HEAD.startswith(data.strip())
    )


def broken_snapshots(sources: TrackedFiles, registries: Iterable[str]) -> Iterator[Finding]:
    """Findings about all files of all registries; what they hold does not count as desired."""
    known = sorted(registries)
    strange: set[str] = set()
    for path in sources.paths:
        if not path.startswith(SNAPSHOTS) or not path.endswith(".json"):
            continue
        registry = path.split("/")[1]
        is_of_registry = is_broker_path(path) or is_clients_path(path)
        if not is_snapshot_path(path) and not is_of_registry:
            yield _finding(Location(file=path), "no snapshot is looked for here", _PLACE)
        elif known and registry not in known and registry not in strange:
            strange.add(registry)
            hint = did_you_mean_or_list(registry, known)
            yield _finding(Location(file=path), f"there is no registry '{registry}'", hint)
        if is_snapshot_path(path) or is_of_registry:
            try:
                yield from snapshot_findings(path, sources.peek(path))
            except UnreadableFileError as error:
                yield _finding(Location(file=path), f"cannot be read: {error.what}")


def snapshot_findings(path: str, data: bytes) -> list[Finding]:
    """Everything that keeps a file from being the snapshot that its path names."""
    if is_broker_path(path):
        return _model_findings(path, data, BrokerSnapshot)
    if is_clients_path(path):
        return _model_findings(path, data, ClientsSnapshot)
    is_topic = path.count("/") == TOPIC_DEPTH - 1
    try:
        if is_topic:
            return list(_misfits(path, TopicSnapshot.model_validate_json(data)))
        document = NamespaceSnapshot.model_validate_json(data)
    except ValidationError:
        return _failures(path, data, TopicSnapshot if is_topic else NamespaceSnapshot)
    named = "/".join(path.removesuffix(".json").split("/")[2:])
    if document.namespace == named:
        return []
    message = f"the snapshot is of {document.namespace}, and the path is {named}"
    return [_finding(Location(file=path), message)]


def _model_findings(path: str, data: bytes, model: type[Document]) -> list[Finding]:
    try:
        model.model_validate_json(data)
    except ValidationError:
        return _failures(path, data, model)
    return []


def _misfits(path: str, document: TopicSnapshot) -> Iterator[Finding]:
    topic = TopicName.parse(document.topic)
    folder, _, stem = path.removesuffix(".json").rpartition("/")
    named = "/".join(folder.split("/")[2:])
    if str(topic.namespace) != named or not FileNames.fits(topic, stem):
        message = f"the snapshot is of {topic}, and the path is {named}/{stem}"
        yield _finding(Location(file=path), message)
    numbers = [version.version for version in document.versions]
    if numbers != sorted(set(numbers)):
        yield _finding(Location(file=path), "the versions are not in the order of their numbers")
    elif numbers and numbers[-1] >= document.next_version:
        message = f"nextVersion is {document.next_version}, and version {numbers[-1]} is there"
        yield _finding(Location(file=path), message)


def _failures(path: str, data: bytes, model: type[Document]) -> list[Finding]:
    if version := _newer_version(data):
        return [
            _finding(Location(file=path), f"the snapshot is of the version {version}", _RELEASE)
        ]
    if not looks_like_snapshot(data):
        return [_finding(Location(file=path), "this does not look like a snapshot", MOVE_AWAY)]
    try:
        text = data.decode()
        value = json.loads(text)
    except UnicodeDecodeError:
        return [_finding(Location(file=path), "the file is not UTF-8")]
    except json.JSONDecodeError as error:
        mistake = json_mistake(text, error.msg, error.pos)
        place = JsonPositions(path, text).at_offset(mistake.offset)
        return [_finding(place, f"not JSON: {mistake.message}")]
    except (RecursionError, ValueError):
        return [_finding(Location(file=path), "nested too deep or too large to be read")]
    places = JsonPositions(path, text)
    return [
        _finding(places.at_pointer(pointer(problem.path), at_key=problem.at_key), problem.message)
        for problem in _problems(data, value, model)
    ]


def _newer_version(data: bytes) -> str:
    """The version of a snapshot that a newer release wrote; empty for every other file."""
    match = _NEWER.search(data)
    return match[1].decode() if match else ""


def _problems(data: bytes, value: object, model: type[Document]) -> list[DocumentProblem]:
    try:
        model.model_validate_json(data)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        return [problem_of(detail, value, model) for detail in details]
    raise AssertionError("it has failed before")


def _finding(place: Location, message: str, hint: str = "") -> Finding:
    registry = place.file.split("/")[1]
    again = f"record it again with `pulsar-gitops snapshot --registry {registry}`"
    return make_finding(
        "REPO-R024", one_line(message), location=place, hint=one_line(hint or again)
    )


# `snapshots/`: the recorded version history of a registry, one file for each topic.
#
# A namespace's policies stand beside its folder, as `<namespace>.json`.


_TOPIC: Final = re.compile(r'(?<!\\)"topic"\s*:\s*"([^"\\]+)"')


def folder_of(registry: str) -> str:
    """The folder of a registry's snapshot."""
    return f"{SNAPSHOTS}{registry}"


def recorded_topics(tree: FileTree, registry: str) -> frozenset[TopicName]:
    """The topics that the snapshot of a registry names; a broken file's are those of its path."""
    return frozenset(
        topic
        for path in snapshot_files(tree, registry)
        if is_of_topic(path)
        for topic in _topics_named(path, _peek(tree, path))
    )


def recorded_namespaces(tree: FileTree, registry: str) -> frozenset[NamespaceName]:
    """The namespaces that the snapshot of a registry has files of."""
    namespaces = {namespace_of(path) for path in snapshot_files(tree, registry)}
    return frozenset(namespace for namespace in namespaces if namespace is not None)


def namespace_of(path: str) -> NamespaceName | None:
    """The namespace that a file of a snapshot is about, by its path; None where that names none."""
    _, _, tenant, name, *_ = path.split("/")
    with suppress(InvalidNameError):
        return NamespaceName.parse(f"{tenant}/{name.removesuffix('.json')}")
    return None


def read_topic_state(tree: FileTree, path: str) -> TopicState:
    """What one file records of a topic; raises UsageError for a broken one."""
    return read_topic(tree, path)[0]


def read_topic(tree: FileTree, path: str) -> tuple[TopicState, TopicPartitions]:
    """The same, with its partitions."""
    data = read_snapshot(tree, path)
    try:
        document = TopicSnapshot.model_validate_json(data)
    except ValidationError:
        raise broken_snapshot(path, data) from None
    topic, count = TopicName.parse(document.topic), document.partitions
    policies = document.policies.policies() if document.policies else TopicPolicies()
    state = TopicState(topic=topic, history=document.history(), policies=policies)
    return state, TopicPartitions(topic=topic, count=count, exists=count is not None)


def read_accepted_loss(tree: FileTree, path: str) -> tuple[TopicName, AcceptedLoss] | None:
    """The loss that one topic's file says was accepted; None for a broken file too."""
    data = _peek(tree, path)
    if b'"acceptedLoss"' not in data:
        return None
    try:
        document = TopicSnapshot.model_validate_json(data)
    except ValidationError:
        return None
    loss = document.accepted_loss
    return (TopicName.parse(document.topic), loss.loss()) if loss else None


def read_namespace_state(tree: FileTree, path: str) -> NamespaceState:
    """What one file records of a namespace; raises UsageError for a broken one."""
    data = read_snapshot(tree, path)
    try:
        document = NamespaceSnapshot.model_validate_json(data)
    except ValidationError:
        raise broken_snapshot(path, data) from None
    return NamespaceState(
        namespace=NamespaceName.parse(document.namespace), policies=document.policies.policies()
    )


def latest_recorded_schemas(
    tree: FileTree, topics: frozenset[TopicName]
) -> dict[TopicName, list[SchemaInfo]]:
    """The latest schema of each of these topics in every snapshot; broken files are passed over."""
    grouped: dict[TopicName, list[SchemaInfo]] = {}
    for path in tree.paths():
        if not (path.startswith(SNAPSHOTS) and is_snapshot_path(path) and is_of_topic(path)):
            continue
        with suppress(UnreadableFileError, ValidationError):
            snapshot = TopicSnapshot.model_validate_json(tree.read(path))
            topic = TopicName.parse(snapshot.topic)
            latest = snapshot.history().latest
            if topic in topics and latest:
                grouped.setdefault(topic, []).append(latest.info)
    return grouped


def replaceable_topics(tree: FileTree, registry: str) -> frozenset[TopicName]:
    """The topics that a snapshot is about that is to be recorded again, broken or not.

    Raises UsageError for a file that does not look like a snapshot: nothing may be lost that
    somebody keeps there.
    """
    topics: set[TopicName] = set()
    for path in snapshot_files(tree, registry):
        data = read_snapshot(tree, path)
        require_snapshot(path, data)
        if is_of_topic(path):
            topics.update(_topics_named(path, data))
    return frozenset(topics)


def require_snapshot(path: str, data: bytes) -> None:
    """Raise UsageError for a file that somebody else has written, or a newer release."""
    if version := _newer_version(data):
        what = f"the snapshot is of the version {version}, and would be overwritten"
        raise UsageError(what, where=path, hint=_RELEASE)
    if not looks_like_snapshot(data):
        raise UsageError(
            "this does not look like a snapshot, and would be overwritten or removed",
            where=path,
            hint=f"{MOVE_AWAY}, then record the snapshot again",
        )


def snapshot_files(tree: FileTree, registry: str) -> tuple[str, ...]:
    """The paths of a registry's snapshot."""
    start = f"{folder_of(registry)}/"
    return tuple(path for path in tree.paths() if path.startswith(start) and is_snapshot_path(path))


def render(
    registry: str, state: RegistryState, losses: Mapping[TopicName, AcceptedLoss] | None = None
) -> dict[str, bytes]:
    """Path → content of the snapshot of a state; topics that never had a schema are left out.

    `losses` are those that were accepted.
    """
    losses = losses or {}
    files = dict(_namespace_file(registry, ns) for ns in state.namespaces.values() if ns.exists)
    names = FileNames(files)
    for _, topic in sorted(state.topics.items()):
        loss = losses.get(topic.topic)
        if topic.history.entries or topic.history.next_version or loss:
            partitions = state.partitions.get(topic.topic)
            count = partitions.count if partitions else None
            path, content = _topic_file(registry, topic, names, count, loss)
            files[path] = content
    return files


def is_of_topic(path: str) -> bool:
    """Whether a file of a snapshot is about a topic; the others are about namespaces."""
    return path.count("/") == TOPIC_DEPTH - 1


def read_snapshot(tree: FileTree, path: str) -> bytes:
    """A file of a snapshot; raises UsageError."""
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


def broken_snapshot(path: str, data: bytes) -> UsageError:
    """The error for a file that is not the snapshot that its path names."""
    first = snapshot_findings(path, data)[0]
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
        parts = _TOPIC.findall(data.decode("utf-8", "replace"))
        for text in dict.fromkeys([f"{tenant}/{namespace}/{name}", *parts]):
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


def _topic_file(
    registry: str,
    state: TopicState,
    names: FileNames,
    partitions: int | None,
    loss: AcceptedLoss | None,
) -> tuple[str, bytes]:
    folder = f"{folder_of(registry)}/{state.topic.namespace}"

    def files(stem: str) -> Iterable[str]:
        return (f"{folder}/{stem}.json",)

    document = {
        "apiVersion": API_VERSION,
        "kind": "TopicSnapshot",
        "topic": str(state.topic),
        **({} if partitions is None else {"partitions": partitions}),
        "nextVersion": state.history.next_version,
        "policies": plain_policies(state.policies),
        "versions": [_version(entry) for entry in state.history.entries],
        **({"acceptedLoss": _accepted_loss(loss)} if loss else {}),
    }
    return f"{folder}/{names.stem(state.topic, files)}.json", _json(document)


def _accepted_loss(loss: AcceptedLoss) -> dict[str, object]:
    return {
        "accepted": loss.accepted,
        "versions": [_version(entry) for entry in loss.versions],
    }


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
