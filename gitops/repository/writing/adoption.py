"""What a registry has, written into the files that have it otherwise: drift, adopted.

Each subject is adopted as a whole or not at all; what stands in the way is kept with its reason.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from gitops.model.drift import (
    Drift,
    NamespaceDeletion,
    PartitionDrift,
    PolicyDrift,
    SchemaDeletion,
    UnmanagedNamespace,
    UnmanagedTopic,
    VersionDrift,
    VersionLoss,
)
from gitops.model.errors import GitopsError, UsageError
from gitops.model.findings import Severity
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import NamespacePolicies, managed_items, plain_policies, value_text
from gitops.model.state import RegistryState, Repository, TopicState
from gitops.ports import FileTree
from gitops.repository.definitions.shared_types import WITH_MANIFESTS
from gitops.repository.documents.base import API_VERSION
from gitops.repository.file_trees import OverlaidTree, SelectedTree
from gitops.repository.formatting.repository import format_repository
from gitops.repository.formatting.yaml_text import merge_yaml
from gitops.repository.formatting.yaml_tree import UnformattableYamlError
from gitops.repository.loader import load
from gitops.repository.loading.layout import NAMESPACE_FILE
from gitops.repository.writing.imported_files import ImportedFiles, imported_files
from gitops.repository.writing.topic_rewriter import used_definitions
from gitops.repository.writing.topic_updates import update_topics
from gitops.repository.yaml.dumper import yaml_text

Subject = NamespaceName | TopicName
_BY_HAND = "edit it by hand, then run `pulsar-gitops plan`"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptionInput:
    """The files, the drift to adopt, and what the registry has of its subjects.

    `overrides` are policies that the registry has in `gitops.yaml`. `uncommitted` answers which of
    some files differ from the last commit.
    """

    tree: FileTree
    repository: Repository
    drifts: Sequence[Drift]
    observed: RegistryState
    overrides: Mapping[NamespaceName, NamespacePolicies]
    uncommitted: Callable[[Collection[str]], Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """The files that adopt drift, by path, and those to remove; and of which subjects.

    `refused` are the subjects that stay as they are, each with why and what to do. `unused` are
    shared files that nothing uses any more, `kept_as_base64` as of an import.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    kept_as_base64: Mapping[TopicName, str] = field(default_factory=dict)
    adopted: tuple[Subject, ...] = ()
    refused: Mapping[Subject, GitopsError] = field(default_factory=dict)


def adopt(adoption_input: AdoptionInput) -> Adoption:
    """The files with as much of the drift as they can express, without errors of their own."""
    adopter = _Adopter(adoption_input)
    adopter.run()
    return adopter.adoption()


class _Adopter:
    """Adopts one subject after the other; `_files` and `_removed` are what was accepted so far."""

    def __init__(self, adoption_input: AdoptionInput) -> None:
        self._input = adoption_input
        self._observed = adoption_input.observed
        self._files: dict[str, bytes] = {}
        self._removed: set[str] = set()
        self._made = ImportedFiles()
        self._tree: FileTree = adoption_input.tree
        self._repository = adoption_input.repository
        self._adopted: list[Subject] = []
        self._refused: dict[Subject, GitopsError] = {}

    def run(self) -> None:
        drifts = self._input.drifts
        deleted = {
            drift.topic
            for drift in drifts
            if isinstance(drift, SchemaDeletion) and self._observed.topics[drift.topic].is_empty
        }
        changed = (VersionDrift, PolicyDrift, PartitionDrift, SchemaDeletion)
        topics = _subjects(drifts, changed) - deleted
        # What is gone shares nothing any more with what changes.
        self._together(sorted(deleted), self._deleted_topics)
        self._together(sorted(_topics(topics)), self._topics)
        for name in sorted(_namespaces(_subjects(drifts, (PolicyDrift,)))):
            self._together([name], self._policies)
        for name in sorted(_namespaces(_subjects(drifts, (NamespaceDeletion,)))):
            self._together([name], self._deleted_namespaces)
        new = _subjects(drifts, (UnmanagedNamespace, UnmanagedTopic))
        self._together(sorted(new, key=str), self._unmanaged)
        for topic in _topics(_subjects(drifts, (VersionLoss,))):
            self._refused[topic] = UsageError(
                "recorded versions are not in the registry, and files cannot bring them back",
                hint="`pulsar-gitops snapshot` records what is left",
            )

    def adoption(self) -> Adoption:
        return Adoption(
            files=self._files,
            removed=tuple(sorted(self._removed)),
            unused=self._made.unused,
            kept_as_base64=self._made.kept_as_base64,
            adopted=tuple(item for item in self._adopted if item not in self._refused),
            refused=self._refused,
        )

    def _together(
        self, subjects: Sequence[Subject], attempt: Callable[[Sequence[Subject]], ImportedFiles]
    ) -> None:
        """All at once, or else one by one, and then those that failed, which may share files."""
        if not subjects or self._accept(subjects, attempt) is None:
            return
        failed: dict[Subject, GitopsError] = {}
        for subject in subjects:
            if error := self._accept([subject], attempt):
                failed[subject] = error
        if 1 < len(failed) < len(subjects) and self._accept(list(failed), attempt) is None:
            return
        self._refused |= failed

    def _accept(
        self, subjects: Sequence[Subject], attempt: Callable[[Sequence[Subject]], ImportedFiles]
    ) -> GitopsError | None:
        """Have what the attempt makes of these subjects; answers why it cannot be had."""
        try:
            made = attempt(subjects)
            self._require_committed(made)
            tree = self._tree_with(made)
            repository = load(tree)
            _require_valid(repository)
        except GitopsError as error:
            return error
        self._tree, self._repository = tree, repository
        self._removed = {*self._removed, *made.removed} - made.files.keys()
        files = {**self._files, **made.files}
        self._files = {path: files[path] for path in files if path not in self._removed}
        self._made = replace(
            self._made,
            unused=(*self._made.unused, *made.unused),
            kept_as_base64={**self._made.kept_as_base64, **made.kept_as_base64},
        )
        self._adopted += subjects
        return None

    def _tree_with(self, made: ImportedFiles) -> FileTree:
        overlaid = OverlaidTree(self._tree, made.files)
        if not made.removed:
            return overlaid
        return SelectedTree(overlaid, {*overlaid.paths()} - {*made.removed})

    def _require_committed(self, made: ImportedFiles) -> None:
        overwritten = {*self._input.tree.paths()} & {*made.files, *made.removed}
        if dirty := self._input.uncommitted(sorted(overwritten)):
            verb = "has" if len(dirty) == 1 else "have"
            raise UsageError(
                f"{', '.join(dirty)} {verb} changes that are not committed",
                hint="commit or stash them, and run the command again",
            )

    # One kind of drift each: what it makes of some subjects, or a GitopsError.

    def _topics(self, subjects: Sequence[Subject]) -> ImportedFiles:
        states = [self._observed.topics[topic] for topic in _topics(subjects)]
        edited = self._formatted(dict(chain.from_iterable(map(self._manifest, states))))
        tree = OverlaidTree(self._tree, edited)
        made = update_topics(tree, load(tree) if edited else self._repository, states)
        return replace(made, files={**edited, **made.files})

    def _manifest(self, state: TopicState) -> Iterator[tuple[str, bytes]]:
        """The topic's manifest, where policies or partitions have drifted."""
        path = self._repository.topics[state.topic].manifest.file
        new: dict[str, object] = {}
        keys: list[str] = []
        for drift in (item for item in self._input.drifts if item.subject == state.topic):
            if isinstance(drift, PolicyDrift) and "policies" not in keys:
                keys.append("policies")
                new |= {"policies": grouped} if (grouped := plain_policies(state.policies)) else {}
            elif isinstance(drift, PartitionDrift):
                keys += ("partitions", "create")
                new |= {"partitions": drift.live} if drift.live else {"create": True}
        if keys:
            yield path, self._merged(path, new, keys)

    def _policies(self, subjects: Sequence[Subject]) -> ImportedFiles:
        (name,) = _namespaces(subjects)
        drifts = [drift for drift in self._input.drifts if isinstance(drift, PolicyDrift)]
        live = {drift.key: drift.live for drift in drifts if drift.subject == name}
        own = dict(managed_items(self._input.overrides.get(name, NamespacePolicies())))
        if overridden := [key for key in live if key in own]:
            raise UsageError(
                f"gitops.yaml has {', '.join(overridden)} of {name} for this registry alone",
                where="gitops.yaml",
                hint=_BY_HAND,
            )
        file = self._namespace_file(name)
        if file is None:
            return self._unmanaged(subjects)
        new = {key: value_text(value) for key, value in live.items() if value is not None}
        return ImportedFiles(files=self._formatted({file: self._merged(file, new, tuple(live))}))

    def _namespace_file(self, name: NamespaceName) -> str | None:
        """The file of a namespace; None where only its topics have manifests, or nothing has."""
        source = self._repository.namespaces.get(name)
        is_own = source is not None and posixpath.basename(source.file) == NAMESPACE_FILE
        return source.file if source and is_own else None

    def _merged(self, path: str, new: Mapping[str, object], keys: Collection[str]) -> bytes:
        other = yaml_text({"apiVersion": API_VERSION, **new})  # nothing alone has no keys
        try:
            return merge_yaml(self._tree.read(path).decode(), other, keys).encode()
        except (UnformattableYamlError, UnicodeDecodeError):
            raise UsageError(
                "the layout of the file is too odd", where=path, hint=_BY_HAND
            ) from None

    def _formatted(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        laid_out = format_repository(OverlaidTree(self._tree, files), tuple(files)).changes
        return {
            **files,
            **{
                formatted_file.path: formatted_file.after
                for formatted_file in laid_out
                if formatted_file.path in files
            },
        }

    def _deleted_topics(self, subjects: Sequence[Subject]) -> ImportedFiles:
        manifests = {self._repository.topics[topic].manifest.file for topic in _topics(subjects)}
        tree = SelectedTree(self._tree, {*self._tree.paths()} - manifests)
        used = used_definitions(self._tree, self._repository)
        left = used - used_definitions(tree, load(tree))
        own = {path for path in left if path.startswith(WITH_MANIFESTS)}
        return ImportedFiles(
            removed=tuple(sorted(manifests | own)), unused=tuple(sorted(left - own))
        )

    def _deleted_namespaces(self, subjects: Sequence[Subject]) -> ImportedFiles:
        (name,) = _namespaces(subjects)
        if left := [topic for topic in self._repository.topics if topic.namespace == name]:
            raise UsageError(
                f"{name} has manifests, such as that of {min(left)}",
                hint="adopt the deletion of its topics, or remove the folder by hand",
            )
        file = self._namespace_file(name)
        return ImportedFiles(removed=(file,) if file else ())

    def _unmanaged(self, subjects: Sequence[Subject]) -> ImportedFiles:
        state = RegistryState(
            namespaces={
                namespace: self._observed.namespaces[namespace]
                for namespace in _namespaces(subjects)
            },
            topics={topic: self._observed.topics[topic] for topic in _topics(subjects)},
        )
        return imported_files(self._tree, self._repository, state)


def _subjects(drifts: Iterable[Drift], kinds: tuple[type, ...]) -> set[Subject]:
    return {drift.subject for drift in drifts if isinstance(drift, kinds)}


def _topics(subjects: Iterable[Subject]) -> list[TopicName]:
    return [subject for subject in subjects if isinstance(subject, TopicName)]


def _namespaces(subjects: Iterable[Subject]) -> list[NamespaceName]:
    return [subject for subject in subjects if isinstance(subject, NamespaceName)]


def _require_valid(repository: Repository) -> None:
    """Raise UsageError with the first error of the files."""
    errors = [finding for finding in repository.findings if finding.severity is Severity.ERROR]
    if errors:
        first = errors[0]
        raise UsageError(
            f"the files would have an error: {first.message}",
            where=str(first.location or first.subject),
            hint=first.hint,
        )
