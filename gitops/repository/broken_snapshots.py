"""What is wrong with a file below `snapshots/`, with its place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Final

from pydantic import ValidationError

from gitops.model.errors import UnreadableFileError
from gitops.model.findings import Finding, Location
from gitops.model.names import TopicName
from gitops.model.rules import finding
from gitops.repository.definitions.json_mistakes import json_mistake
from gitops.repository.definitions.json_positions import JsonPositions
from gitops.repository.documents.base import API_VERSION
from gitops.repository.documents.messages import DocumentProblem, problem_of
from gitops.repository.documents.snapshot import NamespaceSnapshot, TopicSnapshot
from gitops.repository.positions import pointer
from gitops.repository.sources import Sources
from gitops.repository.suggestions import did_you_mean_or_list
from gitops.repository.wording import one_line
from gitops.repository.writing.file_names import FileNames

SNAPSHOTS: Final = "snapshots/"
NAMESPACE_DEPTH: Final = 4
TOPIC_DEPTH: Final = 5
"""How many parts the paths of the two kinds of file have."""

MOVE_AWAY: Final = "move it out of snapshots/, or remove it"

_HEAD: Final = f'{{\n  "apiVersion": "{API_VERSION}",\n  "kind": "'.encode()
_KINDS: Final = re.compile(rb'"(?:Topic|Namespace)Snapshot"')
_PLACE: Final = "write snapshots/<registry>/<tenant>/<namespace>/<topic>.json"


def is_placed(path: str) -> bool:
    """Whether a snapshot is looked for in a file of this path."""
    parts = path.split("/")
    hidden = any(part.startswith(".") for part in parts)
    return len(parts) in (NAMESPACE_DEPTH, TOPIC_DEPTH) and path.endswith(".json") and not hidden


def looks_like_one(data: bytes) -> bool:
    """Whether we have written it, perhaps not to the end, or changed by others since."""
    return (
        _KINDS.search(data) is not None or data.startswith(_HEAD) or _HEAD.startswith(data.strip())
    )


def broken_snapshots(sources: Sources, registries: Iterable[str]) -> Iterator[Finding]:
    """Findings about all files of all registries; what they hold does not count as desired."""
    known = sorted(registries)
    strange: set[str] = set()
    for path in sources.paths:
        if not path.startswith(SNAPSHOTS) or not path.endswith(".json"):
            continue
        registry = path.split("/")[1]
        if not is_placed(path):
            yield _finding(Location(file=path), "no snapshot is looked for here", _PLACE)
        elif known and registry not in known and registry not in strange:
            strange.add(registry)
            hint = did_you_mean_or_list(registry, known)
            yield _finding(Location(file=path), f"there is no registry '{registry}'", hint)
        if is_placed(path):
            try:
                yield from what_is_wrong(path, sources.peek(path))
            except UnreadableFileError as error:
                yield _finding(Location(file=path), f"cannot be read: {error.what}")


def what_is_wrong(path: str, data: bytes) -> list[Finding]:
    """Everything that keeps a file from being the snapshot that its path names."""
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
    message = f"the snapshot is of {document.namespace}, and the path says {named}"
    return [_finding(Location(file=path), message)]


def _misfits(path: str, document: TopicSnapshot) -> Iterator[Finding]:
    topic = TopicName.parse(document.topic)
    folder, _, stem = path.removesuffix(".json").rpartition("/")
    named = "/".join(folder.split("/")[2:])
    if str(topic.namespace) != named or not FileNames.fits(topic, stem):
        message = f"the snapshot is of {topic}, and the path says {named}/{stem}"
        yield _finding(Location(file=path), message)
    numbers = [each.version for each in document.versions]
    if numbers != sorted(set(numbers)):
        yield _finding(Location(file=path), "the versions are not in the order of their numbers")
    elif numbers and numbers[-1] >= document.next_version:
        message = f"nextVersion is {document.next_version}, and version {numbers[-1]} is there"
        yield _finding(Location(file=path), message)


def _failures(
    path: str, data: bytes, model: type[TopicSnapshot | NamespaceSnapshot]
) -> list[Finding]:
    if not looks_like_one(data):
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
        _finding(places.at_pointer(pointer(each.path), at_key=each.at_key), each.message)
        for each in _problems(data, value, model)
    ]


def _problems(
    data: bytes, value: object, model: type[TopicSnapshot | NamespaceSnapshot]
) -> list[DocumentProblem]:
    try:
        model.model_validate_json(data)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        return [problem_of(each, value, model) for each in details]
    raise AssertionError("it has failed before")


def _finding(place: Location, message: str, hint: str = "") -> Finding:
    registry = place.file.split("/")[1]
    again = f"record it again with `pulsar-gitops snapshot --registry {registry}`"
    return finding("REPO-R024", one_line(message), location=place, hint=one_line(hint or again))
