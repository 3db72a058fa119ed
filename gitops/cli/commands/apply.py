"""`apply`: carries out a plan, only if the registry is still what the plan saw."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from gitops import signals
from gitops.cli import options
from gitops.cli.apply_journal import (
    journal_path,
    plan_to_resume,
    require_attempt,
    show_status,
)
from gitops.cli.console import refuse_inputs, require_writable
from gitops.cli.exits import Exit, print_error
from gitops.cli.options import HERE, FailOn
from gitops.cli.session import OpenedRepository, open_registry, open_repository
from gitops.model.errors import GitopsError, InterruptedApplyError, UsageError
from gitops.model.findings import Severity
from gitops.planning.reviewed_plan import REPLAN
from gitops.reports import operation_results, results

if TYPE_CHECKING:
    from gitops.cli.answer import Display
    from gitops.cli.plan_execution import Reports
    from gitops.model.state import PlanScope


def apply(
    plan_file: Annotated[
        Path | None, typer.Argument(metavar="PLANFILE", help="A plan that `plan --out` wrote.")
    ] = None,
    auto_approve: Annotated[
        bool, typer.Option("--auto-approve", help="Plan and apply at once, without a plan file.")
    ] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="With --auto-approve: as in `plan --prune`.")
    ] = False,
    keep_going: Annotated[
        bool,
        typer.Option("--keep-going", help="With --auto-approve: as in `plan --keep-going`."),
    ] = False,
    resume_it: Annotated[
        bool, typer.Option("--resume", help="Go on with an apply that ended before its plan did.")
    ] = False,
    status: Annotated[
        bool, typer.Option("--status", help="Show what the journal has, and change nothing.")
    ] = False,
    journal: Annotated[
        Path | None, options.journal_at("PLANFILE.journal, or .gitops/REGISTRY.journal")
    ] = None,
    as_if_broker: options.AsIfBroker = None,
    repo: options.Repo = HERE,
    registry: options.RegistryNames = None,
    output_format: Annotated[
        str, options.format_of(results.AppliedResult, operation_results.JournalResult)
    ] = options.FORMAT,
    output: options.OutputFile = None,
    fail_on: options.Threshold = FailOn.ERROR,
    no_color: options.NoColor = False,
) -> int:
    """Carry out a reviewed plan."""
    from gitops.cli import plan_output
    from gitops.cli.answer import Display
    from gitops.planning.reviewed_plan import release_of

    _refuse_options(
        plan_file,
        auto_approve=auto_approve,
        look_back={"--resume": resume_it, "--status": status},
        planning={
            "--prune": prune,
            "--keep-going": keep_going,
            "--as-if-broker": bool(as_if_broker),
        },
    )
    display = Display(
        output_format=output_format, output=output, fail_on=fail_on, no_color=no_color
    )
    require_writable(output)
    plans = _read(plan_file) if plan_file else {}
    refuse_inputs([output, journal], [plan_file] if plan_file else [])
    release = release_of(next(iter(plans.values()))) if plans else as_if_broker
    opened = open_repository(repo, output, journal, release=release)
    parts = [
        replace(part, journal=journal_path(journal, plan_file, opened, part.registry))
        for part in _parts(registry, plans, opened)
    ]
    if status:
        return show_status(parts[0].journal, plan_file, _reviewed(parts), display)
    if resume_it:
        parts = _to_resume(parts)
    if code := plan_output.print_blocking_findings(opened.within(_scope(parts)), display):
        return code
    choices = _Choices(prune=prune, keep_going=keep_going)
    if len(parts) > 1:
        return _apply_each(parts, opened, display, choices)
    return _apply_one(parts[0], opened, display, choices)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choices:
    """What is asked of plans that are made now."""

    prune: bool
    keep_going: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """What is done to one registry: a reviewed plan, or with None one that is made now."""

    registry: str
    document: dict[str, Any] | None
    journal: Path = Path()


def _scope(parts: Sequence[_Part]) -> PlanScope | None:
    """What the reviewed plans are about together; None where one of them is about everything."""
    from gitops.changes.plan_scope import parse_scope

    names: list[str] = []
    for part in parts:
        scope = part.document.get("scope") if part.document else None
        if not scope:
            return None
        names += scope
    return parse_scope(names)


def _parts(
    registries: list[str] | None, plans: Mapping[str, dict[str, Any]], opened: OpenedRepository
) -> list[_Part]:
    """The registries, those that come before others first; raises UsageError for an unknown one."""
    from gitops.changes.registries import registries_in_order, registry_config

    config = opened.repository.config
    names = registries_in_order(registries or plans or [config.default_registry], config)
    for name in names:
        if plans and name not in plans:
            raise UsageError(f"this plan is for {', '.join(plans)}, not for {name}")
        registry_config(opened.repository, name)
    return [_Part(registry=name, document=plans.get(name)) for name in names]


def _reviewed(parts: Sequence[_Part]) -> list[dict[str, Any]]:
    """The plans that a file has; raises UsageError for several registries without one."""
    if len({part.journal for part in parts}) > 1:
        raise UsageError(
            "each registry has a separate journal",
            hint=f"run it once for each: --registry {parts[0].registry}",
        )
    return [part.document for part in parts if part.document]


def _to_resume(parts: list[_Part]) -> list[_Part]:
    """The same with the plans to go on with; raises UsageError where there are none."""
    if reviewed := _reviewed(parts):
        require_attempt(parts[0].journal, reviewed)
        return parts
    return [replace(part, document=plan_to_resume(part.journal, part.registry)) for part in parts]


class _NotBegunError(GitopsError):
    """A registry that comes before it stopped."""

    exit_code = Exit.FINDINGS


def _apply_each(
    parts: Sequence[_Part], opened: OpenedRepository, display: Display, choices: _Choices
) -> int:
    """Apply to each registry, and to none that comes after one that stopped; the worst code."""
    from gitops.cli.plan_execution import Reports, print_reports

    reports = Reports()
    failures: list[tuple[str, GitopsError]] = []
    codes: dict[str, int] = {}
    try:
        for part in parts:
            try:
                _require_turn(part.registry, codes, opened, reports)
                codes[part.registry] = _apply_one(part, opened, display, choices, reports)
            except InterruptedApplyError as error:
                failures.append((part.registry, error))
                raise
            except GitopsError as error:
                failures.append((part.registry, error))
                codes[part.registry] = error.exit_code
                print_error(error, f"{part.registry}: ")
    finally:
        print_reports(reports, failures, display)
    return next((item for item in _WORST_FIRST if item in codes.values()), Exit.GOOD)


def _require_turn(
    name: str, codes: Mapping[str, int], opened: OpenedRepository, reports: Reports
) -> None:
    """Raises InterruptedApplyError, and _NotBegunError where what comes first is not applied."""
    signals.release()
    if reports.interruption.asked:
        hint = "run the same command again: it goes on where it stopped"
        raise InterruptedApplyError(f"interrupted before {name}", hint=hint)
    first = opened.repository.config.registries[name].after
    if codes.get(first, Exit.GOOD) != Exit.GOOD:
        raise _NotBegunError(f"not begun: {first} comes first, and is not applied whole")


def _apply_one(
    part: _Part,
    opened: OpenedRepository,
    display: Display,
    choices: _Choices,
    into: Reports | None = None,
) -> int:
    from gitops.cli import plan_output
    from gitops.cli.plan_execution import Execution, carry_out, refuse
    from gitops.cli.registry_order import require_order
    from gitops.journal.writer import JournalFile
    from gitops.planning.plan_document import to_document
    from gitops.planning.reviewed_plan import Resumption, resume
    from gitops.planning.skipped_subjects import RemainingPlan, skip_blocked_subjects
    from gitops.reports.text.plan import plan_text

    started = time.monotonic()
    document = part.document
    opened = opened.within(_scope([part]))
    with open_registry(opened, [part.registry], release=opened.release) as (live, config):
        made = plan_output.make_plan(
            opened,
            live,
            config,
            display,
            prune=choices.prune,
            keep_going=choices.keep_going,
            reviewed=document,
        )
        resumption = resume(document, made) if document else Resumption(plan=made)
        made = require_order(resumption.plan, config, opened, display)
        blocked, remaining = plan_output.plan_code(made, display), RemainingPlan(plan=made)
        if blocked and made.keep_going:
            remaining = skip_blocked_subjects(made, Severity[display.fail_on.name])
            if not remaining.is_blocked and (remaining.plan.actions or resumption.done):
                blocked = Exit.GOOD
        shown = None
        if not document or blocked or remaining.skipped:
            shown = plan_text(plan_output.plan_result(made, opened, time.monotonic() - started))
        planned = document or to_document(made)
        run = Execution(
            plan=remaining.plan,
            skipped=remaining.skipped,
            digest=str(planned["digest"]),
            done_before=resumption.done,
            shown=shown,
            replan=REPLAN if document else "run the same command again: it makes a new plan",
            started=started,
            journal=JournalFile(part.journal),
            document=None if document else planned,
        )
        if blocked:
            refuse(run, display, into)
            return blocked
        carry_out(run, live, display, into)
    return Exit.PARTIAL if remaining.skipped else Exit.GOOD


def _refuse_options(
    plan_file: Path | None,
    *,
    auto_approve: bool,
    look_back: Mapping[str, bool],
    planning: Mapping[str, bool],
) -> None:
    """Raises UsageError unless it is clear which plan is meant, or which apply that there was."""
    backs = [word for word, given in look_back.items() if given]
    plans = [word for word, given in planning.items() if given]
    if backs and (auto_approve or plans or len(backs) > 1):
        hint = f"leave all but {backs[0]} and its plan out"
        raise UsageError(f"{backs[0]} is about an apply that there was", hint=hint)
    if not backs and (plan_file is None) is not auto_approve:
        raise UsageError(
            "apply needs either a plan file or --auto-approve",
            hint="`pulsar-gitops plan --out plan.json`, then `pulsar-gitops apply plan.json`",
        )
    for word in plans if plan_file else ():
        why, hint = _RECORDED[word]
        raise UsageError(f"a plan file already records {why}", hint=hint)


_RECORDED: Final = {
    "--prune": ("whether it prunes", "leave --prune out"),
    "--keep-going": ("whether it skips what has errors", "leave --keep-going out"),
    "--as-if-broker": ("its broker", "leave --as-if-broker out, or make a new plan with it"),
}


_WORST_FIRST: Final = (Exit.PARTIAL, Exit.OUTSIDE, Exit.STALE, Exit.USAGE, Exit.FINDINGS)


def _read(path: Path) -> dict[str, dict[str, Any]]:
    """The plan of each registry, by its name."""
    # Only who has a plan file pays for what validates it.
    from gitops.repository.plan_file import read_plans

    return {str(plan["registry"]["name"]): plan for plan in read_plans(path)}
