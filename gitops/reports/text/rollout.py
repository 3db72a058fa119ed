"""A rollout in a terminal: numbered steps, each with what it waits for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from gitops.model.check import CheckReport, History, HistorySource, RegistryCheck
from gitops.model.rollout import Migration
from gitops.reports.results import RolloutResult
from gitops.reports.rollout_wording import (
    has_order,
    lines,
    migrate_command,
    migration_lines,
    refusals,
)
from gitops.reports.text.plain import safe

_MAX_REASONS: Final = 3
"""Of a step; JSON has all of them."""


def rollout_text(result: RolloutResult) -> RenderableType:
    """The order of the upgrades."""
    return rollouts_report(result.report, migrated=result.migrated)


def rollouts_report(report: CheckReport, *, migrated: bool = False) -> RenderableType:
    """The steps on each registry; and why there are none.

    `migrated`: the manifests of migrations are written now, and nobody has to be told how.
    """
    parts: list[RenderableType] = []
    for one in report.registries:
        parts += _heading(one)
        refused = [f"✗ {each}" for each in refusals(one.rollout)]
        now = [f"! it does not work now: {each}" for each in one.rollout.broken]
        parts += [Padding(Text(safe(each)), (0, 0, 0, 2)) for each in (*now, *refused)]
        steps = _steps(one, "" if migrated else migrate_command(report.reference))
        parts += steps or ([] if refused else [Text("  nothing to do")])
    return Group(*parts)


def _heading(one: RegistryCheck) -> Iterator[RenderableType]:
    """The registry; where it was not asked, what was, and what that cannot know."""
    name = Text(safe(one.plan.registry), style="bold")
    if one.history.source is HistorySource.REGISTRY:
        yield name
        return
    yield Text.assemble(name, " · ", history_line(one.history))
    for limit in one.history.limits:
        yield Padding(Text(safe(limit), style="dim"), (0, 0, 0, 2))


def history_line(history: History) -> Text:
    """`history from snapshot of 2026-11-20`."""
    day = f" of {history.recorded}" if history.recorded else ""
    return Text(f"history from {history.source.value}{day}")


def rollout_section(one: RegistryCheck, reference: str) -> Iterator[RenderableType]:
    """The steps below a plan, where a client takes part in them; `reference` is the base."""
    if has_order(one.rollout):
        yield Text("")
        yield Text("rollout", style="bold")
        yield from _steps(one, migrate_command(reference))


def _steps(registry: RegistryCheck, command: str) -> list[RenderableType]:
    """With the command that writes the manifests of migrations, if one is given."""
    rollout = registry.rollout
    blocks = [Text(f"✗ no safe order: {safe(one.reason)}") for one in rollout.blocks]
    found: list[RenderableType] = [Padding(each, (0, 0, 0, 2)) for each in blocks]
    for line in lines(rollout, registry.plan):
        note = (f"   {line.note}" if line.note else "", "dim")
        said = Text.assemble(f"{line.number}  {safe(line.text)}", note)
        below = [*line.since(_MAX_REASONS), *([line.advice] if line.advice else [])]
        found.append(Padding(said, (0, 0, 0, 2)))
        found += [Padding(Text(safe(each), style="dim"), (0, 0, 0, 5)) for each in below]
        warned = [Text(f"⚠ {safe(each)}", style="yellow") for each in line.warnings]
        found += [Padding(each, (0, 0, 0, 5)) for each in warned]
    for one in rollout.migrations:
        found += _migration(one)
    if rollout.migrations and command:
        how = f"this writes what the first two steps need: {command}"
        found.append(Padding(Text(safe(how)), (0, 0, 0, 4)))
    return found


def _migration(migration: Migration) -> Iterator[RenderableType]:
    yield Padding(Text(safe(f"the way to a new topic, {migration.to}:")), (0, 0, 0, 2))
    for line in migration_lines(migration):
        yield Padding(Text(f"{line.number}  {safe(line.text)}"), (0, 0, 0, 4))
