"""`plan`: the files with their history in git against a registry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gitops.changes.known_names import known_names
from gitops.changes.repository_plan import PlanRequest, plan_repository
from gitops.changes.undo import Undo, undo_commit, undo_plan
from gitops.model.plan import Plan
from gitops.ports import FileTree, Progress, no_progress
from gitops.registries.git.provenance import provenance_at_head


def plan(
    planning: PlanRequest, root: Path, tree: FileTree, progress: Progress = no_progress
) -> Plan:
    """Read the history of the files at `root`, then the registry, and compare.

    For a reviewed plan the history is not read: it says what it looked at. Raises
    UnplannableError, OutsideError.
    """
    if planning.reviewed is None:
        repository = planning.repository
        planning = replace(
            planning,
            known=known_names(root, tree, repository, planning.registry.name),
            look_up=provenance_at_head(root, repository),
        )
    return plan_repository(planning, progress)


def undo(
    change: Mapping[str, Any] | str, planning: PlanRequest, root: Path, tree: FileTree
) -> Undo:
    """The files with which a plan brings back what a plan, or a commit, changed.

    Raises OutsideError, and UsageError where there is no such commit, or none before it.
    """
    if isinstance(change, str):
        return undo_commit(change, planning, root, tree)
    return undo_plan(change, planning, root, tree)
