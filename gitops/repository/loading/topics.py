"""`<topic>.yaml` files."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from gitops.model.errors import InvalidNameError, OutsideRepositoryError
from gitops.model.findings import Finding
from gitops.model.names import NamespaceName, TopicName
from gitops.model.replay import Sample
from gitops.model.rules import make_finding
from gitops.model.sample_formats import SAMPLE_FORMATS
from gitops.model.schema import SchemaEntry, SchemaHistory, SchemaType
from gitops.model.state import TopicPartitions, TopicSource, TopicState
from gitops.ports import Progress
from gitops.repository.definitions.schema_builder import Place, SchemaBuilder
from gitops.repository.documents.manifests import SampleDocument, TopicDocument
from gitops.repository.documents.parser import Manifest, read_manifest
from gitops.repository.loading.namespaces import folder_namespace
from gitops.repository.tracked_files import TrackedFiles, resolve

_TABLES: Final = [name for name, row in SAMPLE_FORMATS.items() if row.has_columns]

TOPIC_KEYS: Final = ("topic:", "topic :", 'topic"', "topic'")
"""One of these is in a manifest that names its topic, whatever its path is."""
_TOPIC_KEY: Final = re.compile("|".join(map(re.escape, TOPIC_KEYS)).encode())


@dataclass(slots=True, kw_only=True)
class LoadedTopics:
    """States and sources by name; `files` are all definitions that some topic uses.

    `types` are those of the manifests, also where a schema cannot be built.
    """

    states: dict[TopicName, TopicState] = field(default_factory=dict)
    sources: dict[TopicName, TopicSource] = field(default_factory=dict)
    partitions: dict[TopicName, TopicPartitions] = field(default_factory=dict)
    types: dict[TopicName, SchemaType] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    files: set[str] = field(default_factory=set)


def load_topics(
    files: Sequence[str], sources: TrackedFiles, builder: SchemaBuilder, progress: Progress
) -> LoadedTopics:
    """Every topic that has a manifest."""
    loaded = LoadedTopics()
    taken: dict[tuple[NamespaceName, str], list[TopicName]] = {}
    for done, file in enumerate(files):
        progress("reading files", done, len(files))
        manifest = read_manifest(file, TopicDocument, sources, loaded.findings)
        if manifest is None:
            continue
        if manifest.rest is not None:
            topic = _name(manifest, manifest.rest)
            source = _load(topic, manifest, manifest.rest, builder, loaded)
            if topic is None:
                loaded.findings.extend(source.findings)
            else:
                history = (topic.namespace, topic.local_name)
                taken.setdefault(history, []).append(topic)
                loaded.sources.setdefault(topic, source)
                _check_twice(topic, taken[history], manifest, loaded)
        loaded.findings.extend(manifest.findings)
    return loaded


def declared_topic(file: str, data: bytes) -> TopicName | None:
    """The topic that a manifest is about, that of its path where it cannot be read.

    `file` is at the depth of a topic's manifest. None where neither is a name.
    """
    if _TOPIC_KEY.search(data):
        manifest = Manifest(file, data, TopicDocument)
        if manifest.rest is not None and (named := _name(manifest, manifest.rest)):
            return named
    return topic_of_path(file)


def topic_of_path(file: str) -> TopicName | None:
    """The topic of a manifest at this path that has no key `topic`; None where there is none."""
    namespace = folder_namespace(file)
    with suppress(InvalidNameError):
        return TopicName.of(namespace, _stem(file)) if namespace else None
    return None


def _load(
    topic: TopicName | None,
    manifest: Manifest[TopicDocument],
    document: TopicDocument,
    builder: SchemaBuilder,
    loaded: LoadedTopics,
) -> TopicSource:
    """What a manifest says, also where it does not say of which topic."""
    place = Place(manifest=manifest, path=("schema",), subject=str(topic or manifest.file))
    history = SchemaHistory()
    if document.schema_ is not None:
        schema_type = SchemaType(document.schema_.type)
        if topic is not None and not manifest.is_lost(("schema", "type")):
            loaded.types.setdefault(topic, schema_type)
        info = builder.build(document.schema_, schema_type, place)
        if info is not None:
            history = SchemaHistory(entries=(SchemaEntry(version=0, info=info),), next_version=1)
    loaded.files.update(place.files)
    if topic is not None and topic not in loaded.states:
        loaded.states[topic] = TopicState(
            topic=topic, history=history, policies=document.policies.policies()
        )
        if declared := _declared_partitions(topic, manifest, document):
            loaded.partitions[topic] = declared
    return TopicSource(
        manifest=manifest.location(("schema",), at_key=True),
        definitions=tuple(place.files),
        halves=place.halves,
        samples=tuple(
            _sample(sample_document, manifest, index)
            for index, sample_document in enumerate(document.samples)
        ),
        findings=tuple(place.content),
    )


def _declared_partitions(
    topic: TopicName, manifest: Manifest[TopicDocument], document: TopicDocument
) -> TopicPartitions | None:
    """What apply creates, None where it creates nothing."""
    key = "create" if document.partitions is None else "partitions"
    if document.partitions is None and not document.create:
        return None
    if document.partitions is not None and document.create:
        hint = "partitions: alone creates the topic, with partitions"
        message = "'create' is for a topic without partitions, and 'partitions' is given"
        manifest.add("REPO-R015", message, ("create",), hint=hint, at_key=True)
    if topic.domain != "persistent":
        hint = "remove it: Pulsar makes such a topic when a client connects"
        message = f"'{key}' is for persistent topics"
        manifest.add("REPO-R015", message, (key,), hint=hint, at_key=True)
    return TopicPartitions(topic=topic, count=document.partitions or 0)


def _name(manifest: Manifest[TopicDocument], document: TopicDocument) -> TopicName | None:
    """The topic that a manifest is about; None with a finding if that is not a name."""
    namespace = folder_namespace(manifest.file)
    if namespace is None or manifest.is_lost(("topic",)):
        return None  # which is told already
    stem = _stem(manifest.file)
    given = document.topic
    at = () if given is None else ("topic",)
    try:
        if given is not None and "://" in given:
            topic = TopicName.parse(given)
        else:
            topic = TopicName.of(namespace, stem if given is None else given)
    except InvalidNameError as error:
        manifest.add("REPO-R013", error.what, at, hint=error.hint)
        return None
    written = (given or stem).rpartition("/")[2]
    if topic.local_name != written:
        hint = f"a partitioned topic is one topic: write {topic.local_name}"
        manifest.add("REPO-R013", f"'{written}' names a partition", at, hint=hint)
        return None
    if topic.namespace != namespace:
        message = f"the topic is in {topic.namespace}, and the folders are {namespace}"
        manifest.add("REPO-R016", message, at, hint="move the file, or change the name")
        return None
    return topic


def _stem(file: str) -> str:
    return posixpath.basename(file).removesuffix(".yaml")


def _check_twice(
    topic: TopicName,
    taken: list[TopicName],
    manifest: Manifest[TopicDocument],
    loaded: LoadedTopics,
) -> None:
    """Findings at both manifests where one schema history is declared twice."""
    if len(taken) == 1:
        return
    first = loaded.sources[taken[0]].manifest
    why = (
        "its schema is declared in {} too"
        if topic == taken[0]
        else "{} declares its schema too: persistent and non-persistent topics share one"
    )
    hint = "keep one manifest for each topic"
    here = manifest.location(("topic",))
    pairs = [(here, first.file)]
    if len(taken) == len(("first", "second")):
        pairs.append((first, manifest.file))
    loaded.findings.extend(
        make_finding("REPO-R017", why.format(other), location=at, subject=str(topic), hint=hint)
        for at, other in pairs
    )


def _sample(document: SampleDocument, manifest: Manifest[TopicDocument], index: int) -> Sample:
    path = ("samples", index)
    columns = document.columns.model_dump(exclude_none=True) if document.columns else {}
    if columns and document.format not in _TABLES:
        message = f"'columns' goes with {', '.join(_TABLES[:-1])} and {_TABLES[-1]} only"
        manifest.add("REPO-R015", message, (*path, "columns"), at_key=True)
    if "://" not in document.path and SAMPLE_FORMATS[document.format].source:
        try:
            resolve(posixpath.dirname(manifest.file), document.path)
        except OutsideRepositoryError:
            message = f"'{document.path}' leads outside the repository"
            hint = "data elsewhere is named by a URI, as file:///data/orders.avro"
            manifest.add("REPO-R007", message, (*path, "path"), hint=hint)
    if isinstance(document.max_failures, float) and document.max_failures > 1:
        hint = "a whole number is a count, a number with a point is a share"
        manifest.add(
            "REPO-R012", "maxFailures must be at most 1.0", (*path, "maxFailures"), hint=hint
        )
    return Sample(
        format=document.format,
        path=document.path,
        location=manifest.location(path),
        columns=columns,
        version=document.version,
        sensitive=tuple(document.sensitive),
        max_failures=document.max_failures,
        logical_types=document.logical_types,
        sensitive_at=tuple(
            manifest.location((*path, "sensitive", number))
            for number in range(len(document.sensitive))
        ),
    )
