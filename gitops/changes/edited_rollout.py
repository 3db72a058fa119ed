"""The order of the upgrades as it would be with the edits that a check offers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from gitops.model.check import PlannedRollout
from gitops.model.findings import Severity
from gitops.model.names import TopicName
from gitops.model.plan import Plan, RefusedSchema, RegisterSchema
from gitops.model.schema import SchemaInfo
from gitops.model.state import Repository
from gitops.planning.plan import PlanInput, make_plan
from gitops.ports import FileTree
from gitops.repository.file_trees import OverlaidTree
from gitops.repository.loader import load
from gitops.repository.plan_fixes import FixRequest, fixed_files
from gitops.rollout.rollout import RolloutRequest, rollout_of

_EDITS: Final = 20
"""More are not all shown."""
_TRIALS: Final = 1_000
"""Edits times refused topics: a type that many use is planned with all of them, some seconds."""


def edited_rollout(
    request: RolloutRequest,
    fix_request: FixRequest,
    plan_input_of: Callable[[Repository, FileTree], PlanInput],
) -> PlannedRollout | None:
    """What the next check would say of the edited files, clients that use them included.

    None where nothing is refused, where an edit is missing or something is refused after all, and
    where the edits change what Pulsar accepts: of that the findings say what holds without them.
    """
    if not _is_mended(request.plan):
        return None
    tree = OverlaidTree(fix_request.tree, fixed_files(request.plan, fix_request, in_all=True))
    head = load(tree, least=request.base.config, release=fix_request.release)
    plan_input = replace(plan_input_of(head, tree), observed=request.plan_input.observed)
    plan = make_plan(plan_input)
    registered = _registered(plan)
    is_other = any(registered.get(t) != schema for t, schema in _registered(request.plan).items())
    if is_other or any(isinstance(notice, RefusedSchema) for notice in plan.notices):
        return None
    edited = replace(request, head=head, plan_input=plan_input, plan=plan)
    rollout, findings = rollout_of(edited)
    return None if rollout.blocks else PlannedRollout(plan, rollout, findings)


def _is_mended(plan: Plan) -> bool:
    """Whether everything that a schema is refused for has an edit in the report."""
    refused = [notice.findings for notice in plan.notices if isinstance(notice, RefusedSchema)]
    edits = {finding.patch for findings in refused for finding in findings} - {""}
    errors = (
        finding
        for findings in refused
        for finding in findings
        if finding.severity is Severity.ERROR
    )
    shown = (error.patch or error.is_mended_elsewhere for error in errors)
    is_small = len(edits) <= _EDITS and len(edits) * len(refused) <= _TRIALS
    return bool(edits) and is_small and all(shown)


def _registered(plan: Plan) -> dict[TopicName, SchemaInfo]:
    return {
        action.topic: action.info for action in plan.actions if isinstance(action, RegisterSchema)
    }
