"""`rollout`: in which order the declared clients upgrade for a change."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gitops.cli import options
from gitops.cli.console import print_message
from gitops.cli.exits import Exit, print_error
from gitops.cli.options import HERE
from gitops.cli.progress import progress_bar
from gitops.cli.session import OpenedRepository, open_registry, open_repository
from gitops.model.check import CheckReport, HistoryChoice
from gitops.model.config import RegistryConfig
from gitops.model.errors import UsageError
from gitops.model.rollout import Rollout
from gitops.ports import Registry
from gitops.reports import results

if TYPE_CHECKING:
    from gitops.changes.change import LoadedChange
    from gitops.cli.answer import Display
    from gitops.cli.check_run import CheckOptions


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
    from gitops.cli.check_run import CheckOptions

    display = Display(output_format=output_format, output=output, no_color=no_color)
    if base is None:
        _require_no_change(head, history, migrate=migrate)
        return _run_from_registry(repo, registry or [], history, display, as_if_broker)
    request = CheckOptions(
        repo=repo,
        base=base,
        head=head,
        registries=tuple(registry or ()),
        history=history,
        drift=False,
        release=as_if_broker,
    )
    return _run(request, display, migrate=migrate)


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


def _run(request: CheckOptions, display: Display, *, migrate: bool = False) -> int:
    """Print the steps of a change; 1 where there is no order, 4 where a registry has no answer.

    1 also where the files have errors: who is declared in them takes no part. With `migrate` the
    manifests of migrations are written, and a topic that has one is no longer a reason for 1.
    """
    from gitops.changes.new_findings import new_findings
    from gitops.changes.repository_plan import blocks
    from gitops.cli.answer import print_result
    from gitops.cli.check_run import check_change
    from gitops.planning.severities import rate_findings

    if migrate and request.head is not None:
        raise UsageError(
            "--migrate writes into the folder, and --head names a commit",
            hint="check that commit out, and leave --head away",
        )
    with check_change(request, display) as (outcome, loaded):
        report = outcome.report
        print_result(results.RolloutResult(report=report, migrated=migrate), display)
        if migrate:
            _migrate(report, loaded)
        unread = blocks(rate_findings(new_findings(loaded), loaded.limits.rules))
    if unread:
        print_message(
            f"the files have errors, and what they leave open is no step; see `{report.command}`"
        )
    for name, error in outcome.errors.items():
        print_error(error, f"no answer for {name}: ")
    if outcome.errors:
        return Exit.OUTSIDE
    return Exit.FINDINGS if unread else _code(report, migrate=migrate)


def _run_from_registry(
    repo: Path,
    registries: list[str],
    history: HistoryChoice,
    display: Display,
    release: str | None,
) -> int:
    """Print the steps from what the registry or its snapshot holds to what the files say."""
    from gitops.changes.history_sources import no_snapshot
    from gitops.changes.registries import registry_config
    from gitops.cli.answer import print_result
    from gitops.cli.plan_output import print_blocking_findings
    from gitops.model.broker_settings import as_if_broker as as_if
    from gitops.registries.snapshot import SnapshotRegistry

    opened = open_repository(repo, display.output, release=release)
    if (code := print_blocking_findings(opened, display)) is not None:
        return code
    if history is HistoryChoice.SNAPSHOT:
        name, config = registry_config(opened.repository, registries[0] if registries else None)
        broker = as_if(config.broker, release) if release else config.broker
        recorded = SnapshotRegistry(name, opened.tree, broker)
        if recorded.is_empty:
            missing = no_snapshot(name, in_base=False)
            raise UsageError(missing.what, hint=missing.hint)
        report = _plan_report(recorded, config, opened, display)
    else:
        with open_registry(opened, registries, release=release) as (live, config):
            report = _plan_report(live, config, opened, display)
    print_result(results.RolloutResult(report=report), display)
    return _code(report, migrate=False)


def _plan_report(
    registry: Registry, config: RegistryConfig, opened: OpenedRepository, display: Display
) -> CheckReport:
    from gitops.changes.repository_plan import plan_of, read_plan_input
    from gitops.cli.plan_output import plan_request
    from gitops.rollout.rollout import add_client_topics, registry_rollout_request, rollout_of

    request = plan_request(opened, registry, config)
    with progress_bar(no_color=display.no_color) as progress:
        asked = read_plan_input(request, progress)
        plan = plan_of(request, asked, progress)
    repository = opened.repository
    whole = add_client_topics(asked, registry, repository)
    model = registry_rollout_request(repository, whole, plan, opened.tree.paths())
    rollout, _ = rollout_of(model)
    report = results.plans_report([plan])
    (one,) = report.registries
    return replace(report, registries=(replace(one, rollout=rollout),))


def _code(report: CheckReport, *, migrate: bool) -> int:
    blocked = any(_is_blocked(one.rollout, migrate=migrate) for one in report.registries)
    return Exit.FINDINGS if blocked else Exit.GOOD


def _migrate(report: CheckReport, loaded: LoadedChange) -> None:
    """Write the manifests, and say on stderr what was written and what is to do by hand."""
    from gitops.changes.migration_files import write_migrations
    from gitops.repository.folder import write_files

    ways = [way for one in report.registries for way in one.rollout.migrations]
    if not ways:
        print_message("nothing to migrate: there is an order, or none that a new topic would help")
        return
    written = write_migrations(loaded, ways)
    write_files(loaded.change.checkout.root, written.files)
    for path, said in sorted(written.said.items()):
        print_message(f"wrote {path}: {said}")
    for left in written.left:
        print_message(f"by hand: {left}")


def _is_blocked(rollout: Rollout, *, migrate: bool) -> bool:
    left = {way.topic for way in rollout.migrations} if migrate else set()
    return any(not left.issuperset(block.topics) for block in rollout.blocks) or not (
        left.issuperset(rollout.refused)
    )
