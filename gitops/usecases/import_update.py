"""The registry's latest version of topics that have a manifest, as changes of their files."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from gitops.compatibility.avro.json_text import JsonTextError, read_json
from gitops.git.checkout import open_checkout
from gitops.git.references import head_of
from gitops.git.tree import tree_of
from gitops.model.errors import NotThereError, UnreadableFileError, UsageError
from gitops.model.findings import Severity
from gitops.model.names import TopicName
from gitops.model.repository import Repository
from gitops.model.schema import AVRO_DEFINED, SchemaInfo
from gitops.model.state import RegistryState, TopicState
from gitops.planning.diff.schemas import schema_changes
from gitops.planning.policies import changes
from gitops.planning.sameness import is_same
from gitops.ports import FileTree
from gitops.repository.definitions.key_value import compact
from gitops.repository.definitions.protoc import Protoc
from gitops.repository.definitions.shared_types import WITH_MANIFESTS
from gitops.repository.formatting.yaml_text import merge_yaml
from gitops.repository.formatting.yaml_tree import OddYamlError
from gitops.repository.loader import load
from gitops.repository.mentions import mentions
from gitops.repository.selection import OverlaidTree
from gitops.repository.writer import Protos, render
from gitops.repository.writing.protos import sources_of
from gitops.repository.writing.references import with_references
from gitops.repository.yaml.dumper import yaml_text
from gitops.repository.yaml.parser import parse_yaml
from gitops.usecases.format import format_repository
from gitops.usecases.import_registry import Imported

_PARTS: Final = ("schema", "policies")
_OTHER_BYTES: Final = "its `.proto` files compile to other bytes"


def update_topics(tree: FileTree, repository: Repository, states: Sequence[TopicState]) -> Imported:
    """The files of these topics as the registry has them, so that a plan has nothing to say.

    Nothing else may change by it. Raises NotThereError where the registry has nothing to take, and
    UsageError where the files cannot say what the registry has, or would say something else of
    others.
    """
    updating = frozenset(state.topic for state in states)
    found, now = Imported(), repository
    for state in states:
        if state.is_empty:
            hint = "remove its manifest"
            raise NotThereError(f"{state.topic} has no schema in the registry", hint=hint)
        one = _updated(OverlaidTree(tree, found.files), now, state, updating)
        found = replace(
            found,
            files={**found.files, **one.files},
            kept_as_base64={**found.kept_as_base64, **one.kept_as_base64},
        )
        now = load(OverlaidTree(tree, found.files))
    if any(each.severity is Severity.ERROR for each in now.findings):
        raise UsageError("the files have errors", hint="see `pulsar-gitops validate`")
    apart = [str(state.topic) for state in states if not _says(now, state)]
    if apart:
        raise UsageError(
            f"the registry has different versions of what {', '.join(apart)} shares with others",
            hint="update one after the other, and change the files that they share by hand",
        )
    return _cleared(tree, repository, found, now)


def _updated(
    tree: FileTree, repository: Repository, state: TopicState, updating: Collection[TopicName]
) -> Imported:
    _require_protoc(repository, state.topic)
    if _says(repository, state):
        return Imported()
    others: set[str] = set()
    for attempt in _attempts(tree, repository, state):
        overlaid = OverlaidTree(tree, attempt.files)
        laid_out = format_repository(overlaid, tuple(attempt.files)).changes
        files = {**attempt.files, **{change.path: change.after for change in laid_out}}
        after = load(OverlaidTree(tree, files))
        if not _says(after, state):
            continue
        changed = _changed(repository, after, updating)
        if not changed:
            return replace(attempt, files=files)
        others |= changed
    where = repository.topics[state.topic].manifest.file
    if others:
        raise UsageError(
            f"an update of {state.topic} would change {', '.join(sorted(others))}: the registry "
            "has another version of what they share",
            where=where,
            hint="name topics that share it with --update as well, or change the files by hand",
        )
    raise UsageError(
        f"the files of {state.topic} cannot say what the registry has",
        where=where,
        hint=f"look at it with `pulsar-gitops schemas get {state.topic}`",
    )


def _require_protoc(repository: Repository, topic: TopicName) -> None:
    """Raise UsageError where the files are `.proto` files, and nothing can compile them."""
    source = repository.topics[topic]
    if any(path.endswith(".proto") for path in source.definitions) and not Protoc.is_installed():
        raise UsageError(
            f"no protoc to compile {source.definitions[0]} with",
            where=source.manifest.file,
            hint="install pulsar-schema-gitops with its extra 'protobuf'",
        )


def _changed(before: Repository, after: Repository, updating: Collection[TopicName]) -> set[str]:
    """The other topics, and the clients, of which the files say something else."""
    topics = {
        str(name)
        for name, topic in before.desired.topics.items()
        if name not in updating and after.desired.topics.get(name) != topic
    }
    clients = {client.name: client for client in after.clients}
    return topics | {
        f"client {client.name}" for client in before.clients if clients.get(client.name) != client
    }


def _cleared(tree: FileTree, before: Repository, found: Imported, after: Repository) -> Imported:
    """With the definitions that nothing uses any more, without files that stay as they are."""
    final = OverlaidTree(tree, found.files)
    left = sorted(_used(tree, before) - _used(final, after) - found.files.keys())
    return replace(
        found,
        files={path: data for path, data in found.files.items() if _read(tree, path) != data},
        removed=tuple(path for path in left if path.startswith(WITH_MANIFESTS)),
        unused=tuple(path for path in left if not path.startswith(WITH_MANIFESTS)),
    )


def _used(tree: FileTree, repository: Repository, but: TopicName | None = None) -> set[str]:
    """The definitions of all topics but one and of all clients, with what `.proto` files import."""
    topics = (source for topic, source in repository.topics.items() if topic != but)
    waiting = [path for source in topics for path in source.definitions]
    waiting += [path for client in repository.clients for path in client.definitions]
    known, used = frozenset(tree.paths()), set[str]()
    while waiting:
        path = waiting.pop()
        if path in known and path not in used:
            used.add(path)
            if path.endswith(".proto"):
                waiting += mentions(path, tree.read(path)).files
    return used


def require_committed(tree: FileTree, root: Path, paths: Iterable[str]) -> None:
    """Raise UsageError where a file that would be overwritten differs from the last commit."""
    dirty: list[str] = []
    try:
        with open_checkout(root) as checkout:
            commit = head_of(checkout)
            committed = tree_of(checkout, commit) if commit else None
            dirty = [p for p in paths if committed is None or _read(committed, p) != _read(tree, p)]
    except UsageError:  # without git nothing is committed
        return
    if dirty:
        raise UsageError(
            f"{', '.join(dirty)} would be overwritten, and has changes that are not committed",
            hint="commit or stash them first",
        )


def _read(tree: FileTree, path: str) -> bytes | None:
    try:
        return tree.read(path).replace(b"\r\n", b"\n")
    except UnreadableFileError:
        return None


def _says(repository: Repository, state: TopicState) -> bool:
    """Whether a plan for the files would leave the topic alone."""
    desired = repository.desired.topics.get(state.topic)
    if desired is None or changes(desired.policies, state.policies):
        return False
    held, wanted = state.history.latest, desired.history.latest
    if held is None or wanted is None:
        return held is wanted
    return _is_unchanged(held.info, wanted.info)


def _is_unchanged(held: SchemaInfo, wanted: SchemaInfo) -> bool:
    return is_same(held, wanted) and not schema_changes(held, wanted)


def _attempts(tree: FileTree, repository: Repository, state: TopicState) -> Iterator[Imported]:
    """The definition alone, then the manifest with files of its own."""
    source = repository.topics[state.topic]
    latest = state.history.latest
    writer = _Writer(tree, repository, state)
    if latest and latest.info.type in AVRO_DEFINED and source.definitions:
        file = source.definitions[0]
        yield Imported(files=writer.with_references({file: latest.info.schema.encode()}))
    sources, reasons = sources_of(RegistryState(topics={state.topic: state}))
    for protos in (Protos(sources=sources), Protos(sources=sources, apart=sources), Protos()):
        kept = reasons if not sources or protos.sources else dict.fromkeys(sources, _OTHER_BYTES)
        for taken in (writer.free_of_own, tree.paths()):
            files = writer.rendered(protos, taken)
            if files:
                yield Imported(files=files, kept_as_base64=kept)
        if not sources:
            return


class _Writer:
    """The files of one topic as they would be."""

    def __init__(self, tree: FileTree, repository: Repository, state: TopicState) -> None:
        self._tree = tree
        self._state = state
        source = repository.topics[state.topic]
        self._manifest = source.manifest.file
        self._named = _named_definitions(self._manifest, tree.read(self._manifest))
        self._shared = [each for each in source.definitions if each not in self._named.values()]
        alone = _used(tree, repository) - _used(tree, repository, state.topic)
        self._own = {path for path in alone - {*self._shared} if path.startswith(WITH_MANIFESTS)}
        self.free_of_own = tuple({*tree.paths()} - self._own - {self._manifest})

    def rendered(self, protos: Protos, taken: Collection[str]) -> dict[str, bytes]:
        """As an import writes it, but for the rest of the manifest; none where that is odd."""
        state = RegistryState(topics={self._state.topic: self._state})
        files = render(state, taken=taken, protos=protos)
        path = next(each for each in files if each.endswith(".yaml"))
        new = files.pop(path)
        if taken is self.free_of_own:
            new = self._with_old_names(new, files)
        try:
            old = self._tree.read(self._manifest).decode()
            manifest = merge_yaml(old, new.decode(), _PARTS)
        except OddYamlError:
            return {}
        return {**self.with_references(files), self._manifest: manifest.encode()}

    def _with_old_names(self, manifest: bytes, files: dict[str, bytes]) -> bytes:
        """The manifest with the names that its definitions have had; `files` get them too."""
        value: Any = deepcopy(parse_yaml(manifest).value)
        for place, path in _named_definitions(self._manifest, manifest).items():
            old = self._named.get(place, "")
            is_alike = path.rpartition(".")[2] == old.rpartition(".")[2] != "proto"
            if is_alike and old in self._own:
                files[old] = files.pop(path)
                schema = value["schema"][place] if place else value["schema"]
                schema["definition"] = posixpath.relpath(old, posixpath.dirname(self._manifest))
        return yaml_text(value).encode()

    def with_references(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """Avro definitions with the shared types that the topic has used so far."""
        found = dict(files)
        for path in files:
            if path.endswith(".avsc") and self._shared:
                tree = OverlaidTree(self._tree, found)
                text = found[path].decode()
                folded = with_references(text, path, self._shared, tree, self._is_same)
                found |= {**folded.shared, path: folded.text.encode("utf-8", "replace")}
        return {path: self._as_laid_out(path, data) for path, data in found.items()}

    def _as_laid_out(self, path: str, data: bytes) -> bytes:
        """The file as it is, with its comments, where it says the same."""
        old = _read(self._tree, path)
        try:
            is_same = old is not None and read_json(old.decode()) == read_json(data.decode())
        except (JsonTextError, UnicodeDecodeError, RecursionError):
            return data
        return old if is_same and old is not None else data

    def _is_same(self, one: str, other: str) -> bool:
        """Whether texts are one definition, which in a half of a KEY_VALUE is one text."""
        latest = self._state.history.latest
        if latest is None or latest.info.type not in AVRO_DEFINED:
            return _compact(one) == _compact(other)
        return _is_unchanged(replace(latest.info, schema=one), replace(latest.info, schema=other))


def _named_definitions(manifest: str, data: bytes) -> dict[str, str]:
    """The files that a manifest names: its schema's by "", those of halves by their key."""
    parsed: Any = parse_yaml(data).value
    schema = parsed.get("schema") if isinstance(parsed, dict) else None
    found: dict[str, str] = {}
    for place in ("", "key", "value"):
        part = schema.get(place) if place and isinstance(schema, dict) else schema
        name = part.get("definition") if isinstance(part, dict) else None
        if isinstance(name, str) and not name.startswith(("{", "[", '"')):
            found[place] = posixpath.normpath(posixpath.join(posixpath.dirname(manifest), name))
    return found


def _compact(text: str) -> str | None:
    try:
        return compact(text)
    except JsonTextError:
        return None
