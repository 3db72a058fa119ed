"""A rollout in a terminal: numbered steps, each with what it waits for."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from gitops.model.check import CheckReport
from gitops.model.rollout import Rollout
from gitops.reporters.rollout import has_order, lines
from gitops.reporters.text.plain import safe


def rollouts_report(report: CheckReport) -> RenderableType:
    """The steps on each registry; and why there are none."""
    parts: list[RenderableType] = []
    for one in report.registries:
        parts.append(Text(safe(one.plan.registry), style="bold"))
        parts += _steps(one.rollout) or [Text("  nothing to do")]
    return Group(*parts)


def rollout_section(rollout: Rollout) -> Iterator[RenderableType]:
    """The steps below a plan, where a client takes part in them."""
    if has_order(rollout):
        yield Text("")
        yield Text("rollout", style="bold")
        yield from _steps(rollout)


def _steps(rollout: Rollout) -> list[RenderableType]:
    blocks = [Text(f"✗ no safe order: {safe(one.reason)}") for one in rollout.blocks]
    found: list[RenderableType] = [Padding(each, (0, 0, 0, 2)) for each in blocks]
    for line in lines(rollout):
        note = (f"   {line.note}" if line.note else "", "dim")
        said = Text.assemble(f"{line.number}  {safe(line.text)}", note)
        since = [Text(f"since {safe(reason)}", style="dim") for reason in line.reasons]
        found += [Padding(said, (0, 0, 0, 2)), *(Padding(each, (0, 0, 0, 5)) for each in since)]
    return found
