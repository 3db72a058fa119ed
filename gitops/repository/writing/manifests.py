"""Writes what a registry has as files that mean exactly the same when they are loaded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, get_args

from gitops.model.decision import StoredSchema
from gitops.model.errors import UsageError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import managed_items, plain_policies
from gitops.model.schema import KeyValueEncodingType, SchemaInfo, SchemaType
from gitops.model.state import NamespaceState, RegistryState, TopicState
from gitops.repository.definitions.file_extensions import AVSC, WRITTEN_EXTENSIONS, extension_of
from gitops.repository.definitions.schema_builder import (
    JAVA_NAMES,
    Half,
    pair_properties,
    pair_text,
)
from gitops.repository.documents.base import API_VERSION
from gitops.repository.documents.editor_schemas import first_line
from gitops.repository.documents.manifests import HalfType
from gitops.repository.folder import FileNames
from gitops.repository.loading.layout import NAMESPACE_FILE
from gitops.repository.writing.proto_files import ProtoSources
from gitops.repository.yaml.dumper import yaml_text
from gitops.schemas.key_value.parser import ENCODING, HALVES, NO_DEFINITION, shown_half, split
from gitops.schemas.payload import to_stored
from gitops.schemas.types import DEFINED_TYPES, TYPES

# A stored KEY_VALUE taken apart into its halves, where that can be undone exactly.

_TYPES: Final = frozenset(get_args(HalfType))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Both halves, the encoding, and the properties that do not follow from them."""

    key: Half
    value: Half
    encoding: KeyValueEncodingType
    properties: Mapping[str, str]


def take_apart(info: SchemaInfo) -> Pair | None:
    """The halves; None unless putting them together gives the same text and properties."""
    try:
        pair = _parts(info)
    except (ValueError, KeyError, RecursionError):
        return None
    derived = pair_properties(pair.key, pair.value, pair.encoding)
    same = {**pair.properties, **derived} == dict(info.properties)
    return pair if same and pair_text(pair.key, pair.value) == info.schema else None


def default_name(half: Half) -> str:
    """The name that a half has if its manifest gives none."""
    return JAVA_NAMES.get(half.type.value, "")


def _parts(info: SchemaInfo) -> Pair:
    key, value = (_half(*named, info) for named in zip(HALVES, split(to_stored(info)), strict=True))
    encoding = KeyValueEncodingType(info.properties[ENCODING])
    derived = pair_properties(key, value, encoding)
    left = {name: text for name, text in info.properties.items() if name not in derived}
    return Pair(key=key, value=value, encoding=encoding, properties=left)


def _half(prefix: str, half: StoredSchema, pair: SchemaInfo) -> Half:
    text = shown_half(TYPES.row_of, half)
    is_empty = text == NO_DEFINITION
    # A broker holds halves without the definition that a manifest's half of that type needs.
    if half.type.value not in _TYPES or (is_empty and half.type in DEFINED_TYPES):
        raise ValueError(prefix)
    return Half(
        type=half.type,
        text="" if is_empty else text,
        name=pair.properties[f"{prefix}.schema.name"],
        properties=half.properties,
    )


# Writes what a registry holds as files that, when loaded, say exactly the same.


_DEPTH: Final = 3


def _no_file(_path: str) -> bytes | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Protos:
    """The topics whose PROTOBUF_NATIVE is written as `.proto` files, in place of the envelope.

    They are beside the manifests, shared by the topics of a namespace where they are the same.
    The topics in `apart` have a folder of their own, also for the files that protoc brings along;
    topics with the same files share it.
    `existing` reads the files of the repository, of which equal ones are shared too.
    """

    sources: Mapping[TopicName, ProtoSources] = field(default_factory=dict)
    apart: Collection[TopicName] = ()
    existing: Callable[[str], bytes | None] = _no_file


_NO_PROTOS: Final = Protos()


def render(
    state: RegistryState,
    *,
    taken: Collection[str] = (),
    protos: Protos = _NO_PROTOS,
    unshared: Collection[TopicName] = (),
) -> dict[str, bytes]:
    """Path → content of every file that says what `state` holds.

    Of a topic's history the latest schema is written; a topic without schema and policies is left
    out. No path in `taken` is written to: topics get other file names, and a `namespace.yaml`
    that is there stays. Avro definitions of the topics in `unshared` are `.json` files, whose types
    no other definition can name. Raises UsageError for a namespace that cannot be a folder.
    """
    files: dict[str, bytes] = {}
    names = FileNames([*taken, *(_namespace_file(item) for item in state.namespaces)])
    folded = {path.lower() for path in taken}
    for _, namespace in sorted(state.namespaces.items()):
        path = _namespace_file(namespace.namespace)
        if namespace.exists and path.lower() not in folded:
            files[path] = _manifest("namespace", _namespace(namespace))
    for topic in _one_a_history(state.topics):
        is_shared = topic.topic not in unshared
        _Topic(topic, names, files, protos, is_shared=is_shared).write()
    return files


def _one_a_history(topics: Mapping[TopicName, TopicState]) -> list[TopicState]:
    """The topics that are worth a file; persistent ones stand for non-persistent namesakes."""
    chosen: dict[tuple[NamespaceName, str], TopicState] = {}
    for name, topic in sorted(topics.items(), key=lambda item: item[0].domain, reverse=True):
        if topic.history.latest is not None or managed_items(topic.policies):
            chosen.setdefault((name.namespace, name.local_name), topic)
    return [chosen[key] for key in sorted(chosen)]


def _folder(namespace: NamespaceName) -> str:
    for part in (namespace.tenant, namespace.local_name):
        if part in (".", ".."):
            raise UsageError(
                f"namespace {namespace} cannot be a folder", hint="leave it out of the import"
            )
    return f"namespaces/{namespace}"


def _namespace_file(namespace: NamespaceName) -> str:
    return f"{_folder(namespace)}/{NAMESPACE_FILE}"


def _namespace(state: NamespaceState) -> dict[str, object]:
    return {"namespace": str(state.namespace), **plain_policies(state.policies)}


def _manifest(kind: str, body: Mapping[str, object]) -> bytes:
    head = {"apiVersion": API_VERSION, "kind": kind.capitalize()}
    return (first_line(kind, _DEPTH) + yaml_text({**head, **body})).encode("utf-8", "replace")


class _Topic:
    """One topic on its way into files."""

    def __init__(
        self,
        state: TopicState,
        names: FileNames,
        files: dict[str, bytes],
        protos: Protos,
        *,
        is_shared: bool,
    ) -> None:
        self._existing = protos.existing
        self._is_shared = is_shared
        self._state = state
        self._files = files
        self._names = names
        self._protos = protos.sources.get(state.topic)
        self._apart = state.topic in protos.apart
        self._folder = _folder(state.topic.namespace)
        latest = state.history.latest
        self._info = latest.info if latest else None
        self._pair = self._halves(self._info)
        self._stem = names.stem(state.topic, self._paths)

    def write(self) -> None:
        """Add the manifest and the definitions."""
        body: dict[str, object] = {}
        topic = self._state.topic
        if topic.domain != "persistent":
            body["topic"] = str(topic)
        elif topic.local_name != self._stem:
            body["topic"] = topic.local_name
        if self._info is not None:
            body["schema"] = self._schema(self._info)
        if policies := plain_policies(self._state.policies):
            body["policies"] = policies
        self._files[f"{self._folder}/{self._stem}.yaml"] = _manifest("topic", body)

    @staticmethod
    def _halves(info: SchemaInfo | None) -> Pair | None:
        if info is None or info.type is not SchemaType.KEY_VALUE:
            return None
        return take_apart(info)

    def _paths(self, stem: str) -> list[str]:
        halves = [f".{half}{ending}" for half in HALVES for ending in WRITTEN_EXTENSIONS]
        own = [".yaml", *([self._ending_of(self._info.type)] if self._info else [])]
        protos = self._protos.files(stem, complete=True) if self._protos else ()
        apart = [f"/{name}" for name in protos]
        ends = (*own, *(halves if self._pair else ()), *apart)
        return [f"{self._folder}/{stem}{end}" for end in ends]

    def _ending_of(self, schema_type: SchemaType) -> str:
        extension = extension_of(schema_type)
        return ".json" if extension == AVSC and not self._is_shared else extension

    def _schema(self, info: SchemaInfo) -> dict[str, object]:
        if self._pair is not None:
            return self._files_of_pair(self._pair)
        schema: dict[str, object] = {"type": info.type.value}
        if self._protos is not None:
            schema |= self._files_of_protos(self._protos)
        elif info.schema or info.type in DEFINED_TYPES:
            schema["definition"] = self._put(self._ending_of(info.type), info.schema)
        if info.properties:
            schema["properties"] = dict(sorted(info.properties.items()))
        return schema

    def _files_of_pair(self, pair: Pair) -> dict[str, object]:
        schema: dict[str, object] = {
            "type": SchemaType.KEY_VALUE.value,
            "encoding": pair.encoding.value,
            "key": self._half("key", pair.key),
            "value": self._half("value", pair.value),
        }
        if pair.properties:
            schema["properties"] = dict(sorted(pair.properties.items()))
        return schema

    def _files_of_protos(self, protos: ProtoSources) -> dict[str, object]:
        files = protos.files(self._stem, complete=self._apart)
        folder = ""
        if self._apart or self._name_clash(files):
            folder = self._equal_folder(files) or f"{self._stem}/"
        for name, text in files.items():
            self._files[f"{self._folder}/{folder}{name}"] = text.encode()
        definition = f"{folder}{protos.definition(self._stem)}"
        return {"definition": definition, "message": protos.message}

    def _equal_folder(self, files: Mapping[str, str]) -> str:
        """A folder of an earlier topic of the namespace that has the same files; empty if none."""
        first, prefix = next(iter(files)), f"{self._folder}/"
        for path in self._files:
            if not (path.startswith(prefix) and path.endswith(f"/{first}")):
                continue
            folder = path.removeprefix(prefix).removesuffix(first)
            texts = {name: self._files.get(f"{prefix}{folder}{name}") for name in files}
            if folder and texts == {name: text.encode() for name, text in files.items()}:
                return folder
        return ""

    def _name_clash(self, files: Mapping[str, str]) -> bool:
        """Whether other files have these names, here or at the root, where imports are found."""
        written = {path.lower(): path for path in self._files if path.endswith(".proto")}
        for name, text in files.items():
            path = f"{self._folder}/{name}"
            other = written.get(path.lower(), path)
            if other != path or self._files.get(path, text.encode()) != text.encode():
                return True
            is_other = self._names.is_taken(path) and self._existing(path) != text.encode()
            if is_other or self._names.is_taken(name):
                return True
        return False

    def _half(self, which: str, half: Half) -> dict[str, object]:
        schema: dict[str, object] = {"type": half.type.value}
        if half.name != default_name(half):
            schema["name"] = half.name
        if half.text:
            schema["definition"] = self._put(f".{which}{self._ending_of(half.type)}", half.text)
        if half.properties:
            schema["properties"] = dict(half.properties)
        return schema

    def _put(self, ending: str, text: str) -> str:
        name = f"{self._stem}{ending}"
        self._files[f"{self._folder}/{name}"] = text.encode("utf-8", "replace")
        return name
