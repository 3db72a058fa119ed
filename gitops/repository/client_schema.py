"""The schema of a client on a command line, or the word for a client that has none."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from gitops.broker.connection import Offer
from gitops.model.clients import SchemalessClient
from gitops.model.errors import UsageError
from gitops.model.findings import Location
from gitops.model.names import TopicName
from gitops.model.schema import SchemaHistory, SchemaInfo
from gitops.model.state import Repository
from gitops.ports import FileTree
from gitops.repository.definition_files import Side, read_file
from gitops.repository.definitions.file_extensions import AVSC
from gitops.repository.definitions.json_positions import positions_in
from gitops.repository.definitions.locations import Locator
from gitops.repository.definitions.shared_types import Expansion, SharedTypes
from gitops.repository.definitions.upload import WITHOUT_DEFINITION, existing_file
from gitops.repository.tracked_files import TrackedFiles
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.avro.json_text import JsonTextError
from gitops.schemas.avro.parser import ANY_AVRO
from gitops.schemas.payload import PayloadError, to_stored
from gitops.schemas.types import AVRO_DEFINED

_WORDS: Final[dict[str, SchemalessClient]] = {
    "NONE": "NONE",
    "BYTES": "NONE",
    "AUTO_PRODUCE": "AUTO_PRODUCE",
    "AUTO_PUBLISH": "AUTO_PRODUCE",
    "AUTO_CONSUME": "AUTO_CONSUME",
}
_VERSION: Final = re.compile(r"v(\d+)")
_MANIFESTS: Final = (".yaml", ".yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSchema:
    """What the application gives its client, and what it was called on the command line.

    `locate` finds the place of a JSON pointer where the schema came out of a file. `texts` has
    the file of the command line; further ones lie in the repository.
    """

    name: str
    offer: Offer
    locate: Callable[[str], Location | None]
    texts: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Where names on the command line are looked up; the repository's files lie in `root`."""

    repository: Repository
    tree: FileTree
    root: Path
    topic: TopicName
    history: SchemaHistory
    schema_type: str | None = None
    message: str | None = None


def read_client_schema(name: str, context: Context) -> ClientSchema:
    """The offer of that name; raises UsageError.

    A word (`NONE`, `AUTO_PRODUCE`, …), a type that needs no definition, a version (`v3`) of the
    topic, a topic's manifest in the repository, or a file with a definition.
    """
    if name in _WORDS:
        return _plain(name, _WORDS[name])
    if name in WITHOUT_DEFINITION:
        return _schema_of_info(name, SchemaInfo(type=WITHOUT_DEFINITION[name]))
    if match := _VERSION.fullmatch(name):
        return _schema_of_info(name, _version(int(match[1]), context))
    path = existing_file(name, dict.fromkeys([*_WORDS, *WITHOUT_DEFINITION]))
    if path.suffix in _MANIFESTS:
        return _schema_of_manifest(path, context)
    return _schema_of_file(path, context)


def _plain(name: str, offer: Offer) -> ClientSchema:
    return ClientSchema(name=name, offer=offer, locate=lambda _: None, texts={})


def _schema_of_info(name: str, info: SchemaInfo) -> ClientSchema:
    return _plain(name, _stored_schema(name, info))


def _stored_schema(name: str, info: SchemaInfo) -> Offer:
    try:
        return to_stored(info)
    except PayloadError as error:
        raise UsageError(f"{name} is not a schema: {error}") from None


def _version(number: int, context: Context) -> SchemaInfo:
    for entry in context.history.entries:
        if entry.version == number:
            return entry.info
    known = ", ".join(f"v{entry.version}" for entry in context.history.entries) or "none"
    raise UsageError(f"{context.topic} has no version {number}", hint=f"it has {known}")


def _schema_of_manifest(path: Path, context: Context) -> ClientSchema:
    """The schema of the topic that a manifest of the repository is about."""
    wanted, topics = path.resolve(), context.repository.topics
    for topic, source in topics.items():
        if (context.root / source.manifest.file).resolve() == wanted:
            entry = context.repository.desired.topics[topic].history.latest
            if entry is None:
                raise UsageError(f"{path} contains no schema", hint="name a file with a definition")
            locate = partial(Locator(context.tree, topics).locate, topic)
            return replace(_schema_of_info(str(path), entry.info), locate=locate)
    hint = "only topics' manifests have a schema; name the file with the definition instead"
    raise UsageError(f"{path} is not the manifest of a topic of this repository", hint=hint)


def _schema_of_file(path: Path, context: Context) -> ClientSchema:
    kind = context.schema_type
    if kind is None and path.suffix == AVSC:
        kind = topic_avro_type(context.topic, context.repository, context.history)
    side = _expand_shared_types(read_file(path, kind, context.message), TrackedFiles(context.tree))
    return ClientSchema(
        name=str(path),
        offer=_stored_schema(str(path), side.info),
        locate=side.locate,
        texts={side.file: side.text},
    )


def _expand_shared_types(side: Side, sources: TrackedFiles) -> Side:
    """The definition with the types put in that other files of the repository define."""
    if side.info.type not in AVRO_DEFINED or not _lacks_types(side.info.schema):
        return side
    try:
        whole = SharedTypes(sources).expand(side.text, side.file)
    except (JsonTextError, RecursionError):
        return side
    for problem in whole.problems:
        raise UsageError(problem.message, where=side.file, hint=problem.hint)
    if not whole.origins:
        return side
    info = replace(side.info, schema=whole.text)
    return replace(side, info=info, locate=partial(_origin, side, whole, sources))


def _lacks_types(text: str) -> bool:
    try:
        ANY_AVRO.parse(text)
    except AvroParseError as error:
        return any(problem.kind == "undefined-name" for problem in error.problems)
    return False


def _origin(side: Side, whole: Expansion, sources: TrackedFiles, pointer: str) -> Location:
    file, there = whole.origin(pointer)
    if file is None:
        return side.locate(there)
    return positions_in(file, sources.data(file).decode("utf-8", "replace")).at_pointer(there)


def topic_avro_type(topic: TopicName, repository: Repository, history: SchemaHistory) -> str | None:
    """The type of a topic with an Avro definition, by its files, else by its registered versions.

    A definition of a JSON topic is meant as JSON: as for clients' manifests.
    """
    declared = repository.desired.topics.get(topic)
    for schema_history in (declared.history if declared else SchemaHistory(), history):
        if schema_history.latest is not None and schema_history.latest.info.type in AVRO_DEFINED:
            return schema_history.latest.info.type.value
    return None
