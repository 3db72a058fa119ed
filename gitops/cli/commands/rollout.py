"""`rollout`: in which order the declared clients upgrade for a change."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gitops.cli import options
from gitops.cli.console import print_message
from gitops.cli.exits import Exit, print_error
from gitops.cli.options import HERE
from gitops.cli.progress import progress_bar
from gitops.cli.session import open_registry, open_repository, open_snapshot, today
from gitops.model.check import HistoryChoice
from gitops.model.errors import UsageError
from gitops.reports import results

if TYPE_CHECKING:
    from gitops.changes.migration_files import MigrationFiles
    from gitops.cli.answer import Display
    from gitops.usecases.check import CheckRequest


def rollout(
    base: Annotated[
        str | None,
        typer.Option(
            "--base",
            metavar="REF",
            help="What the change is to be merged into.",
            show_default="the registry",
        ),
    ] = None,
    head: options.HeadRef = None,
    history: options.HistorySource = HistoryChoice.AUTO,
    repo: options.Repo = HERE,
    registry: options.RegistryName = None,
    output_format: Annotated[str, options.format_of(results.RolloutResult)] = options.FORMAT,
    output: options.OutputFile = None,
    no_color: options.NoColor = False,
    as_if_broker: options.AsIfBroker = None,
    migrate: Annotated[
        bool,
        typer.Option("--migrate", help="Write the manifests of a new topic where no order exists."),
    ] = False,
) -> int:
    """Show the steps of a change, or from the registry to the files: register, upgrade, wait."""
    from gitops.cli.answer import Display
    from gitops.usecases.check import CheckRequest

    display = Display(output_format=output_format, output=output, no_color=no_color)
    if base is None:
        _require_no_change(head, history, migrate=migrate)
        return _run_from_registry(repo, registry or [], history, display, as_if_broker)
    request = CheckRequest(
        base=base,
        head=head,
        registries=tuple(registry or ()),
        history=history,
        release=as_if_broker,
        today=today(),
    )
    return _run(repo, request, display, migrate=migrate)


def _require_no_change(head: str | None, history: HistoryChoice, *, migrate: bool) -> None:
    """Raise UsageError for what only a change has."""
    given = {
        "--head": head is not None,
        "--migrate": migrate,
        "--history git": history is HistoryChoice.GIT,
    }
    for option, is_given in given.items():
        if is_given:
            raise UsageError(
                f"{option} needs --base",
                hint="without --base the files are compared with the registry or its snapshot",
            )


def _run(repo: Path, request: CheckRequest, display: Display, *, migrate: bool) -> int:
    """Print the steps of a change; 1 where there is no order, 4 where a registry has no answer.

    1 also where the files have errors: who is declared in them takes no part. With `migrate` the
    manifests of migrations are written, and a topic that has one is no longer a reason for 1.
    """
    from gitops.cli.answer import print_result
    from gitops.cli.check_run import check_change
    from gitops.usecases.rollout import change_rollout, with_broker_notes

    if migrate and request.head is not None:
        raise UsageError(
            "--migrate writes into the folder, and --head names a commit",
            hint="check out that commit, and leave --head out",
        )
    with check_change(repo, request, display) as (outcome, loaded):
        report = outcome.report
        change = change_rollout(report, loaded, migrate=migrate)
        print_result(
            results.RolloutResult(report=with_broker_notes(report), migrated=migrate), display
        )
        if migrate:
            _write_migration(change.migration, loaded.change.checkout.root)
    if change.has_broken_files:
        print_message(
            f"the files have errors, so the rollout is incomplete; see `{report.command}`"
        )
    for name, error in outcome.errors.items():
        print_error(error, f"no answer for {name}: ")
    if outcome.errors:
        return Exit.OUTSIDE
    return Exit.FINDINGS if change.has_broken_files or change.is_blocked else Exit.GOOD


def _write_migration(migration: MigrationFiles | None, root: Path) -> None:
    """Write the manifests, and say on stderr what was written and what is to do by hand."""
    from gitops.repository.folder import write_files

    if migration is None:
        print_message("nothing to migrate: there is a safe order, or a new topic does not give one")
        return
    write_files(root, migration.files)
    for path, remark in sorted(migration.remarks.items()):
        print_message(f"wrote {path}: {remark}")
    for left in migration.left:
        print_message(f"by hand: {left}")


def _run_from_registry(
    repo: Path,
    registries: list[str],
    history: HistoryChoice,
    display: Display,
    release: str | None,
) -> int:
    """Print the steps from what the registry or its snapshot holds to what the files say."""
    from gitops.cli.answer import print_result
    from gitops.cli.plan_output import plan_request, print_blocking_findings
    from gitops.reports.plan_reports import rollout_report
    from gitops.usecases.rollout import is_blocked, registry_rollout

    opened = open_repository(repo, display.output, release=release)
    if (code := print_blocking_findings(opened, display)) is not None:
        return code
    is_recorded = history is HistoryChoice.SNAPSHOT
    with (
        open_snapshot(opened, registries, release=release)
        if is_recorded
        else open_registry(opened, registries, release=release) as (registry, config),
        progress_bar(no_color=display.no_color) as progress,
    ):
        request = plan_request(opened, registry, config)
        registry_order = registry_rollout(request, opened.tree.paths(), progress)
    report = rollout_report(registry_order.plan, registry_order.rollout)
    print_result(results.RolloutResult(report=report), display)
    return Exit.FINDINGS if is_blocked(registry_order.rollout) else Exit.GOOD
