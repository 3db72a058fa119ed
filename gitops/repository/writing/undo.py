"""The files of a repository with some subjects as they were before a change.

Written as drift is adopted: a subject as a whole or not at all, layout and comments kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from gitops.model.drift import (
    DefinitionAnswer,
    Drift,
    PolicyDrift,
    SchemaDeletion,
    UnmanagedTopic,
    VersionDrift,
)
from gitops.model.errors import GitopsError, UsageError
from gitops.model.findings import Severity
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import (
    NamespacePolicies,
    PolicyValue,
    managed_items,
    snake_case,
)
from gitops.model.schema import SchemaHistory, SchemaInfo
from gitops.model.state import NamespaceState, RegistryState, Repository, TopicState
from gitops.planning.former_state import FormerState, FormerTopic, former_topic_state
from gitops.planning.revision import REVISION, is_revision_of, needs_revision, revision_text
from gitops.ports import FileTree
from gitops.repository.definitions.manifest_edits import manifest_definition
from gitops.repository.definitions.text_edits import Definition
from gitops.repository.file_trees import OverlaidTree, SelectedTree
from gitops.repository.formatting.repository import format_repository
from gitops.repository.loader import load
from gitops.repository.writing.adoption import Adoption, AdoptionInput, Subject, adopt
from gitops.repository.writing.topic_rewriter import named_definitions


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoInput:
    """The files, how subjects were before a change, and what the registry has of them now.

    `restored` are files that nobody has changed since, with their content before the change, None
    for one that was not there; they are kept where the others allow it. `overrides` and
    `uncommitted` are as for an adoption.
    """

    tree: FileTree
    former: FormerState
    observed: RegistryState
    overrides: Mapping[NamespaceName, NamespacePolicies]
    uncommitted: Callable[[Collection[str]], Collection[str]]
    restored: Mapping[str, bytes | None]


def undo(undo_input: UndoInput) -> Adoption:
    """The files with as much of the former state as they can express, without errors."""
    tree, former = undo_input.tree, undo_input.former
    restored = undo_input.restored
    base = _with(tree, restored)
    if any(one.severity is Severity.ERROR for one in load(base).findings):
        base, restored = tree, {}
    repository = load(base)
    states = {
        topic: former_topic_state(one, repository.desired.topics.get(topic))
        for topic, one in former.topics.items()
        if one.created is None
    }
    states |= {topic: TopicState(topic=topic) for topic in former.topics if topic not in states}
    adoption = adopt(
        AdoptionInput(
            tree=base,
            repository=repository,
            drifts=tuple(_differences(repository, former, states)),
            observed=RegistryState(
                namespaces={
                    name: _namespace(name, keys) for name, keys in former.namespaces.items()
                },
                topics=states,
            ),
            overrides=undo_input.overrides,
            uncommitted=lambda paths: list(undo_input.uncommitted(paths)),
        )
    )
    kept = {path: data for path, data in restored.items() if data is not None}
    gone = {path for path, data in restored.items() if data is None} - adoption.files.keys()
    files = {**kept, **adoption.files}
    removed = {*adoption.removed, *gone}
    adoption = replace(
        adoption,
        files={path: data for path, data in files.items() if path not in removed},
        removed=tuple(sorted(removed)),
    )
    return _Revisions(undo_input, adoption).added()


def _namespace(name: NamespaceName, keys: Mapping[str, PolicyValue]) -> NamespaceState:
    values: dict[str, Any] = {snake_case(key): value for key, value in keys.items()}
    policies = NamespacePolicies(**values)
    return NamespaceState(namespace=name, policies=policies)


def _with(tree: FileTree, files: Mapping[str, bytes | None]) -> FileTree:
    overlaid = OverlaidTree(tree, {p: data for p, data in files.items() if data is not None})
    gone = {path for path, data in files.items() if data is None}
    return SelectedTree(overlaid, {*overlaid.paths()} - gone) if gone else overlaid


def _differences(
    repository: Repository, former: FormerState, states: Mapping[TopicName, TopicState]
) -> Iterator[Drift]:
    """What the files have otherwise, as the drift that an adoption would adopt."""
    for topic, one in former.topics.items():
        now = repository.desired.topics.get(topic)
        if one.created is not None:
            yield from () if now is None else (SchemaDeletion(topic=topic, topic_exists=True),)
        elif now is None:
            yield UnmanagedTopic(topic=topic)
        else:
            yield from _of_topic(one, now, states[topic])
    for name, keys in former.namespaces.items():
        space = repository.desired.namespaces.get(name, NamespaceState(namespace=name))
        yield from _of_policies(name, dict(managed_items(space.policies)), keys)


def _of_topic(one: FormerTopic, now: TopicState, then: TopicState) -> Iterator[Drift]:
    latest = now.history.latest
    if one.schema and not (latest and is_revision_of(latest.info, one.schema)):
        yield VersionDrift(topic=one.topic, versions=(), definition=DefinitionAnswer(version=None))
    values = dict(managed_items(then.policies))
    keys = {key: values.get(key) for key in one.policies}
    yield from _of_policies(one.topic, dict(managed_items(now.policies)), keys)


def _of_policies(
    subject: NamespaceName | TopicName,
    now: Mapping[str, PolicyValue],
    then: Mapping[str, PolicyValue],
) -> Iterator[Drift]:
    for key, value in then.items():
        if now.get(key) != value:
            yield PolicyDrift(subject=subject, key=key, files=now.get(key), live=value)


# A custom property, where Pulsar would take the former schema for the old version that it is.

_POINTERS: Final = {
    "": "/schema/definition",
    "value": "/schema/value/definition",
    "key": "/schema/key/definition",
}
"""Where a manifest has a definition: the schema's own, or those of a KEY_VALUE's halves."""


class _Revisions:
    """Adds the property to one definition after the other."""

    def __init__(self, undo_input: UndoInput, adoption: Adoption) -> None:
        self._input = undo_input
        self._adoption = adoption
        self._tree = _with(
            undo_input.tree, {**adoption.files, **dict.fromkeys(adoption.removed, None)}
        )
        self._repository = load(self._tree)

    def added(self) -> Adoption:
        """The adoption with the property in each definition that needs it."""
        refused: dict[Subject, GitopsError] = {}
        for topic, one in self._input.former.topics.items():
            desired = self._repository.desired.topics.get(topic)
            latest = desired.history.latest if desired else None
            history = self._input.observed.topics[topic].history
            if one.schema and latest and needs_revision(latest.info, history):
                error = self._add(topic, one.schema, history)
                refused |= {topic: error} if error else {}
        return replace(self._adoption, refused={**self._adoption.refused, **refused})

    def _add(
        self, topic: TopicName, former: SchemaInfo, history: SchemaHistory
    ) -> GitopsError | None:
        number = revision_text(former, history)
        for path, data in self._edits(topic, number):
            tree = OverlaidTree(self._tree, {path: data})
            after = load(tree)
            if not self._is_right(topic, after, former, history):
                continue
            if dirty := self._dirty(path):
                return UsageError(
                    f"{', '.join(dirty)} has changes that are not committed",
                    hint="commit or stash them, and run the command again",
                )
            self._tree, self._repository = tree, after
            self._adoption = replace(self._adoption, files={**self._adoption.files, path: data})
            return None
        return UsageError(
            "the files have the former schema, and Pulsar keeps the latest version: no property "
            "can make it another one",
            hint="pulsar-gitops explain PLAN-R003",
        )

    def _is_right(
        self, topic: TopicName, after: Repository, former: SchemaInfo, history: SchemaHistory
    ) -> bool:
        """Whether the topic, and it alone, has the former schema, which is no older version."""
        changed = {
            name
            for name, state in self._repository.desired.topics.items()
            if after.desired.topics.get(name) != state
        }
        latest = after.desired.topics[topic].history.latest if changed == {topic} else None
        if latest is None or not is_revision_of(latest.info, former):
            return False
        return not needs_revision(latest.info, history)

    def _dirty(self, path: str) -> Collection[str]:
        is_there = path in self._input.tree.paths() and path not in self._adoption.files
        return self._input.uncommitted([path]) if is_there else ()

    def _edits(self, topic: TopicName, number: str) -> Iterator[tuple[str, bytes]]:
        """Files with the property in a definition of the topic."""
        manifest = self._repository.topics[topic].manifest.file
        named = named_definitions(manifest, self._tree.read(manifest))
        for place in _POINTERS:
            file = named.get(place)
            path, start = file or manifest, "" if file else _POINTERS[place]
            text = self._tree.read(path).decode("utf-8", "replace")
            found = Definition(path, text) if file else manifest_definition(path, text, start)
            if found and (edited := _with_property(found, start, number)):
                yield path, self._laid_out(path, edited.encode())

    def _laid_out(self, path: str, data: bytes) -> bytes:
        """As `fmt` has it, if the file was so before."""
        if format_repository(self._tree, (path,)).changes:
            return data
        changes = format_repository(OverlaidTree(self._tree, {path: data}), (path,)).changes
        return next((one.after for one in changes if one.path == path), data)


def _with_property(definition: Definition, start: str, number: str) -> str | None:
    """The text with the property behind the outermost type; None where that is no object."""
    value = json.dumps(number)
    if definition.at(f"{start}/{REVISION}") is not None:
        return definition.replace(f"{start}/{REVISION}", value)
    return definition.add_member(f"{start}/type", REVISION, value)
