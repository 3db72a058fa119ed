"""`apply`: carries out a plan, only if the registry is still what the plan saw."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from gitops.cli import options
from gitops.cli.exits import Exit
from gitops.cli.options import HERE, FailOn, Format, TextOrJson
from gitops.model.errors import UsageError


def apply(
    plan_file: Annotated[
        Path | None, typer.Argument(metavar="[PLANFILE]", help="A plan that `plan --out` wrote.")
    ] = None,
    auto_approve: Annotated[
        bool, typer.Option("--auto-approve", help="Plan and apply at once, without a plan file.")
    ] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="With --auto-approve: as in `plan --prune`.")
    ] = False,
    repo: options.Repo = HERE,
    registry: options.RegistryName = None,
    output_format: options.TextOrJsonFormat = TextOrJson.TEXT,
    output: options.OutputFile = None,
    fail_on: options.Threshold = FailOn.ERROR,
    no_color: options.NoColor = False,
) -> int:
    """Carry out a reviewed plan."""
    from gitops.cli import execution, plan_output
    from gitops.cli.console import refuse_inputs, require_writable
    from gitops.cli.session import open_registry, open_repository
    from gitops.planning.plan_document import to_document
    from gitops.planning.reviewed_plan import REPLAN, Resumption, resume, scope_of

    if (plan_file is None) is not auto_approve:
        raise UsageError(
            "apply needs either a plan file or --auto-approve",
            hint="`pulsar-gitops plan --out plan.json`, then `pulsar-gitops apply plan.json`",
        )
    if plan_file and prune:
        raise UsageError("a plan file says itself whether it prunes", hint="leave --prune out")
    started = time.monotonic()
    display = plan_output.Display(
        output_format=Format(output_format), output=output, fail_on=fail_on, no_color=no_color
    )
    require_writable(output)
    document = _read(plan_file) if plan_file else None
    refuse_inputs([output], [plan_file] if plan_file else [])
    opened = open_repository(repo, output)
    if code := plan_output.stopped(opened, display):
        return code
    name = _registry_of(document, registry) if document else registry
    with open_registry(opened, name) as (live, config):
        prunes = bool(document["prune"]) if document else prune
        looked_at = scope_of(document) if document else None
        made = plan_output.make(opened, live, config, display, prune=prunes, reviewed=looked_at)
        resumption = resume(document, made) if document else Resumption(plan=made)
        made = resumption.plan
        blocked = plan_output.code(made, display)
        shown = None
        if auto_approve or blocked:
            shown = plan_output.report(made, opened, time.monotonic() - started)
        run = execution.Execution(
            plan=made,
            digest=str((document or to_document(made))["digest"]),
            done_before=resumption.done,
            shown=shown,
            replan=REPLAN if document else "run the same command again: it makes a new plan",
            started=started,
        )
        if blocked:
            execution.refuse(run, display)
            return blocked
        execution.carry_out(run, live, display)
    return Exit.GOOD


def _read(path: Path) -> dict[str, Any]:
    # Only who has a plan file pays for what validates it.
    from gitops.repository.plan_file import read_plan_file

    return read_plan_file(path)


def _registry_of(document: dict[str, Any], given: list[str] | None) -> list[str]:
    name = str(document["registry"]["name"])
    if given and given != [name]:
        raise UsageError(f"this plan is for {name}, not for {given[0]}")
    return [name]
