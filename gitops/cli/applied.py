"""Carrying out a plan, and saying what became of each action."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gitops.cli.console import print_text
from gitops.cli.options import Format
from gitops.cli.planned import Display
from gitops.cli.progress import progress_bar
from gitops.model.plan import Plan
from gitops.planning.reviewed_plan import REPLAN
from gitops.ports import Registry
from gitops.replay.runners.interrupting import interruption
from gitops.reporters.json_report import applied_document, to_text
from gitops.usecases.apply import Result, apply


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """A plan as it is now, the digest of the reviewed one, and how much of that is done.

    `replan` is how a new plan is made where this one cannot be carried out.
    """

    plan: Plan
    digest: str
    done_before: int = 0
    replan: str = REPLAN


def carry_out(reviewed: Reviewed, registry: Registry, display: Display) -> int:
    """Apply it; answers how many actions were done. The results are shown where it stops too.

    From the first action to the end of the report no signal cuts anything.
    """
    results: list[Result] = []
    with interruption() as asked:
        try:
            with progress_bar(no_color=display.no_color) as progress:
                done = apply(
                    reviewed.plan,
                    registry,
                    progress,
                    results.append,
                    interruption=asked,
                    replan=reviewed.replan,
                )
        finally:
            show_results(reviewed, results, display)
    return len(done)


def show_results(reviewed: Reviewed, results: Sequence[Result], display: Display) -> None:
    """Print them as JSON; as text the plan is shown before, and the count after."""
    if display.output_format is Format.JSON:
        document = applied_document(
            reviewed.plan, results, digest=reviewed.digest, done_before=reviewed.done_before
        )
        print_text(to_text(document), display.output)
