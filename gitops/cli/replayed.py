"""`replay` from its options to its exit code."""

from __future__ import annotations

import shlex
import time
from dataclasses import dataclass
from pathlib import Path

from gitops.changes.change import ChangeRequest, find_change, load_change
from gitops.changes.registries import registry_config
from gitops.changes.working_tree import WorkingTreeHistory
from gitops.cli.console import print_report, print_text, refuse_inputs, require_writable, write_text
from gitops.cli.exits import Exit
from gitops.cli.extras import Engine, runner_of
from gitops.cli.findings_output import exit_code, files_report
from gitops.cli.options import EXAMPLES, HERE, FailOn, Format
from gitops.cli.plan_output import Display, stopped
from gitops.cli.progress import progress_bar
from gitops.cli.pull_request_output import print_reported
from gitops.cli.session import OpenedRepository, line_of, open_repository, repository_root
from gitops.git.checkout import open_checkout
from gitops.model.check import HistoryChoice
from gitops.model.errors import UnreadableFileError
from gitops.model.findings import Location
from gitops.model.replay import ReplayReport
from gitops.ports import FileTree, Progress
from gitops.replay.gates import Gate
from gitops.replay.replay_report import ReplayRequest
from gitops.reports.html.replay import replay_page
from gitops.reports.json.documents import to_text
from gitops.reports.json.replay import replay_document
from gitops.reports.markdown.replay import replay_markdown
from gitops.reports.text.replay import replay_report
from gitops.usecases.replay import ReplaySelection, replay_change, replay_files, sample_files


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The options that say what is replayed, and on what."""

    repo: Path
    topics: tuple[str, ...]
    base: str | None
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
        return ReplaySelection(topics=self.topics, registry=self.registry, history=self.history)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Replayed:
    report: ReplayReport
    root: Path
    tree: FileTree

    def excerpt(self, where: Location) -> str | None:
        try:
            return line_of(self.tree.read(where.file), where.line)
        except UnreadableFileError:
            return None


def run(asked: Asked, display: Display, page: Path | None) -> int:
    """Replay, print, and answer the exit code; `page` is where the HTML is written, too."""
    started = time.monotonic()
    require_writable(page)
    replaying = ReplayRequest(
        runner=runner_of(asked.engine, asked.master),
        root=repository_root(asked.repo),
        gate=asked.gate,
        examples=asked.examples,
        show_values=asked.show_values,
    )
    outputs = (display.output, page)
    opened = None
    if asked.base is None:
        opened = open_repository(asked.repo, *outputs)
        if code := stopped(opened, display):
            return code
    with progress_bar(no_color=display.no_color, rate=True) as progress:
        if opened:
            replayed = _of_files(opened, asked.choice, replaying, progress, outputs)
        else:
            replayed = _of_change(asked, replaying, progress, outputs)
    _show(replayed, asked, display, time.monotonic() - started)
    if page:
        write_text(page, replay_page(replayed.report))
    return _code(replayed.report, display.fail_on)


def _of_files(
    opened: OpenedRepository,
    choice: ReplaySelection,
    replaying: ReplayRequest,
    progress: Progress,
    outputs: tuple[Path | None, ...],
) -> _Replayed:
    samples = sample_files(opened.tree, opened.repository)
    refuse_inputs(outputs, [opened.root / path for path in samples])
    name, config = registry_config(opened.repository, choice.registry)
    lying = WorkingTreeHistory(
        root=opened.root,
        tree=opened.tree,
        repository=opened.repository,
        name=name,
        config=config,
    )
    report = replay_files(lying, choice, replaying, progress)
    return _Replayed(report=report, root=opened.root, tree=opened.tree)


def _of_change(
    asked: Asked, replaying: ReplayRequest, progress: Progress, outputs: tuple[Path | None, ...]
) -> _Replayed:
    root = replaying.root
    with open_checkout(root) as checkout:
        loaded = load_change(
            find_change(checkout, ChangeRequest(base=asked.base or "HEAD")), progress
        )
        samples = sample_files(loaded.change.head_tree, loaded.head)
        refuse_inputs(outputs, [root / path for path in (*loaded.head_tree.paths(), *samples)])
        report = replay_change(loaded, asked.choice, replaying, progress)
        return _Replayed(report=report, root=root, tree=loaded.head_tree)


def _show(replayed: _Replayed, asked: Asked, display: Display, seconds: float) -> None:
    report, command = replayed.report, _command(asked, display)
    if display.output_format is Format.JSON:
        print_text(to_text(replay_document(report)), display.output)
        return
    told = files_report(report.findings, command)
    if print_reported(
        told,
        display.output_format,
        replayed.root,
        display.output,
        lambda limit: replay_markdown(report, command, limit),
    ):
        return
    shown = replay_report(report, replayed.excerpt, seconds=seconds)
    print_report(shown, output=display.output, no_color=display.no_color)


def _command(asked: Asked, display: Display) -> str:
    """The line that gives this answer again.

    Whatever does not change the answer is left out: on which engine, and at which address, which
    may hold a token. A report is the same wherever it was made.
    """
    words = ["pulsar-gitops", "replay", *asked.topics]
    words += ["--repo", str(asked.repo)] if asked.repo != HERE else []
    words += ["--base", asked.base] if asked.base is not None else []
    words += ["--registry", asked.registry] if asked.registry else []
    words += ["--history", asked.history] if asked.history is not HistoryChoice.AUTO else []
    words += ["--gate", asked.gate] if asked.gate is not Gate.STRATEGY else []
    words += ["--show-values"] if asked.show_values else []
    words += ["--max-examples", str(asked.examples)] if asked.examples != EXAMPLES else []
    words += ["--fail-on", display.fail_on] if display.fail_on is not FailOn.ERROR else []
    return shlex.join(words)


def _code(report: ReplayReport, fail_on: FailOn) -> int:
    return exit_code(report.findings, fail_on) if report.complete else Exit.INTERRUPTED
