"""The order of the upgrades as it would be with the edits that a check offers."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gitops.model.check import PlannedRollout
from gitops.model.plan import RefusedSchema
from gitops.repository.plan_fixes import FixRequest, edited_plan
from gitops.rollout.rollout import RolloutRequest, rollout_of

_EDITS: Final = 20
"""More are not all shown, and to make them all again takes its time."""


def edited_rollout(rolling: RolloutRequest, fixing: FixRequest) -> PlannedRollout | None:
    """None where nothing is refused, or where something still is."""
    refused = [one for one in rolling.plan.notices if isinstance(one, RefusedSchema)]
    edits = {found.patch for one in refused for found in one.findings} - {""}
    if not 0 < len(edits) <= _EDITS:
        return None
    plan = edited_plan(rolling.plan, fixing)
    if any(isinstance(one, RefusedSchema) for one in plan.notices):
        return None
    rollout, findings = rollout_of(replace(rolling, plan=plan))
    return PlannedRollout(plan=plan, rollout=rollout, findings=findings)
