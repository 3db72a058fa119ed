"""`plan`: the files with their history in git against a registry."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gitops.changes.known_names import known_names
from gitops.changes.repository_plan import PlanRequest, plan_repository
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
