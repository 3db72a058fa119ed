"""`replay`: sample data through old and new schemas."""

from __future__ import annotations

import datetime
import shlex
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import gitops
from gitops.cli import completion, options
from gitops.cli.console import (
    is_input,
    print_message,
    refuse_inputs,
    require_writable,
    write_text,
)
from gitops.cli.exits import Exit
from gitops.cli.extras import Engine, runner_of
from gitops.cli.options import HERE, FailOn
from gitops.cli.progress import progress_bar
from gitops.cli.session import OpenedRepository, line_of, open_repository, repository_root
from gitops.model.check import HistoryChoice
from gitops.model.errors import UnreadableFileError
from gitops.model.findings import Location
from gitops.model.replay import ReplayReport
from gitops.ports import FileTree, Progress
from gitops.replay.gates import Gate
from gitops.reports import results
from gitops.reports.formats import PAGE, render

if TYPE_CHECKING:
    from gitops.cli.answer import Display
    from gitops.replay.captures import Captures
    from gitops.replay.replay_report import ReplayRequest
    from gitops.usecases.replay import ReplaySelection


def replay(
    topics: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TOPIC",
            help="tenant/namespace/topic; all without any.",
            autocompletion=completion.topics,
        ),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option("--base", metavar="REF", help="Only topics that differ from there."),
    ] = None,
    capture: Annotated[
        Path | None,
        typer.Option(
            "--capture",
            metavar="DIR",
            help="Read the captures there in place of the manifests' samples.",
        ),
    ] = None,
    engine: options.ReplayEngine = Engine.SPARK,
    master: options.SparkMaster = None,
    gate: Annotated[
        Gate,
        typer.Option(
            "--gate", help="Which failures block the merge; default: by each topic's strategy."
        ),
    ] = Gate.STRATEGY,
    show_values: Annotated[
        bool,
        typer.Option("--show-values", help="Show what failing messages contain, unless sensitive."),
    ] = False,
    max_examples: Annotated[
        int,
        typer.Option("--max-examples", metavar="N", min=0, max=1000, help="Shown of each reason."),
    ] = options.EXAMPLES,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write a page with plots there, too."),
    ] = None,
    history: options.HistorySource = HistoryChoice.AUTO,
    repo: options.Repo = HERE,
    registry: options.RegistryName = None,
    output_format: Annotated[
        str, options.format_of(results.ReplayResult, results.FindingsResult)
    ] = options.FORMAT,
    output: options.OutputFile = None,
    fail_on: options.Threshold = FailOn.ERROR,
    no_color: options.NoColor = False,
) -> int:
    """Read sample data with the proposed schemas, and what those write with the older ones."""
    from gitops.cli.answer import Display

    selected = _Options(
        repo=repo,
        topics=tuple(topics or ()),
        base=base,
        capture=capture,
        registry=registry[0] if registry else None,
        history=history,
        engine=engine,
        master=master,
        gate=gate,
        show_values=show_values,
        examples=max_examples,
    )
    display = Display(
        output_format=output_format, output=output, fail_on=fail_on, no_color=no_color
    )
    return _run(selected, display, html)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Options:
    """The options that say what is result, and on what."""

    repo: Path
    topics: tuple[str, ...]
    base: str | None
    capture: Path | None
    registry: str | None
    history: HistoryChoice
    engine: Engine
    master: str | None
    gate: Gate
    show_values: bool
    examples: int

    @property
    def choice(self) -> ReplaySelection:
        """What is chosen of the files and their history."""
        from gitops.usecases.replay import ReplaySelection

        return ReplaySelection(
            topics=self.topics,
            registry=self.registry,
            history=self.history,
            captures=_captures(self.capture),
        )


def _captures(folder: Path | None) -> Captures | None:
    if folder is None:
        return None
    from gitops.replay.captures import read_captures

    return read_captures(folder)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReplayedFiles:
    """What was replayed, and the files that it is about."""

    report: ReplayReport
    root: Path
    tree: FileTree

    def excerpt(self, where: Location) -> str | None:
        try:
            return line_of(self.tree.read(where.file), where.line)
        except UnreadableFileError:
            return None


def _run(selected: _Options, display: Display, page: Path | None) -> int:
    """Replay, print, and answer the exit code; `page` is where the HTML is written, too."""
    from gitops.cli.answer import folder_in_git, print_result
    from gitops.cli.plan_output import print_blocking_findings
    from gitops.git.references import describe
    from gitops.replay.replay_report import ReplayRequest

    started = time.monotonic()
    require_writable(page)
    request = ReplayRequest(
        runner=runner_of(selected.engine, selected.master),
        root=repository_root(selected.repo),
        gate=selected.gate,
        examples=selected.examples,
        show_values=selected.show_values,
    )
    outputs = (display.output, page)
    opened = None
    if selected.base is None:
        opened = open_repository(selected.repo, *outputs)
        if code := print_blocking_findings(opened, display):
            return code
    with progress_bar(no_color=display.no_color, rate=True) as progress:
        if opened:
            result = _replay_files(opened, selected.choice, request, progress, outputs)
        else:
            result = _replay_change(selected, request, progress, outputs)
    answer = results.ReplayResult(
        replay=result.report,
        command=_command(selected, display),
        seconds=time.monotonic() - started,
        excerpt=result.excerpt,
        folder=folder_in_git(result.root),
    )
    print_result(answer, display)
    if page:
        run = results.ReplayRun(
            command=answer.command,
            made=datetime.datetime.now(datetime.UTC),
            commit=describe(result.root),
            program=gitops.__version__,
        )
        whole = render(PAGE, results.ReplayPage(replay=result.report, run=run))
        write_text(page, str(whole.body))
        print_message(f"page written to {page}")
    return _code(result.report, display.fail_on)


def _replay_files(
    opened: OpenedRepository,
    choice: ReplaySelection,
    request: ReplayRequest,
    progress: Progress,
    outputs: tuple[Path | None, ...],
) -> _ReplayedFiles:
    from gitops.changes.registries import registry_config
    from gitops.changes.sample_files import sample_files
    from gitops.changes.working_tree import WorkingTreeHistory
    from gitops.usecases.replay import replay_files

    samples = sample_files(opened.tree, opened.repository)
    refuse_inputs(outputs, [opened.root / path for path in samples])
    name, config = registry_config(opened.repository, choice.registry)
    history = WorkingTreeHistory(
        root=opened.root,
        tree=opened.tree,
        repository=opened.repository,
        name=name,
        config=config,
    )
    report = replay_files(history, choice, request, progress)
    return _ReplayedFiles(report=report, root=opened.root, tree=opened.tree)


def _replay_change(
    selected: _Options, request: ReplayRequest, progress: Progress, outputs: tuple[Path | None, ...]
) -> _ReplayedFiles:
    from gitops.changes.change import ChangeRequest, find_change, load_change
    from gitops.changes.sample_files import sample_files
    from gitops.git.checkout import open_checkout
    from gitops.usecases.replay import replay_change

    root = request.root
    with open_checkout(root) as checkout:
        loaded = load_change(
            find_change(checkout, ChangeRequest(base=selected.base or "HEAD")), progress
        )
        samples = sample_files(loaded.change.head_tree, loaded.head)
        read = filter(is_input, loaded.head_tree.paths())
        refuse_inputs(outputs, [root / path for path in (*read, *samples)])
        report = replay_change(loaded, selected.choice, request, progress)
        return _ReplayedFiles(report=report, root=root, tree=loaded.head_tree)


def _command(selected: _Options, display: Display) -> str:
    """The line that gives this answer again.

    Whatever does not change the answer is left out: the address of a Spark master, which may hold
    a token, and Spark itself. The local engine is named, since Spark may not be installed.
    """
    words = ["pulsar-gitops", "replay", *selected.topics]
    words += ["--repo", str(selected.repo)] if selected.repo != HERE else []
    words += ["--base", selected.base] if selected.base is not None else []
    words += ["--capture", str(selected.capture)] if selected.capture is not None else []
    words += ["--registry", selected.registry] if selected.registry else []
    words += ["--history", selected.history] if selected.history is not HistoryChoice.AUTO else []
    words += ["--engine", selected.engine] if selected.engine is not Engine.SPARK else []
    words += ["--gate", selected.gate] if selected.gate is not Gate.STRATEGY else []
    words += ["--show-values"] if selected.show_values else []
    words += (
        ["--max-examples", str(selected.examples)] if selected.examples != options.EXAMPLES else []
    )
    words += ["--fail-on", display.fail_on] if display.fail_on is not FailOn.ERROR else []
    return shlex.join(words)


def _code(report: ReplayReport, fail_on: FailOn) -> int:
    from gitops.cli.answer import exit_code

    return exit_code(report.findings, fail_on) if report.complete else Exit.INTERRUPTED
