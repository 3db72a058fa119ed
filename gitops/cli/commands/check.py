"""`check`: what a pull request does, and nothing else."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gitops.cli import options
from gitops.cli.exits import Exit, print_error
from gitops.cli.extras import Engine
from gitops.cli.options import HERE, FailOn
from gitops.cli.session import line_of, today
from gitops.model.check import CheckReport, HistoryChoice
from gitops.model.errors import UnreadableFileError, UsageError
from gitops.model.findings import Location
from gitops.reports import results

if TYPE_CHECKING:
    from gitops.changes.change import LoadedChange
    from gitops.cli.answer import Display
    from gitops.usecases.check import CheckOutcome, CheckRequest


def check(
    base: options.BaseRef,
    head: options.HeadRef = None,
    history: options.HistorySource = HistoryChoice.AUTO,
    drift: Annotated[
        bool, typer.Option("--drift", help="Compare a live registry with the whole base, too.")
    ] = False,
    replay: Annotated[
        bool, typer.Option("--replay", help="Replay the samples of what the change affects.")
    ] = False,
    engine: options.ReplayEngine = Engine.SPARK,
    master: options.SparkMaster = None,
    waivers: options.WaiversFolder = None,
    as_if_broker: options.AsIfBroker = None,
    fix: options.Fix = False,
    repo: options.Repo = HERE,
    registry: options.RegistryNames = None,
    output_format: Annotated[str, options.format_of(results.CheckResult)] = options.FORMAT,
    output: options.OutputFile = None,
    report: options.Reports = None,
    fail_on: options.Threshold = FailOn.ERROR,
    no_color: options.NoColor = False,
) -> int:
    """Check what a change affects, as before a merge."""
    from gitops.cli.answer import Display, print_result
    from gitops.cli.check_run import EngineOptions, check_change
    from gitops.cli.plan_output import name_written_waivers, write_waivers
    from gitops.usecases.check import CheckRequest

    if not replay and (master is not None or engine is not Engine.SPARK):
        raise UsageError("--engine and --master go with --replay", hint="add --replay")
    if fix and head is not None:
        raise UsageError(
            "--fix edits the files of the folder, and --head names a commit",
            hint="check out that commit, and leave --head out",
        )
    started = time.monotonic()
    request = CheckRequest(
        base=base,
        head=head,
        registries=tuple(registry or ()),
        history=history,
        drift=drift,
        release=as_if_broker,
        today=today(),
    )
    display = Display(
        output_format=output_format,
        output=output,
        reports=options.reports_of(report),
        fail_on=fail_on,
        no_color=no_color,
    )
    if fix:
        _write_fixes(repo, request, display)
    engine_options = EngineOptions(engine=engine, master=master) if replay else None
    with check_change(repo, request, display, engine_options) as (outcome, loaded):
        if waivers:
            plans = [registry_check.plan for registry_check in outcome.report.registries]
            write_waivers(plans, waivers, outcome.report.limit_waiver)
            result = _result(name_written_waivers(outcome.report), loaded, started)
        else:
            result = _result(outcome.report, loaded, started)
        for report_format, path in display.reports:
            print_result(result, replace(display, output_format=report_format, output=path))
        print_result(result, display)
    for name, error in outcome.errors.items():
        print_error(error, f"no answer for {name}: ")
    return _exit_code(outcome, request, display)


def _write_fixes(repo: Path, request: CheckRequest, display: Display) -> None:
    """Write the edits with which what the change refuses is accepted.

    Each registry's are decided with those of the ones before it.
    """
    from gitops.changes.registries import registries_in_order
    from gitops.cli.check_run import check_change
    from gitops.cli.plan_output import edit_files, print_fixes
    from gitops.cli.session import open_repository

    fixes: dict[str, bytes] = {}
    names: list[str | None] = [None]
    if request.registries:
        config = open_repository(repo).repository.config
        names = [*registries_in_order(request.registries, config)]
    for name in names:
        fix_request = replace(request, registries=(name,) if name else (), fix=True)
        with check_change(repo, fix_request, display) as (outcome, loaded):
            root = loaded.change.checkout.root
            edit_files(root, outcome.fixes)
        fixes |= outcome.fixes
    print_fixes(root, fixes)


def _result(report: CheckReport, loaded: LoadedChange, started: float) -> results.CheckResult:
    from gitops.cli.answer import folder_in_git

    def excerpt(where: Location) -> str | None:
        tree = loaded.base_tree if where.in_base else loaded.head_tree
        try:
            return line_of(tree.read(where.file), where.line)
        except UnreadableFileError:
            return None

    return results.CheckResult(
        check=report,
        seconds=time.monotonic() - started,
        excerpt=excerpt,
        folder=folder_in_git(loaded.change.checkout.root),
    )


def _exit_code(outcome: CheckOutcome, request: CheckRequest, display: Display) -> int:
    """4 where a registry has no answer, else 1 where a finding is bad enough."""
    from gitops.cli.answer import exit_code

    report = outcome.report
    if outcome.errors:
        if request.history is not HistoryChoice.AUTO:
            return Exit.OUTSIDE
        return max(error.exit_code for error in outcome.errors.values())
    findings = list(report.findings)
    for registry_check in report.registries:
        if registry_check.replay and not registry_check.replay.complete:
            return Exit.INTERRUPTED
        findings += registry_check.plan.findings
    return exit_code(findings, display.fail_on)
