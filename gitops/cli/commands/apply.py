"""`apply`: carries out a plan, only if the registry is still what the plan saw."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from gitops.cli import options
from gitops.cli.apply_journal import (
    journal_path,
    plan_to_resume,
    require_attempt,
    show_status,
)
from gitops.cli.console import refuse_inputs, require_writable
from gitops.cli.exits import Exit
from gitops.cli.options import HERE, FailOn
from gitops.cli.session import open_registry, open_repository
from gitops.model.errors import UsageError
from gitops.planning.reviewed_plan import REPLAN
from gitops.reports import operation_results, results


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
    registry: options.RegistryName = None,
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
    from gitops.cli.plan_execution import Execution, carry_out, refuse
    from gitops.cli.registry_order import require_order
    from gitops.journal.writer import JournalFile
    from gitops.planning.plan_document import to_document
    from gitops.planning.reviewed_plan import Resumption, release_of, resume
    from gitops.reports.text.plan import plan_text

    _refuse_options(
        plan_file,
        auto_approve=auto_approve,
        look_back={"--resume": resume_it, "--status": status},
        planning={"--prune": prune, "--as-if-broker": bool(as_if_broker)},
    )
    started = time.monotonic()
    display = Display(
        output_format=output_format, output=output, fail_on=fail_on, no_color=no_color
    )
    require_writable(output)
    document = _read(plan_file) if plan_file else None
    refuse_inputs([output, journal], [plan_file] if plan_file else [])
    release = release_of(document) if document else as_if_broker
    opened = open_repository(repo, output, journal, release=release)
    recorded = journal_path(journal, plan_file, opened, registry)
    if status:
        return show_status(recorded, display)
    if resume_it and document:
        require_attempt(recorded, document["digest"])
    elif resume_it:
        document = plan_to_resume(recorded)
    if code := plan_output.print_blocking_findings(opened, display):
        return code
    name = _registry_of(document, registry) if document else registry
    with open_registry(opened, name, release=release) as (live, config):
        made = plan_output.make_plan(opened, live, config, display, prune=prune, reviewed=document)
        resumption = resume(document, made) if document else Resumption(plan=made)
        made = require_order(resumption.plan, config, opened, display)
        blocked = plan_output.plan_code(made, display)
        shown = None
        if auto_approve or blocked:
            shown = plan_text(plan_output.plan_result(made, opened, time.monotonic() - started))
        planned = document or to_document(made)
        run = Execution(
            plan=made,
            digest=str(planned["digest"]),
            done_before=resumption.done,
            shown=shown,
            replan=REPLAN if document else "run the same command again: it makes a new plan",
            started=started,
            journal=JournalFile(recorded),
            document=None if document else planned,
        )
        if blocked:
            refuse(run, display)
            return blocked
        carry_out(run, live, display)
    return Exit.GOOD


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
    "--as-if-broker": ("its broker", "leave --as-if-broker out, or make a new plan with it"),
}


def _read(path: Path) -> dict[str, Any]:
    # Only who has a plan file pays for what validates it.
    from gitops.repository.plan_file import read_plan_file

    return read_plan_file(path)


def _registry_of(document: dict[str, Any], given: list[str] | None) -> list[str]:
    name = str(document["registry"]["name"])
    if given and given != [name]:
        raise UsageError(f"this plan is for {name}, not for {given[0]}")
    return [name]
