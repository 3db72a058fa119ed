"""`clients/*.yaml` files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from posixpath import commonprefix

from gitops.broker.client_libraries import sent_schema
from gitops.model.clients import (
    Client,
    ClientLanguage,
    ClientSchema,
    Consumes,
    Produces,
    SchemalessClient,
    VersionPin,
)
from gitops.model.errors import InvalidNameError, UnreadableFileError
from gitops.model.findings import Finding, Location
from gitops.model.names import NamespaceName, TopicName
from gitops.model.rules import make_finding
from gitops.model.schema import SchemaType
from gitops.repository.definitions.file_extensions import COMPILED_TYPE, DEFAULT_TYPE, is_proto
from gitops.repository.definitions.schema_builder import Place, SchemaBuilder
from gitops.repository.documents.manifests import (
    ClientDocument,
    ClientSchemaDocument,
    ConsumesDocument,
    OneSchema,
    ProducesDocument,
)
from gitops.repository.documents.parser import Manifest, read_manifest
from gitops.repository.file_references import file_references
from gitops.repository.loading.topics import LoadedTopics
from gitops.repository.positions import Path
from gitops.repository.snapshots import SNAPSHOTS
from gitops.repository.suggestions import closest
from gitops.repository.tracked_files import TrackedFiles

_SCHEMA_KEYS = ("type", "definition", "message", "encoding", "key", "value")
_OTHER_SIDE = {
    ("consumes", "AUTO_PRODUCE"): ("AUTO_PRODUCE is for producers", "AUTO_CONSUME"),
    ("produces", "AUTO_CONSUME"): ("AUTO_CONSUME is for consumers", "AUTO_PRODUCE"),
}
"""A word on the side of a client where it says nothing, and the one that is meant."""


@dataclass(slots=True, kw_only=True)
class LoadedClients:
    """Clients in the order of their files.

    `files` are all definitions that they use, `uses` the topics that they name, each with its
    place, also of clients that could not be read to the end.
    """

    clients: list[Client] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    files: set[str] = field(default_factory=set)
    uses: list[tuple[TopicName, Location]] = field(default_factory=list)


def load_clients(
    files: Iterable[str],
    sources: TrackedFiles,
    builder: SchemaBuilder,
    topics: LoadedTopics,
) -> LoadedClients:
    """Every declared client; a schema without type has that of its topic in `topics`."""
    loaded = LoadedClients()
    by_name: dict[str, str] = {}
    declared = {(topic.namespace, topic.local_name): topic for topic in topics.states}
    for file in files:
        manifest = read_manifest(file, ClientDocument, sources, loaded.findings)
        if manifest is None:
            continue
        if manifest.rest is not None:
            client = _Reader(manifest, builder, topics.types, declared, loaded).client(
                manifest.rest
            )
            if manifest.document is not None:
                loaded.clients.append(client)
            if not manifest.is_lost(("name",)):
                _check_twice(client.name, by_name.setdefault(client.name, file), manifest)
        loaded.findings.extend(manifest.findings)
    return loaded


def unknown_topics(
    uses: Iterable[tuple[TopicName, Location]],
    topics: Collection[TopicName],
    namespaces: Collection[NamespaceName],
    sources: TrackedFiles,
) -> list[Finding]:
    """Findings where clients name a topic that neither a manifest nor a snapshot has, one for each.

    Outside of the repository's `namespaces` topics are none of its business, but for those that
    differ from one of its `topics` by a single slip.
    """
    known = {(topic.namespace, topic.local_name) for topic in topics}
    strange = [use for use in uses if not _is_known(use[0], known)]
    known |= _recorded_versions(sources) if strange else set()
    findings: list[Finding] = []
    for topic, place in strange:
        own = topic.namespace in namespaces
        near = _near(topic, topics) if own else _slip(topic, topics)
        if not _is_known(topic, known) and (own or near):
            manifest = f"namespaces/{topic.namespace}/{topic.local_name}.yaml"
            hint = f"add {manifest}; without `schema:` its schema is not managed here"
            message = f"no manifest declares {topic}, and no snapshot records it"
            hint = f"did you mean {near}?" if near else hint
            finding = make_finding(
                "CLIENT-R010", message, location=place, subject=str(topic), hint=hint
            )
            findings.append(finding)
    return findings


def _is_known(topic: TopicName, known: set[tuple[NamespaceName, str]]) -> bool:
    """Also Pulsar's own topics, and those that a subscription makes of a known one."""
    if topic.is_system or (topic.namespace, topic.local_name) in known:
        return True
    if not topic.is_of_subscription:
        return False
    starts = (name for namespace, name in known if namespace == topic.namespace)
    return any(topic.local_name.startswith(f"{name}-") for name in starts)


def _recorded_versions(sources: TrackedFiles) -> set[tuple[NamespaceName, str]]:
    """The topics of all snapshots; those that cannot be read are reported elsewhere."""
    items = set()
    for path in sources.paths:
        if path.startswith(SNAPSHOTS):
            with suppress(UnreadableFileError, InvalidNameError):
                for name in file_references(path, sources.peek(path)).topics:
                    topic = TopicName.parse(name)
                    items.add((topic.namespace, topic.local_name))
    return items


def _near(topic: TopicName, topics: Iterable[TopicName]) -> TopicName | None:
    """The topic of the namespace that is nearly called so, or the one called so elsewhere."""
    beside = {item.local_name: item for item in topics if item.namespace == topic.namespace}
    if value := closest(topic.local_name, beside):
        return beside[value]
    same = [item for item in topics if item.local_name == topic.local_name]
    return same[0] if len(same) == 1 else None


def _slip(topic: TopicName, topics: Iterable[TopicName]) -> TopicName | None:
    """The topic whose name differs in one letter more, less or other, or in two that swapped."""
    return next((item for item in topics if _is_slip(str(topic), str(item))), None)


def _is_slip(left: str, right: str) -> bool:
    start = len(commonprefix((left, right)))
    left, right = left[start:], right[start:]
    end = len(commonprefix((left[::-1], right[::-1])))
    left, right = left[: len(left) - end], right[: len(right) - end]
    if any(map(str.isdigit, left + right)):
        return False  # shop-1 and shop-2 are both meant
    return max(len(left), len(right)) <= 1 or (len(left) == len("ab") and left == right[::-1])


def _check_twice(name: str, first: str, manifest: Manifest[ClientDocument]) -> None:
    if first != manifest.file:
        message = f"{first} declares client '{name}' too"
        manifest.add("REPO-R017", message, ("name",), hint="give it another name")


@dataclass(slots=True)
class _Reader:
    """Reads one client's manifest."""

    manifest: Manifest[ClientDocument]
    builder: SchemaBuilder
    types: Mapping[TopicName, SchemaType]
    declared: Mapping[tuple[NamespaceName, str], TopicName]
    loaded: LoadedClients
    language: ClientLanguage | None = None
    files: set[str] = field(default_factory=set)

    def client(self, document: ClientDocument) -> Client:
        self.language = document.language
        return Client(
            name=document.name,
            owner=document.owner,
            language=document.language,
            consumes=tuple(self._consumes(c, i) for i, c in enumerate(document.consumes)),
            produces=tuple(self._produces(p, i) for i, p in enumerate(document.produces)),
            location=self.manifest.location(("name",)),
            # The arguments above have read them all.
            definitions=tuple(sorted(self.files)),
        )

    def _consumes(self, document: ConsumesDocument, index: int) -> Consumes:
        path: Path = ("consumes", index)
        topic = self._topic(document.topic, path)
        return Consumes(
            topic=topic,
            subscription=document.subscription,
            schemas=self._schemas(document.schema_, topic, (*path, "schema")),
            location=self.manifest.location((*path, "topic")),
        )

    def _produces(self, document: ProducesDocument, index: int) -> Produces:
        path: Path = ("produces", index)
        topic = self._topic(document.topic, path)
        return Produces(
            topic=topic,
            schemas=self._schemas(document.schema_, topic, (*path, "schema")),
            location=self.manifest.location((*path, "topic")),
        )

    def _topic(self, text: str, path: Path) -> TopicName:
        """As its manifest calls it: a schema history is shared by both domains (Pulsar 4.0.7)."""
        topic, at = TopicName.parse(text), (*path, "topic")
        if not self.manifest.is_lost(at):
            self.loaded.uses.append((topic, self.manifest.location(at)))
        return self.declared.get((topic.namespace, topic.local_name), topic)

    def _schemas(
        self, given: OneSchema | list[OneSchema], topic: TopicName, path: Path
    ) -> tuple[ClientSchema, ...]:
        if isinstance(given, list):
            several = [self._schema(item, topic, (*path, i)) for i, item in enumerate(given)]
        else:
            several = [self._schema(given, topic, path)]
        return tuple(item for item in several if item is not None)

    def _schema(self, given: OneSchema, topic: TopicName, path: Path) -> ClientSchema | None:
        if isinstance(given, str):
            return self._word(given, path)
        if given.version is not None:
            return self._pin(given, path)
        if all(getattr(given, key) is None for key in _SCHEMA_KEYS):
            hint = "{version: 3}, {definition: file}, {type: STRING}, AUTO_CONSUME, AUTO_PRODUCE"
            self.manifest.add("REPO-R015", "schema is empty", path, hint=f"use one of {hint}")
            return None
        unknown = self.manifest.is_lost((*path[:2], "topic"))
        subject = self.manifest.file if unknown else str(topic)
        place = Place(manifest=self.manifest, path=path, subject=subject)
        built = self.builder.build(given, self._type(given, topic), place)
        self.files.update(place.files)
        self.loaded.files.update(place.files)
        self.manifest.findings.extend(place.content)
        return sent_schema(built, self.language) if built else None

    def _word(self, word: SchemalessClient, path: Path) -> SchemalessClient | None:
        message, instead = _OTHER_SIDE.get((str(path[0]), word), ("", ""))
        if message:
            self.manifest.add("REPO-R011", message, path, hint=f"did you mean {instead}?")
        return None if message else word

    def _pin(self, given: ClientSchemaDocument, path: Path) -> VersionPin | None:
        extra = [key for key in _SCHEMA_KEYS if getattr(given, key) is not None]
        for key in extra:
            message = f"'{key}' does not go with version"
            self.manifest.add("REPO-R015", message, (*path, key), hint="a version is enough")
        return None if extra else VersionPin(version=given.version or 0)

    def _type(self, given: ClientSchemaDocument, topic: TopicName) -> SchemaType:
        if given.type is not None:
            return SchemaType(given.type)
        if given.message is not None or is_proto(str(given.definition)):
            return COMPILED_TYPE
        if given.key is not None or given.value is not None:
            return SchemaType.KEY_VALUE
        return self.types.get(topic, DEFAULT_TYPE)
