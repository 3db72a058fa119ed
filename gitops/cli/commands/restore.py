"""`restore`: makes the recorded versions of a registry again, with the same numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gitops import signals
from gitops.cli import options
from gitops.cli.completion import registry_names
from gitops.cli.exits import Exit
from gitops.cli.options import HERE
from gitops.cli.session import open_registry, open_repository, open_snapshot
from gitops.model.errors import GitopsError, InterruptedApplyError, PartialApplyError
from gitops.model.names import NamespaceName
from gitops.model.policy import BrokerSettings
from gitops.reports.operation_results import RestoreResult

if TYPE_CHECKING:
    from gitops.cli.plan_execution import Execution
    from gitops.model.apply_result import Result
    from gitops.model.restore import Restore
    from gitops.ports import Progress, Registry
    from gitops.usecases.restore import RecordedRegistry

_REPEAT = "run the same restore again: it looks at the registry and goes on"


def restore(
    namespaces: Annotated[
        list[str] | None,
        typer.Argument(metavar="TENANT/NAMESPACE", help="Only these.", show_default="all"),
    ] = None,
    into: Annotated[
        str | None,
        typer.Option(
            "--into",
            metavar="NAME",
            help="Restore into this registry of gitops.yaml.",
            show_default="the recorded one",
            autocompletion=registry_names,
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what a restore does, and change nothing.")
    ] = False,
    trust_files: Annotated[
        bool,
        typer.Option(
            "--trust-files",
            help="Take the version in snapshots/ where another record has another schema for it.",
        ),
    ] = False,
    journal: Annotated[Path | None, options.journal_at(".gitops/REGISTRY.restore.journal")] = None,
    as_if_broker: options.AsIfBroker = None,
    repo: options.Repo = HERE,
    registry: options.RegistryName = None,
    output_format: Annotated[str, options.format_of(RestoreResult)] = options.FORMAT,
    output: options.OutputFile = None,
    no_color: options.NoColor = False,
) -> int:
    """Make the recorded versions of a registry again, with the same numbers."""
    from gitops.cli.answer import Display, print_result
    from gitops.cli.console import require_writable
    from gitops.cli.progress import progress_bar
    from gitops.journal.versions import read_versions
    from gitops.repository.broker_snapshots import recorded_time
    from gitops.repository.folder import require_inside
    from gitops.usecases import restore as usecase

    wanted = [NamespaceName.parse(text) for text in namespaces or ()]
    require_writable(output)
    opened = open_repository(repo, output, journal, release=as_if_broker)
    target = [into] if into else registry
    with (
        open_snapshot(opened, registry, with_journals=True) as (snapshot, config),
        open_registry(opened, target, release=as_if_broker) as (live, _),
        progress_bar(no_color=no_color) as progress,
    ):
        address = live.address if live.name == snapshot.name else config.address
        recorded = usecase.read_recorded(
            opened.root,
            opened.tree,
            snapshot,
            wanted,
            address=address,
            trusts_files=trust_files,
        )
        journaled = read_versions(opened.root, live.name, live.address)
        restored = usecase.restore(
            recorded,
            live,
            progress,
            files=opened.repository,
            unfinished=journaled.unfinished,
        )
        taken = recorded_time(opened.tree, snapshot.name)
        restored = replace(restored, release=_release(snapshot.broker), taken=taken)
        result = RestoreResult(restore=restored, dry_run=dry_run)
        if restored.plan.actions and not dry_run:
            path = journal or opened.root / ".gitops" / f"{live.name}.restore.journal"
            require_inside(opened.root, path)
            result = _carry_out(restored, recorded, live, path, progress)
    print_result(result, Display(output_format=output_format, output=output, no_color=no_color))
    if result.error:
        raise result.error
    return _code(result)


def _release(broker: BrokerSettings) -> str:
    """The release that the snapshot has of the brokers."""
    from gitops.model.broker_settings import is_seen

    return broker.release if is_seen(broker, "release") else ""


def _carry_out(
    restored: Restore, recorded: RecordedRegistry, live: Registry, path: Path, progress: Progress
) -> RestoreResult:
    """Apply the plan with its journal and read all versions back; no signal cuts an action."""
    from gitops.cli.plan_execution import run_actions, run_in_journal
    from gitops.usecases.restore import check

    state = recorded.state
    namespaces = {*state.namespaces, *(topic.namespace for topic in state.topics)}
    execution = _execution(restored, frozenset(map(str, namespaces)), path)
    results: list[Result] = []
    error = run_in_journal(
        execution, lambda asked: run_actions(execution, live, progress, results.append, asked)
    )
    if error:
        return RestoreResult(restore=restored, results=results, error=error)
    try:
        verified = check(recorded, live, progress)
    except GitopsError as unread:
        return RestoreResult(restore=restored, results=results, error=_unread_error(unread))
    except KeyboardInterrupt:
        signals.hold()  # until the report is printed
        what = "interrupted: everything was written, and was not read back to the end"
        interrupted = InterruptedApplyError(what, where=live.address, hint=_REPEAT)
        return RestoreResult(restore=restored, results=results, error=interrupted)
    return RestoreResult(restore=restored, results=results, check=verified)


def _execution(restored: Restore, namespaces: frozenset[str], path: Path) -> Execution:
    from gitops.cli.plan_execution import Execution
    from gitops.journal.writer import JournalFile
    from gitops.planning.plan_document import digest

    return Execution(
        plan=restored.plan,
        # Not over the plan's whole document: that of each action is in the journal anyway.
        digest=digest({"observed": dict(restored.plan.observed), "snapshot": restored.source}),
        replan=_REPEAT,
        journal=JournalFile(path),
        command="restore",
        namespaces=namespaces,
    )


def _unread_error(error: GitopsError) -> PartialApplyError:
    """All was written, and nobody knows whether it is as recorded."""
    return PartialApplyError(
        f"everything was written, and could not be read back: {error.what}",
        where=error.where,
        hint=_REPEAT,
    )


def _code(result: RestoreResult) -> int:
    if result.restore.obstacles:
        return Exit.FINDINGS
    return Exit.PARTIAL if result.check and result.check.differences else Exit.GOOD
