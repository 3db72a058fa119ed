"""The journal of `apply`: where it is, what it tells, and how an apply goes on from it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gitops.cli.console import print_message
from gitops.cli.exits import Exit
from gitops.model.errors import UsageError
from gitops.model.journal import unfinished
from gitops.reports.operation_results import JournalResult
from gitops.repository.folder import require_inside

if TYPE_CHECKING:
    from gitops.cli.answer import Display
    from gitops.cli.session import OpenedRepository
    from gitops.model.journal import JournalRun

_FOLDER: Final = ".gitops"


def journal_path(
    given: Path | None, plan_file: Path | None, opened: OpenedRepository, name: str
) -> Path:
    """The file that `--journal` names; else beside the plan file, else in the repository."""
    if given:
        path = given
    elif plan_file:
        path = plan_file.with_name(f"{plan_file.name}.journal")
    else:
        path = opened.root / _FOLDER / f"{name}.journal"
    require_inside(opened.root, path)
    return path


def show_status(
    path: Path, plan_file: Path | None, plans: Sequence[Mapping[str, Any]], display: Display
) -> int:
    """What the journal tells; the exit code of an apply in part where one of the last ones is that.

    So it is where one of several `plans`, those of the plan file, was not begun.
    """
    from gitops.cli.answer import print_result
    from gitops.journal.reader import read_journal

    runs = read_journal(path)
    left = unfinished(runs)
    tried, asked = {run.digest for run in runs}, {plan["digest"] for plan in plans}
    file = str(plan_file or "") if all(run.digest in asked for run in left) else ""
    print_result(JournalResult(path=str(path), runs=runs, plan_file=file), display)
    waiting = [plan["registry"]["name"] for plan in plans if plan["digest"] not in tried]
    if runs and waiting:
        print_message(f"not begun: {', '.join(waiting)}")
    return Exit.PARTIAL if left or (runs and waiting) else Exit.GOOD


def plan_to_resume(path: Path, registry: str) -> dict[str, Any]:
    """The plan of the registry's last apply, which had no plan file.

    Raises UsageError where none is left.
    """
    from gitops.journal.reader import read_journal
    from gitops.repository.plan_file import parse_plan

    runs = tuple(run for run in read_journal(path) if run.registry == registry)
    if not unfinished(runs):
        why = "the last apply carried out its whole plan" if runs else "the journal has no apply"
        raise UsageError(
            f"there is nothing to resume: {why}",
            where=str(path),
            hint="see `pulsar-gitops plan`",
        )
    if runs[-1].command != "apply":
        hint = f"run the same {runs[-1].command} again: it looks at the registry and goes on"
        raise UsageError(f"the journal ends with a {runs[-1].command}", where=str(path), hint=hint)
    plan = _plan_of(runs)
    if plan is None:
        hint = "name the file: pulsar-gitops apply --resume PLANFILE"
        raise UsageError("the last apply was of a plan file", where=str(path), hint=hint)
    return parse_plan(json.dumps(plan), str(path))


def _plan_of(runs: tuple[JournalRun, ...]) -> Mapping[str, Any] | None:
    """The last apply's plan, which the first apply of it has written down."""
    of_it = (run.plan for run in runs if run.digest == runs[-1].digest and run.plan)
    return next(of_it, None)


def require_attempt(path: Path, plans: Iterable[Mapping[str, Any]]) -> None:
    """Raises UsageError where no apply of one of the plans is in the journal."""
    from gitops.journal.reader import read_journal

    digests = {plan["digest"] for plan in plans}
    if all(run.digest not in digests for run in read_journal(path)):
        raise UsageError(
            "there is nothing to resume: no apply of this plan is in the journal",
            where=str(path),
            hint="leave --resume out",
        )
