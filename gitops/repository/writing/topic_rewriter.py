"""The files of one topic rewritten for another schema, with as little change as that takes."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any, Final

from gitops.model.errors import UnreadableFileError
from gitops.model.names import TopicName
from gitops.model.schema import SchemaInfo
from gitops.model.state import RegistryState, Repository, TopicState
from gitops.planning.fingerprints import is_same
from gitops.ports import FileTree
from gitops.repository.definitions.schema_builder import compact
from gitops.repository.definitions.shared_types import WITH_MANIFESTS
from gitops.repository.file_references import file_references
from gitops.repository.file_trees import OverlaidTree
from gitops.repository.formatting.yaml_text import merge_yaml
from gitops.repository.formatting.yaml_tree import UnformattableYamlError
from gitops.repository.writing.manifests import Protos, render
from gitops.repository.writing.type_references import fold_references
from gitops.repository.yaml.dumper import yaml_text
from gitops.repository.yaml.parser import parse_yaml
from gitops.schemas.avro.json_text import JsonTextError, read_json
from gitops.schemas.diff import schema_changes
from gitops.schemas.types import AVRO_DEFINED

_PARTS: Final = ("schema", "policies")


def used_definitions(
    tree: FileTree, repository: Repository, but: Collection[TopicName] = ()
) -> set[str]:
    """The definitions of clients and of topics, `but` some, and what `.proto` files import."""
    topics = (source for topic, source in repository.topics.items() if topic not in but)
    waiting = [path for source in topics for path in source.definitions]
    waiting += [path for client in repository.clients for path in client.definitions]
    known, used = frozenset(tree.paths()), set[str]()
    while waiting:
        path = waiting.pop()
        if path in known and path not in used:
            used.add(path)
            if path.endswith(".proto"):
                waiting += file_references(path, tree.read(path)).files
    return used


def is_unchanged(held: SchemaInfo, wanted: SchemaInfo) -> bool:
    """Whether a plan sees no difference, not even one that a registry drops."""
    return is_same(held, wanted) and not schema_changes(held, wanted)


def is_same_definition(info: SchemaInfo, left: str, right: str) -> bool:
    """Whether texts are one definition of `info`, or of a half where it is a KEY_VALUE.

    A half is one text: a broker compares it without space, and otherwise as it is.
    """
    if info.type not in AVRO_DEFINED:
        return _compact(left) == _compact(right)
    return is_unchanged(replace(info, schema=left), replace(info, schema=right))


class TopicRewriter:
    """The files of one topic as they would be.

    What only `pending` topics use, it among them, may be overwritten: they are rewritten next.
    """

    def __init__(
        self,
        tree: FileTree,
        repository: Repository,
        state: TopicState,
        pending: Collection[TopicName],
    ) -> None:
        self._tree = tree
        self._state = state
        source = repository.topics[state.topic]
        self._manifest = source.manifest.file
        self._named = named_definitions(self._manifest, tree.read(self._manifest))
        self._shared = [
            definition
            for definition in source.definitions
            if definition not in self._named.values()
        ]
        alone = used_definitions(tree, repository) - used_definitions(tree, repository, pending)
        self._own = {path for path in alone - {*self._shared} if path.startswith(WITH_MANIFESTS)}
        self.free_of_own = tuple({*tree.paths()} - self._own - {self._manifest})

    def rendered(self, protos: Protos, taken: Collection[str]) -> dict[str, bytes]:
        """As an import writes it, but for the rest of the manifest; none where that is odd."""
        state = RegistryState(topics={self._state.topic: self._state})
        files = render(state, taken=taken, protos=replace(protos, existing=self._read))
        path = next(file for file in files if file.endswith(".yaml"))
        new = files.pop(path)
        if taken is self.free_of_own:
            new = self._keep_old_names(new, files)
        try:
            old = self._tree.read(self._manifest).decode()
            manifest = merge_yaml(old, new.decode(), _PARTS)
        except UnformattableYamlError:
            return {}
        return {**self.with_references(files), self._manifest: manifest.encode()}

    def _keep_old_names(self, manifest: bytes, files: dict[str, bytes]) -> bytes:
        """The manifest with the names that its definitions have had; `files` get them too."""
        value: Any = deepcopy(parse_yaml(manifest).value)
        for place, path in named_definitions(self._manifest, manifest).items():
            old = self._named.get(place, "")
            is_alike = path.rpartition(".")[2] == old.rpartition(".")[2] != "proto"
            if is_alike and old in self._own:
                files[old] = files.pop(path)
                schema = value["schema"][place] if place else value["schema"]
                schema["definition"] = posixpath.relpath(old, posixpath.dirname(self._manifest))
        return yaml_text(value).encode()

    def with_references(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """Avro definitions with the shared types that the topic has used so far."""
        grouped = dict(files)
        for path in files:
            if path.endswith(".avsc") and self._shared:
                tree = OverlaidTree(self._tree, grouped)
                text = grouped[path].decode()
                folded = fold_references(text, path, self._shared, tree, self._is_same)
                grouped |= {**folded.shared, path: folded.text.encode("utf-8", "replace")}
        return {path: self._lay_out(path, data) for path, data in grouped.items()}

    def _lay_out(self, path: str, data: bytes) -> bytes:
        """The file as it is, with its comments, where it says the same."""
        old = self._read(path)
        try:
            is_same = old is not None and read_json(old.decode()) == read_json(data.decode())
        except (JsonTextError, UnicodeDecodeError, RecursionError):
            return data
        return old if is_same and old is not None else data

    def _read(self, path: str) -> bytes | None:
        try:
            return self._tree.read(path)
        except UnreadableFileError:
            return None

    def _is_same(self, left: str, right: str) -> bool:
        latest = self._state.history.latest
        return latest is not None and is_same_definition(latest.info, left, right)


def named_definitions(manifest: str, data: bytes) -> dict[str, str]:
    """The files that a manifest names: its schema's by "", those of halves by their key."""
    parsed: Any = parse_yaml(data).value
    schema = parsed.get("schema") if isinstance(parsed, dict) else None
    grouped: dict[str, str] = {}
    for place in ("", "key", "value"):
        part = schema.get(place) if place and isinstance(schema, dict) else schema
        name = part.get("definition") if isinstance(part, dict) else None
        if isinstance(name, str) and not name.startswith(("{", "[", '"')):
            grouped[place] = posixpath.normpath(posixpath.join(posixpath.dirname(manifest), name))
    return grouped


def _compact(text: str) -> str | None:
    try:
        return compact(text)
    except JsonTextError:
        return None
