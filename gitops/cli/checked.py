"""`check` from its options to its exit code."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from gitops.changes.change import ChangeRequest, LoadedChange, find_change, load_change
from gitops.cli.console import print_report, print_text, refuse_inputs
from gitops.cli.exits import Exit, tell
from gitops.cli.extras import Engine, runner_of
from gitops.cli.findings_output import exit_code
from gitops.cli.options import HERE, FailOn, Format
from gitops.cli.plan_output import Display, write_waivers
from gitops.cli.progress import progress_bar
from gitops.cli.pull_request_output import print_reported
from gitops.cli.session import line_of, repository_root, today
from gitops.git.checkout import open_checkout
from gitops.model.check import HistoryChoice
from gitops.model.errors import UnreadableFileError
from gitops.model.findings import Location
from gitops.replay.replay_report import ReplayRequest
from gitops.reports.json.check import check_document
from gitops.reports.json.documents import to_text
from gitops.reports.text.check import check_report
from gitops.usecases.check import CheckOutcome, CheckRequest
from gitops.usecases.check import check as run_check
from gitops.usecases.replay import samples_root

_READ: Final = (".yaml", ".yml", ".avsc", ".proto")
"""What no answer is written over."""
_UNSTEADY: Final = re.compile(r"HEAD\b|[0-9a-f]{40}\Z")
"""What names another commit elsewhere, or is too long to read."""
_DIGITS: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """On what the samples of the touched topics are replayed."""

    engine: Engine
    master: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The options that say what is checked."""

    repo: Path
    base: str
    head: str | None
    registries: tuple[str, ...]
    history: HistoryChoice
    drift: bool
    replay: Replayed | None = None


@contextmanager
def checked(asked: Asked, display: Display) -> Iterator[tuple[CheckOutcome, LoadedChange]]:
    """Check; the files of both sides can be read as long as the context lasts."""
    root = repository_root(asked.repo)
    replay = asked.replay
    runner = runner_of(replay.engine, replay.master) if replay else None
    with (
        open_checkout(root) as checkout,
        progress_bar(no_color=display.no_color) as progress,
        ExitStack() as stack,
    ):
        change = find_change(checkout, ChangeRequest(base=asked.base, head=asked.head))
        loaded = load_change(change, progress)
        files = (path for path in loaded.head_tree.paths() if path.endswith(_READ))
        outputs = [display.output, *(path for _, path in display.reports)]
        refuse_inputs(outputs, [root / path for path in files])
        checking = CheckRequest(
            loaded=loaded,
            reference=asked.base,
            today=today(),
            registries=asked.registries,
            choice=asked.history,
            drift=asked.drift,
            replaying=ReplayRequest(runner=runner, root=stack.enter_context(samples_root(loaded)))
            if runner
            else None,
            command=_command(asked, display, change.base),
        )
        yield run_check(checking, progress), loaded


def run(asked: Asked, display: Display, started: float, waivers: Path | None = None) -> int:
    """Check, print, and answer the exit code; `started` is by the monotonic clock.

    Waivers are proposed in the folder `waivers`, if one is given.
    """
    with checked(asked, display) as (outcome, loaded):
        for output_format, path in display.reports:
            _show(
                outcome, loaded, replace(display, output_format=output_format, output=path), started
            )
        _show(outcome, loaded, display, started)
    if waivers:
        write_waivers((one.plan for one in outcome.report.registries), waivers)
    for name, error in outcome.errors.items():
        tell(error, f"no answer for {name}: ")
    return _code(outcome, asked, display)


def _command(asked: Asked, display: Display, base: str) -> str:
    """The line that gives this answer again, wherever the output went and HEAD goes.

    An engine does not change the answer, and is not named. `base` are the base's 40 hex digits.
    """
    named = base[:_DIGITS] if _UNSTEADY.match(asked.base) else asked.base
    words = ["pulsar-gitops", "check", "--base", named]
    words += ["--head", asked.head] if asked.head is not None else []
    words += ["--repo", str(asked.repo)] if asked.repo != HERE else []
    words += [word for name in asked.registries for word in ("--registry", name)]
    words += ["--history", asked.history] if asked.history is not HistoryChoice.AUTO else []
    words += ["--drift"] if asked.drift else []
    words += ["--replay"] if asked.replay else []
    words += ["--fail-on", display.fail_on] if display.fail_on is not FailOn.ERROR else []
    return shlex.join(words)


def _show(outcome: CheckOutcome, loaded: LoadedChange, display: Display, started: float) -> None:
    if display.output_format is Format.JSON:
        print_text(to_text(check_document(outcome.report)), display.output)
        return
    root = loaded.change.checkout.root
    if print_reported(outcome.report, display.output_format, root, display.output):
        return

    def excerpt(where: Location) -> str | None:
        tree = loaded.base_tree if where.in_base else loaded.head_tree
        try:
            return line_of(tree.read(where.file), where.line)
        except UnreadableFileError:
            return None

    report = check_report(outcome.report, excerpt, seconds=time.monotonic() - started)
    print_report(report, output=display.output, no_color=display.no_color)


def _code(outcome: CheckOutcome, asked: Asked, display: Display) -> int:
    """4 where a registry has no answer, else 1 where a finding is bad enough."""
    report = outcome.report
    named = asked.history is not HistoryChoice.AUTO
    failures = {Exit.OUTSIDE if named else error.exit_code for error in outcome.errors.values()}
    if failures:
        return max(failures)
    if any(one.replay and not one.replay.complete for one in report.registries):
        return Exit.INTERRUPTED
    found = [*report.findings, *(each for one in report.registries for each in one.plan.findings)]
    return exit_code(found, display.fail_on)
