"""A rollout in a terminal: numbered acts, each with why it waits."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from gitops.model.check import CheckReport, History, HistorySource, PlannedRollout, RegistryCheck
from gitops.model.rollout import Migration, Rollout
from gitops.reports.check_summary import rollout_title, shows_rollout, told_messages
from gitops.reports.results import RolloutResult
from gitops.reports.rollout_wording import (
    Line,
    alternative,
    block_lines,
    has_order,
    lines,
    migrate_command,
    migration_lines,
    refusals,
)
from gitops.reports.text.plain import safe

_INDENT: Final = (0, 0, 0, 2)


def rollout_text(result: RolloutResult) -> RenderableType:
    """The order of the upgrades."""
    return rollouts_report(result.report, migrated=result.migrated)


def rollouts_report(report: CheckReport, *, migrated: bool = False) -> RenderableType:
    """The steps on each registry; and why there are none.

    `migrated`: the manifests of migrations are written now, and nobody has to be told how.
    """
    parts: list[RenderableType] = []
    for registry in report.registries:
        parts += _heading(registry)
        refused = [f"✗ {refusal}" for refusal in refusals(registry.rollout)]
        now = [f"! it does not work now: {text}" for text in registry.rollout.broken]
        notes = [f"! {note}" for note in registry.rollout.notes]
        parts += [Padding(Text(safe(text)), _INDENT) for text in (*now, *refused, *notes)]
        planned_rollout = PlannedRollout(plan=registry.plan, rollout=registry.rollout)
        steps = [
            *_acts(planned_rollout, report),
            *_migrations(registry.rollout, report, migrated=migrated),
        ]
        parts += steps or ([] if refused else [Text("  nothing to do")])
    return Group(*parts)


def _migrations(
    rollout: Rollout, report: CheckReport, *, migrated: bool
) -> Iterator[RenderableType]:
    for migration in rollout.migrations:
        yield from _migration(migration)
    if rollout.migrations and not migrated:
        how = f"to write the manifests of steps 1 and 2: {migrate_command(report.reference)}"
        yield Padding(Text(safe(how)), (0, 0, 0, 4))


def _heading(registry_check: RegistryCheck) -> Iterator[RenderableType]:
    """The registry; where it was not asked, what was, and what that cannot know."""
    name = Text(safe(registry_check.plan.registry), style="bold")
    if registry_check.history.source is HistorySource.REGISTRY:
        yield name
        return
    yield Text.assemble(name, " · ", history_line(registry_check.history))
    for limit in registry_check.history.limits:
        yield Padding(Text(safe(limit), style="dim"), _INDENT)


def history_line(history: History) -> Text:
    """`history from snapshot of 2026-11-20`."""
    day = f" of {history.recorded}" if history.recorded else ""
    return Text(f"history from {history.source.value}{day}")


def rollout_section(registry_check: RegistryCheck, report: CheckReport) -> Iterator[RenderableType]:
    """The acts below a plan, where a client takes part in them."""
    if has_order(registry_check.to_merge.rollout) and shows_rollout(report):
        yield Text("")
        yield Text(rollout_title(report).lower(), style="bold")
        yield from _acts(registry_check.to_merge, report, told_messages(report))
        for note in registry_check.rollout.notes:
            yield Padding(Text(safe(f"! {note}")), _INDENT)
        if way := alternative(registry_check.rollout, report.reference):
            yield Padding(Text(safe(way)), _INDENT)


def _acts(
    planned: PlannedRollout, report: CheckReport, collection: Collection[str] = ()
) -> list[RenderableType]:
    rollout = planned.rollout
    texts: list[RenderableType] = [
        Padding(Text(f"✗ {safe(block_line)}"), _INDENT)
        for block_line in block_lines(rollout, collection)
    ]
    acts = list(
        lines(rollout, planned.plan, merged_already=not report.base, shown_messages=collection)
    )
    width = len(str(len(acts)))
    return texts + [Padding(_act(line, width), _INDENT) for line in acts]


def _act(line: Line, width: int) -> RenderableType:
    """What follows a number stands below its text, also where it wraps."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(width=width, justify="right")
    table.add_column()
    below = [Text(safe(remark), style="dim") for remark in line.remarks]
    warned = [Text(f"⚠ {safe(warning)}", style="yellow") for warning in line.warnings]
    table.add_row(Text(str(line.number)), Group(Text(safe(line.text)), *below, *warned))
    return table


def _migration(migration: Migration) -> Iterator[RenderableType]:
    yield Padding(Text(safe(f"alternative: move to {migration.to}:")), _INDENT)
    for number, text in migration_lines(migration):
        yield Padding(Text(f"{number}  {safe(text)}"), (0, 0, 0, 4))
