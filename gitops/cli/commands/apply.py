"""`apply`: carries out a plan, only if the registry is still what the plan saw."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from gitops.cli import options
from gitops.cli.exits import Exit
from gitops.cli.options import HERE, FailOn
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
    fail_on: options.Threshold = FailOn.ERROR,
    no_color: options.NoColor = False,
) -> int:
    """Carry out a reviewed plan."""
    from gitops.cli import planned
    from gitops.cli.console import say
    from gitops.cli.opened import open_registry, open_repository
    from gitops.cli.progress import progress_bar
    from gitops.usecases.apply import apply as run
    from gitops.usecases.apply import check_reviewed

    if (plan_file is None) is not auto_approve:
        raise UsageError(
            "apply needs either a plan file or --auto-approve",
            hint="`pulsar-gitops plan --out plan.json`, then `pulsar-gitops apply plan.json`",
        )
    if plan_file and prune:
        raise UsageError("a plan file says itself whether it prunes", hint="leave --prune out")
    started = time.monotonic()
    display = planned.Display(fail_on=fail_on, no_color=no_color)
    document = _read(plan_file) if plan_file else None
    opened = open_repository(repo)
    if code := planned.stopped(opened, display):
        return code
    name = _registry_of(document, registry) if document else registry
    with open_registry(opened, name) as (live, config):
        prunes = bool(document["prune"]) if document else prune
        made = planned.make(opened, live, config, prune=prunes)
        if document and (done := check_reviewed(document, made)):
            say(f"{done} actions of this plan were carried out before")
        planned.show(made, opened, display, time.monotonic() - started)
        if code := planned.code(made, display):
            say("nothing was applied, because of the findings above")
            return code
        with progress_bar() as progress:
            applied = run(made, live, progress)
    count = f"{len(applied)} action{'' if len(applied) == 1 else 's'}"
    say(f"applied {count} to {made.registry}" if applied else "nothing to do")
    return Exit.GOOD


def _read(path: Path) -> dict[str, Any]:
    from gitops.usecases.apply import check_document

    try:
        content: object = json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError):
        raise UsageError(f"{path} is not a plan file: it is not JSON") from None
    return check_document(content)


def _registry_of(document: dict[str, Any], given: str | None) -> str:
    name = str(document["registry"]["name"])
    if given not in (None, name):
        raise UsageError(f"this plan is for {name}, not for {given}")
    return name
