"""How subjects were before a plan or a commit, and the files that bring that back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from gitops.changes.registries import desired_state, former_config
from gitops.changes.repository_plan import PlanRequest
from gitops.git.changed_files import changes_between, uncommitted_files
from gitops.git.checkout import Checkout, open_checkout
from gitops.git.references import commit_of
from gitops.git.tree import CommitTree, tree_of
from gitops.model.errors import GitopsError, OutsideError, UnreadableFileError, UsageError
from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.state import RegistryState, Repository, Scope
from gitops.planning.fingerprints import is_same
from gitops.planning.former_state import (
    FormerState,
    FormerTopic,
    before_commit,
    before_plan,
    commit_scope,
    plan_scope,
)
from gitops.planning.undo_findings import left, versions_left
from gitops.ports import FileTree, MessageStore, Registry, UnreadableTopicsError
from gitops.registries.snapshot import SnapshotRegistry
from gitops.repository.loader import load
from gitops.repository.loading.layout import NAMESPACE_FILE
from gitops.repository.writing.adoption import Adoption
from gitops.repository.writing.topic_rewriter import used_definitions
from gitops.repository.writing.undo import UndoInput, undo

_CLIENTS: Final = "clients/"
_ROOT: Final = "the first commit of the history has nothing before it"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Before:
    """The former state, with what the registry has now and files that nobody changed since."""

    former: FormerState
    observed: RegistryState
    restored: Mapping[str, bytes | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """The files with which a plan undoes a change, by path, and those to remove.

    `deletable` are topics that the change made, whose schemas the plan deletes: they have no
    messages. `remarks` are about what cannot be undone.
    """

    files: Mapping[str, bytes]
    removed: tuple[str, ...]
    deletable: frozenset[TopicName]
    remarks: tuple[Finding, ...]


def undo_plan(
    document: Mapping[str, Any], planning: PlanRequest, root: Path, tree: FileTree
) -> Undo:
    """How a reviewed plan found its subjects, written into the files.

    Raises OutsideError, and UsageError for files that cannot be read.
    """
    registry = planning.registry
    scope = plan_scope(document)
    observed = _observe(registry, scope)
    recorded = SnapshotRegistry(registry.name, tree, registry.broker).observe(scope)
    former = before_plan(document, observed, recorded, registry.broker)
    before = _Before(former=former, observed=observed, restored={})
    return _undone(before, planning, root, tree)


def undo_commit(reference: str, planning: PlanRequest, root: Path, tree: FileTree) -> Undo:
    """How the files had the subjects that a commit changed, written into the files.

    Raises OutsideError, and UsageError where there is no such commit, or none before it.
    """
    with open_checkout(root) as checkout:
        before = _before_commit(checkout, commit_of(checkout, reference), planning, tree)
    return _undone(before, planning, root, tree)


def _before_commit(
    checkout: Checkout, commit: str, planning: PlanRequest, tree: FileTree
) -> _Before:
    try:
        parent = commit_of(checkout, f"{commit}^")
    except UsageError:
        raise UsageError(_ROOT, where=commit, hint="name a later commit, or a plan file") from None
    trees = tree_of(checkout, parent), tree_of(checkout, commit)
    old, new = (_loaded(each, planning) for each in trees)
    was, became = _desired(old, planning), _desired(new, planning)
    scope = commit_scope(was, became)
    registry = planning.registry
    observed = _observe(registry, scope)
    recorded = SnapshotRegistry(registry.name, trees[0], registry.broker).observe(scope)
    former = before_commit(was, became, recorded, observed)
    changed = {
        path
        for one in changes_between(checkout, parent, commit)
        for path in (one.before, one.after)
        if path
    }
    known = changed & (_files(trees[0], old, former) | _files(trees[1], new, former))
    restored = {
        path: _read(trees[0], path)
        for path in sorted(known)
        if _is_restorable(path, trees) and _is_unchanged(tree, trees[1], path)
    }
    return _Before(former=former, observed=observed, restored=restored)


def _loaded(tree: FileTree, planning: PlanRequest) -> Repository:
    """The files of a commit; raises UsageError where they leave open what they want."""
    found = load(tree, release=planning.release)
    errors = [one for one in found.findings if one.severity is Severity.ERROR]
    if errors:
        raise UsageError(
            f"the files of the commit, or of the one before it, have an error: {errors[0].message}",
            where=str(errors[0].location or errors[0].subject),
            hint="name another commit, or the plan file that was applied",
        )
    return found


def _desired(repository: Repository, planning: PlanRequest) -> RegistryState:
    """What files want of the registry, by what they have about it themselves."""
    now, name = planning.repository.config, planning.registry.name
    return desired_state(repository, former_config(name, repository.config, now))


def _files(tree: FileTree, repository: Repository, former: FormerState) -> set[str]:
    """What makes up the former subjects; definitions of clients are theirs."""
    topics = {
        source.manifest.file
        for topic, source in repository.topics.items()
        if topic in former.topics
    }
    spaces = {
        where.file for name, where in repository.namespaces.items() if name in former.namespaces
    }
    used = used_definitions(tree, repository)
    return topics | spaces | {path for path in used if not path.startswith(_CLIENTS)}


def _is_restorable(path: str, trees: tuple[CommitTree, CommitTree]) -> bool:
    """Not the file of a namespace that the commit made: the namespace stays."""
    return not path.endswith(f"/{NAMESPACE_FILE}") or _read(trees[0], path) is not None


def _is_unchanged(now: FileTree, then: FileTree, path: str) -> bool:
    one, other = _read(now, path), _read(then, path)
    return _lines(one) == _lines(other)


def _lines(data: bytes | None) -> bytes | None:
    return data if data is None else data.replace(b"\r\n", b"\n")


def _read(tree: FileTree, path: str) -> bytes | None:
    try:
        return tree.read(path)
    except UnreadableFileError:
        return None


def _observe(registry: Registry, scope: Scope) -> RegistryState:
    """What the registry has, without anything of topics that it cannot show."""
    try:
        return registry.observe(scope)
    except UnreadableTopicsError as error:
        raise OutsideError(error.what, where=error.where, hint=error.hint) from error


def _undone(before: _Before, planning: PlanRequest, root: Path, tree: FileTree) -> Undo:
    adoption = undo(
        UndoInput(
            tree=tree,
            former=before.former,
            observed=before.observed,
            overrides=planning.config.namespaces,
            uncommitted=partial(uncommitted_files, tree, root),
            restored=before.restored,
        )
    )
    deletable, kept = _deletable(before, planning.registry, adoption)
    return Undo(
        files=adoption.files,
        removed=adoption.removed,
        deletable=deletable,
        remarks=(
            *before.former.left,
            *(
                left(one, f"not undone: {why.what}", why.hint)
                for one, why in adoption.refused.items()
            ),
            *kept,
            *versions_left(before.former.schemas, before.observed),
        ),
    )


# What the change made: deleted again, where no message needs it.


def _deletable(
    before: _Before, registry: Registry, adoption: Adoption
) -> tuple[frozenset[TopicName], list[Finding]]:
    deletable, kept = set(), []
    for topic, one in before.former.topics.items():
        if topic in adoption.refused or not _is_made(one, before.observed):
            continue
        if why := _obstacle(one, before.observed, registry):
            hint = f"once nobody needs it: pulsar-gitops schemas delete {topic}"
            kept.append(left(topic, f"its schema stays: {why}", hint))
        else:
            deletable.add(topic)
    return frozenset(deletable), kept


def _is_made(one: FormerTopic, observed: RegistryState) -> bool:
    return one.created is not None and bool(observed.topics[one.topic].history.entries)


def _obstacle(one: FormerTopic, observed: RegistryState, registry: Registry) -> str:
    """Why the schema of a topic that the change made is not deleted; empty where it can be."""
    entries = observed.topics[one.topic].history.entries
    others = [f"v{e.version}" for e in entries if one.created and not is_same(e.info, one.created)]
    if others:
        return f"the change did not register {', '.join(others)}"
    if not isinstance(registry, MessageStore):
        return ""
    try:
        stored = registry.has_messages(one.topic)
    except GitopsError as error:
        return f"whether the topic has messages is not known ({error.what})"
    return "the topic has messages, which do not decode without it" if stored else ""
