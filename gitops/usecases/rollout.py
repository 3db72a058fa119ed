"""`rollout`: in which order the declared clients upgrade, for a change or towards the files."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from gitops.changes.change import LoadedChange
from gitops.changes.migration_files import MigrationFiles, write_migrations
from gitops.changes.new_findings import new_findings
from gitops.changes.repository_plan import PlanRequest, blocks, plan_of, read_plan_input
from gitops.model.broker_settings import broker_notes
from gitops.model.check import CheckReport
from gitops.model.plan import Plan
from gitops.model.rollout import Rollout
from gitops.planning.severities import rate_findings
from gitops.ports import Progress, no_progress
from gitops.rollout.rollout import add_client_topics, registry_rollout_request, rollout_of


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryRollout:
    """The plan of the files for a registry, and the steps that lead there."""

    plan: Plan
    rollout: Rollout


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRollout:
    """What follows from the steps of a checked change.

    `has_broken_files`: who is declared in them takes no part. `is_blocked`: something has no order,
    and no migration takes its place. `migration` is what to write for topics without an order, None
    where nobody asked or there is none.
    """

    has_broken_files: bool
    is_blocked: bool
    migration: MigrationFiles | None = None


def registry_rollout(
    planning: PlanRequest, paths: Collection[str], progress: Progress = no_progress
) -> RegistryRollout:
    """The steps from what a registry contains to what the files at `paths` want.

    Raises UnplannableError, OutsideError.
    """
    planned = read_plan_input(planning, progress)
    plan = plan_of(planning, planned, progress)
    whole = add_client_topics(planned, planning.registry, planning.repository)
    rollout, _ = rollout_of(registry_rollout_request(planning.repository, whole, plan, paths))
    return RegistryRollout(plan=plan, rollout=_noted(rollout, plan))


def with_broker_notes(report: CheckReport) -> CheckReport:
    """A checked change whose rollouts are shown alone: what its plans tell of the broker, too."""
    noted = (
        replace(registry, rollout=_noted(registry.rollout, registry.plan))
        for registry in report.registries
    )
    return replace(report, registries=tuple(noted))


def _noted(rollout: Rollout, plan: Plan) -> Rollout:
    return replace(rollout, notes=(*broker_notes(plan.broker), *rollout.notes))


def change_rollout(report: CheckReport, loaded: LoadedChange, *, migrate: bool) -> ChangeRollout:
    """What to write and how it ends; with `migrate` a topic that has a migration blocks nothing."""
    migrations = [
        migration for registry in report.registries for migration in registry.rollout.migrations
    ]
    return ChangeRollout(
        has_broken_files=blocks(rate_findings(new_findings(loaded), loaded.limits.rules)),
        is_blocked=any(
            is_blocked(registry.rollout, migrate=migrate) for registry in report.registries
        ),
        migration=write_migrations(loaded, migrations) if migrate and migrations else None,
    )


def is_blocked(rollout: Rollout, *, migrate: bool = False) -> bool:
    """Whether something has no order, but for topics that are migrated."""
    migrated = {migration.topic for migration in rollout.migrations} if migrate else set()
    return any(not migrated.issuperset(block.topics) for block in rollout.blocks) or not (
        migrated.issuperset(rollout.refused)
    )
