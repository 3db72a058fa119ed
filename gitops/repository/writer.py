"""Writes what a registry holds as files that, when loaded, say exactly the same."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from gitops.model.errors import UsageError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import managed_items, plain_policies
from gitops.model.schema import AVRO_DEFINED, DEFINED_TYPES, SchemaInfo, SchemaType
from gitops.model.state import NamespaceState, RegistryState, TopicState
from gitops.repository.definitions.key_value import Half
from gitops.repository.documents.base import API_VERSION
from gitops.repository.json_schema import first_line
from gitops.repository.loading.layout import NAMESPACE_FILE
from gitops.repository.writing.file_names import FileNames
from gitops.repository.writing.pairs import Pair, default_name, take_apart
from gitops.repository.yaml.dumper import yaml_text

_DEPTH: Final = 3
_TEXT_TYPES: Final = DEFINED_TYPES - AVRO_DEFINED


def render(state: RegistryState, *, taken: Collection[str] = ()) -> dict[str, bytes]:
    """Path → content of every file that says what `state` holds.

    Of a topic's history the latest schema is written; a topic without schema and policies is left
    out. No path in `taken` is written to: topics get other file names, and a `namespace.yaml`
    that is there stays. Raises UsageError for a namespace that cannot be a folder.
    """
    files: dict[str, bytes] = {}
    names = FileNames([*taken, *(_namespace_file(each) for each in state.namespaces)])
    folded = {path.lower() for path in taken}
    for _, namespace in sorted(state.namespaces.items()):
        path = _namespace_file(namespace.namespace)
        if namespace.exists and path.lower() not in folded:
            files[path] = _manifest("namespace", _namespace(namespace))
    for topic in _one_a_history(state.topics):
        _Topic(topic, names, files).write()
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

    def __init__(self, state: TopicState, names: FileNames, files: dict[str, bytes]) -> None:
        self._state = state
        self._files = files
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
        endings = (".yaml", ".avsc", ".json", ".txt")
        halves = [f".{half}{ending}" for half in ("key", "value") for ending in endings[1:]]
        own = [ending for ending in endings if ending in (".yaml", self._ending())]
        return [f"{self._folder}/{stem}{each}" for each in (*own, *(halves if self._pair else ()))]

    def _ending(self) -> str:
        return _ending(self._info.type) if self._info else ""

    def _schema(self, info: SchemaInfo) -> dict[str, object]:
        if self._pair is not None:
            return self._of_pair(self._pair)
        schema: dict[str, object] = {"type": info.type.value}
        if info.schema or info.type in DEFINED_TYPES:
            schema["definition"] = self._put(_ending(info.type), info.schema)
        if info.properties:
            schema["properties"] = dict(sorted(info.properties.items()))
        return schema

    def _of_pair(self, pair: Pair) -> dict[str, object]:
        schema: dict[str, object] = {
            "type": SchemaType.KEY_VALUE.value,
            "encoding": pair.encoding.value,
            "key": self._half("key", pair.key),
            "value": self._half("value", pair.value),
        }
        if pair.properties:
            schema["properties"] = dict(sorted(pair.properties.items()))
        return schema

    def _half(self, which: str, half: Half) -> dict[str, object]:
        schema: dict[str, object] = {"type": half.type.value}
        if half.name != default_name(half):
            schema["name"] = half.name
        if half.text:
            schema["definition"] = self._put(f".{which}{_ending(half.type)}", half.text)
        if half.properties:
            schema["properties"] = dict(half.properties)
        return schema

    def _put(self, ending: str, text: str) -> str:
        name = f"{self._stem}{ending}"
        self._files[f"{self._folder}/{name}"] = text.encode("utf-8", "replace")
        return name


def _ending(schema_type: SchemaType) -> str:
    if schema_type in AVRO_DEFINED:
        return ".avsc"
    return ".json" if schema_type in _TEXT_TYPES else ".txt"
