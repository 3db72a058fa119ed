"""A change of a repository: both versions of its files, as much of them as the change needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from gitops.changes.registries import changed_overrides, defaults_differ
from gitops.changes.sample_files import manifests_of
from gitops.git.changed_files import ChangedFolder, add_links, changes_between, changes_in_folder
from gitops.git.checkout import Checkout
from gitops.git.references import commit_of, merge_base
from gitops.git.tree import CommitTree, files_with_words, tree_of
from gitops.model.config import Config
from gitops.model.errors import InvalidNameError, UsageError
from gitops.model.names import NamespaceName
from gitops.model.state import RegistryState, Repository
from gitops.planning.severities import stricter
from gitops.ports import FileTree, Progress, no_progress
from gitops.repository.affected_files import ChangedFile, affected_files, is_mentioned
from gitops.repository.file_trees import FolderTree, SelectedTree
from gitops.repository.loader import load
from gitops.repository.loading.layout import CONFIG
from gitops.repository.loading.settings import load_settings
from gitops.repository.tracked_files import TrackedFiles

NO_CONFIG: Final = Config(registries={}, default_registry="")
UNUSED: Final = "REPO-R023"
"""The rule of files that nothing uses."""
_NAMESPACE_FILE: Final = re.compile(r"namespaces/([^/]+/[^/]+)/namespace\.yaml")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRequest:
    """What a user asks for: the base, and the change; None for the files in the folder."""

    base: str
    head: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Two versions of the files.

    `base` is the commit that both have in common; `head` is empty for the files in the folder.
    `tip` is the commit that the user names as the base, which may be ahead of `base`: `merged` are
    the paths that were changed there since.
    """

    checkout: Checkout
    base: str
    head: str
    tip: str
    base_tree: CommitTree
    head_tree: FileTree
    tip_tree: CommitTree
    files: tuple[ChangedFile, ...]
    merged: frozenset[str]

    @property
    def changed(self) -> frozenset[str]:
        """The paths that were changed, old and new ones."""
        return _paths(self.files)


@dataclass(frozen=True, kw_only=True)
class LoadedChange:
    """Both versions, as far as the change affects them.

    `leads` are, for files that the change reaches, the changed files that lead there, `sampled`,
    for manifests that it leaves alone, the changed files that are their samples. The trees hold
    what was read and nothing else. `used` are definitions that only files use which were not
    read. `had_config` is false where the base is no schemas repository.
    """

    change: Change
    base: Repository
    head: Repository
    base_tree: FileTree
    head_tree: FileTree
    leads: Mapping[str, frozenset[str]]
    sampled: Mapping[str, frozenset[str]]
    used: frozenset[str] = frozenset()
    had_config: bool

    @cached_property
    def changed(self) -> frozenset[str]:
        """The paths that were changed, old and new ones."""
        return self.change.changed

    @cached_property
    def base_paths(self) -> frozenset[str]:
        """All files of the base, also those that the change does not affect."""
        return frozenset(self.change.base_tree.paths())

    @cached_property
    def head_paths(self) -> frozenset[str]:
        """All files of the head, also those that the change does not affect."""
        return frozenset(self.change.head_tree.paths())

    @cached_property
    def renamed(self) -> Mapping[str, str]:
        """New path → old path, of files that git takes for renamed."""
        return {
            file.after: file.before
            for file in self.change.files
            if file.before and file.after and file.before != file.after
        }

    @cached_property
    def limits(self) -> Config:
        """What the change is judged by: the stricter of both versions."""
        if not self.had_config:
            return self.head.config
        return stricter(self.base.config, self.head.config)

    @cached_property
    def is_config_changed(self) -> bool:
        """Whether the change touches gitops.yaml."""
        return CONFIG in self.changed

    @cached_property
    def namespace_files(self) -> Mapping[NamespaceName, str]:
        """The changed files of namespaces, by namespace."""
        files = {}
        for path in sorted(self.changed):
            match = _NAMESPACE_FILE.fullmatch(path)
            try:
                if match:
                    files[NamespaceName.parse(match[1])] = path
            except InvalidNameError:
                continue  # which is a finding of the files
        return files


def find_change(checkout: Checkout, request: ChangeRequest) -> Change:
    """What a user's words mean; raises UsageError, OutsideError."""
    tip = commit_of(checkout, request.base)
    head = commit_of(checkout, request.head or "HEAD")
    base = merge_base(checkout, tip, head, request.base)
    old = tip_tree = tree_of(checkout, base)
    merged = frozenset[str]()
    if tip != base:
        tip_tree = tree_of(checkout, tip)
        merged = _paths(changes_between(checkout, base, tip))
    if request.head is not None:
        new_commit = tree_of(checkout, head)
        files = add_links(changes_between(checkout, base, head), (old, new_commit))
        new: FileTree = new_commit
    else:
        head = ""
        files = add_links(changes_in_folder(checkout, base), (old,))
        new = ChangedFolder(old, FolderTree(checkout.root), files)
    return Change(
        checkout=checkout,
        base=base,
        head=head,
        tip=tip,
        base_tree=old,
        head_tree=new,
        tip_tree=tip_tree,
        files=files,
        merged=merged,
    )


def _paths(files: Iterable[ChangedFile]) -> frozenset[str]:
    """Old and new paths of changed files."""
    return frozenset(path for file in files for path in (file.before, file.after) if path)


def load_change(
    change: Change, progress: Progress = no_progress, release: str | None = None
) -> LoadedChange:
    """Read what the change touches, needs and reaches; definitions as a broker of `release` does.

    Raises UsageError where the new version is no schemas repository.
    """

    def search(words: Iterable[str], endings: Iterable[str]) -> frozenset[str]:
        return files_with_words(change.checkout, change.base, words, endings)

    trees = change.base_tree, change.head_tree
    changed = change.changed
    sampled = manifests_of(change.base_tree, changed, search)
    affected = affected_files(trees, change.files, search, _other_folders(change), sampled)
    base_tree, head_tree = (SelectedTree(tree, affected.files) for tree in trees)
    base, had_config = _load_base(base_tree, release)
    head = load(head_tree, progress, base.config if had_config else None, release=release)
    unused = {
        finding.location.file
        for finding in head.findings
        if finding.rule == UNUSED and finding.location
    }
    return LoadedChange(
        change=change,
        base=base,
        head=head,
        used=frozenset(
            path
            for path in sorted(unused)
            if is_mentioned(change.head_tree, path, search, unused | changed)
        ),
        base_tree=base_tree,
        head_tree=head_tree,
        leads=affected.leads,
        sampled=sampled,
        had_config=had_config,
    )


def _load_base(tree: FileTree, release: str | None) -> tuple[Repository, bool]:
    if CONFIG in tree.paths():
        return load(tree, release=release), True
    return Repository(config=NO_CONFIG, desired=RegistryState(), digest=""), False


def _other_folders(change: Change) -> list[str]:
    """The folders of namespaces whose policies change in gitops.yaml."""
    if not any(CONFIG in (file.before, file.after) for file in change.files):
        return []
    try:
        base, head = (
            load_settings(TrackedFiles(SelectedTree(tree, {CONFIG}))).config
            for tree in (change.base_tree, change.head_tree)
        )
    except UsageError:
        return []
    paths = {*change.base_tree.paths(), *change.head_tree.paths()}
    folders = {path.rpartition("/")[0] for path in paths if path.startswith("namespaces/")}
    if defaults_differ(base, head):
        return sorted(folders)
    return sorted(folders & {f"namespaces/{name}" for name in changed_overrides(base, head)})
