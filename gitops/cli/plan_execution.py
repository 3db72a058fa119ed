"""A plan carried out in a terminal: its report, line by line, and its journal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from rich.console import Group, RenderableType
from rich.text import Text

from gitops import signals
from gitops.cli.console import print_message, print_report
from gitops.cli.exits import drop_stdout, print_error
from gitops.cli.progress import progress_bar
from gitops.interrupts import Interruption, interruption
from gitops.model.errors import GitopsError, OutsideError, UsageError
from gitops.model.findings import Severity
from gitops.model.journal import APPLIED
from gitops.model.plan import Plan
from gitops.model.rollout_reason import name_list
from gitops.planning.reviewed_plan import REPLAN
from gitops.planning.skipped_subjects import SkippedSubject, skip_blocked_subjects
from gitops.ports import Progress, Registry, no_progress
from gitops.reports import results
from gitops.reports.formats import renderer
from gitops.reports.text.skipped import skipped_text

if TYPE_CHECKING:
    from gitops.cli.answer import Display
    from gitops.journal.writer import JournalFile
    from gitops.model.apply_result import Result

_MOST_NAMES: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """A plan as it is now, the digest of the reviewed one, and how much of that is done.

    `shown` is the plan where nobody has seen it before; `replan` how a new one is made where this
    one cannot be carried out. `document` is the plan where no file has it, for the journal, and
    `command` what carries it out. `skipped` are subjects whose actions are not in the plan.
    """

    plan: Plan
    digest: str
    done_before: int = 0
    shown: RenderableType | None = None
    replan: str = REPLAN
    started: float = field(default_factory=time.monotonic)
    journal: JournalFile | None = None
    document: dict[str, Any] | None = None
    command: str = "apply"
    namespaces: frozenset[str] = frozenset()
    skipped: tuple[SkippedSubject, ...] = ()

    @property
    def has_work(self) -> bool:
        """Whether there is, or was, anything to do."""
        return bool(self.plan.actions or self.done_before)

    def journal_start(self) -> dict[str, Any]:
        """What the journal tells of the plan."""
        start = {
            "plan": self.digest,
            "registry": self.plan.registry,
            "address": self.plan.address,
            "actions": len(self.plan.actions),
            "doneBefore": self.done_before,
            "command": self.command,
        }
        start |= {"namespaces": sorted(self.namespaces)} if self.namespaces else {}
        return start | ({"document": self.document} if self.document else {})


@dataclass(slots=True)
class Reports:
    """The reports of several plans, of which the answer is made in the end; see `print_reports`.

    `interruption` is the last plan's: also where that was done nevertheless, no other is begun.
    """

    parts: list[RenderableType] = field(default_factory=list)
    results: list[results.AppliedResult] = field(default_factory=list)
    interruption: Interruption = field(default_factory=Interruption)


def print_reports(
    reports: Reports, failures: Sequence[tuple[str, GitopsError]], display: Display
) -> None:
    """What is not printed yet of several plans, as one answer.

    Where the file cannot be written any more it goes to stdout; raises OutsideError after that.
    """
    try:
        _print_reports(reports, failures, display)
    except UsageError as error:
        if display.output is None:
            raise
        _print_reports(reports, failures, replace(display, output=None))
        hint = "what was carried out is on stdout"
        raise OutsideError(error.what, hint=hint) from error


def _print_reports(
    reports: Reports, failures: Sequence[tuple[str, GitopsError]], display: Display
) -> None:
    from gitops.cli.answer import print_result

    if not _has_lines(display):
        print_result(
            results.AppliedPlansResult(applied=reports.results, failures=failures), display
        )
    elif reports.parts:
        parts = Group(*reports.parts)
        print_report(parts, output=display.output, no_color=display.no_color)


def carry_out(
    execution: Execution, registry: Registry, display: Display, into: Reports | None = None
) -> None:
    """Apply it; what was done is reported however it ends, before the error is raised.

    Of one of several plans the report goes `into` theirs, as far as it is not printed at once.

    From the first action to the end of the report no signal cuts anything, and a report that
    cannot be printed stops nothing.
    """
    report = _Report(execution, display, into)

    def run(asked: Interruption) -> None:
        signals.hold()  # also until the process ends, or another plan begins
        if into:
            into.interruption = asked
        try:
            report.begin()
            with _progress(display) as progress:
                run_actions(execution, registry, progress, report.add, asked)
        finally:
            report.end()

    error = run_in_journal(execution, run)
    if error is None:
        report.finish()
        return
    report.tell_failure()
    raise error


def run_in_journal(execution: Execution, run: Callable[[Interruption], None]) -> GitopsError | None:
    """Run it so that no signal cuts it, between the journal's first line and its last.

    Answers what stopped it, or else why the last line cannot be written. Raises what keeps the
    first one from being written.
    """
    journal = execution.journal if execution.has_work else None
    if journal:
        journal.begin(execution.journal_start())
    error: GitopsError | None = None
    with interruption() as asked:
        try:
            run(asked)
        except GitopsError as stopped:
            error = stopped
        return _ended(journal, error, is_whole=not execution.skipped)


def run_actions(
    execution: Execution,
    registry: Registry,
    progress: Progress,
    tell: Callable[[Result], None],
    asked: Interruption,
) -> None:
    """Carry out the actions; raises what stops them."""
    from gitops.usecases.apply import apply

    apply(
        execution.plan,
        registry,
        progress,
        tell,
        interruption=asked,
        replan=execution.replan,
        journal=execution.journal if execution.has_work else None,
    )


def _ended(
    journal: JournalFile | None, error: GitopsError | None, *, is_whole: bool
) -> GitopsError | None:
    """Write down how it ended; answers the error, or else why that cannot be written."""
    try:
        if journal:
            journal.end(APPLIED if is_whole and not error else "stopped")
    except OutsideError as unwritten:
        return error or unwritten
    return error


def refuse(execution: Execution, display: Display, into: Reports | None = None) -> None:
    """Report a plan whose findings keep it from being applied; `into` as above."""
    if not _has_lines(display):
        _print_document(execution, (), display, into)
    elif execution.shown is not None and into and display.output:
        into.parts.append(execution.shown)
    elif execution.shown is not None:
        print_report(execution.shown, output=display.output, no_color=display.no_color)
    where = f"in {display.output}" if display.output else "above"
    what = f"nothing was applied to {execution.plan.registry}" if into else "nothing was applied"
    print_message(f"{what}, because of the findings {where}")
    remaining = skip_blocked_subjects(execution.plan, Severity[display.fail_on.name])
    subjects = [skipped.subject for skipped in remaining.skipped if skipped.rule]
    if subjects and not execution.plan.keep_going:
        rest = "; --keep-going applies the rest" if remaining.plan.actions else ""
        print_message(f"  in the way: {name_list(subjects, _MOST_NAMES)}{rest}")


def _has_lines(display: Display) -> bool:
    """Whether the format has a line for each action, or one text in the end."""
    return isinstance(renderer(display.output_format, results.AppliedResult), type)


def _print_document(
    execution: Execution, done: Sequence[Result], display: Display, into: Reports | None
) -> None:
    from gitops.cli.answer import print_result

    place = {id(action): number for number, action in enumerate(execution.plan.actions)}
    result = results.AppliedResult(
        plan=execution.plan,
        results=sorted(done, key=lambda item: place[id(item.action)]),
        digest=execution.digest,
        done_before=execution.done_before,
        skipped=execution.skipped,
    )
    if into:
        into.results.append(result)
    else:
        print_result(result, display)


def _progress(display: Display) -> AbstractContextManager[Progress]:
    """A bar, unless the lines of a terminal show the progress."""
    if _has_lines(display) and not display.output and sys.stdout.isatty():
        return nullcontext(no_progress)
    return progress_bar(no_color=display.no_color)


@final
class _Report:
    """The answer: lines of text as they come, or one text in the end. It raises nothing."""

    def __init__(self, execution: Execution, display: Display, into: Reports | None) -> None:
        from gitops.reports.text.apply import ActionLines

        self._execution = execution
        self._display = display
        self._into = into
        self._has_lines = _has_lines(display)
        self._lines = ActionLines.of(execution.plan)
        self._results: list[Result] = []
        self._kept: list[RenderableType] = []
        self._failure: OutsideError | None = None

    def begin(self) -> None:
        """What is going to be done."""
        from gitops.reports.text.apply import apply_head

        shown, plan = self._execution.shown, self._execution.plan
        if shown is not None:
            self._add(shown, Text(""))
        elif plan.actions:
            self._add(apply_head(plan, self._execution.done_before), Text(""))

    def add(self, result: Result) -> None:
        """What became of one action."""
        self._results.append(result)
        self._add(self._lines.line(result))

    def end(self) -> None:
        """Count, and print what is not printed yet."""
        from gitops.reports.text.apply import lockout_lines

        if self._results:
            self._add(Text(""))
        is_done = all(result.error is None for result in self._results)
        if is_done and (lockouts := lockout_lines(self._execution.plan)):
            self._add(*lockouts, Text(""))
        if skipped := self._execution.skipped:
            self._add(skipped_text(skipped), Text(""))
        self._add(self._count(time.monotonic() - self._execution.started))
        self._guard(self._print_kept)

    def finish(self) -> None:
        """Say on stderr that all is done, where stdout does not; raises what kept it from that."""
        if self._failure:
            raise OutsideError(
                self._failure.what, hint=f"{self._count().plain}; {self._failure.hint}".strip("; ")
            )
        if self._display.output or not self._has_lines:
            print_message(self._count().plain)
        if skipped := self._execution.skipped:
            number = f"{len(skipped)} {'subject' if len(skipped) == 1 else 'subjects'}"
            print_message(f"applied in part: {number} skipped because of findings")

    def tell_failure(self) -> None:
        """Say why the report could not be printed, beside another error."""
        if self._failure:
            print_error(self._failure)

    def _count(self, seconds: float | None = None) -> Text:
        from gitops.reports.text.apply import apply_count

        return apply_count(
            self._execution.plan,
            self._results,
            done_before=self._execution.done_before,
            seconds=seconds,
        )

    def _add(self, *parts: RenderableType) -> None:
        if not self._has_lines:
            return
        if self._display.output:
            self._kept.extend(parts)
        else:
            self._guard(lambda: self._print_part(Group(*parts), None))

    def _print_part(self, part: RenderableType, output: Path | None) -> None:
        print_report(part, output=output, no_color=self._display.no_color)

    def _print_kept(self) -> None:
        output = self._display.output
        try:
            self._print_whole(output)
        except UsageError as error:
            if output is None:
                raise
            self._failure = OutsideError(error.what, hint="what was carried out is on stdout")
            self._print_whole(None)

    def _print_whole(self, output: Path | None) -> None:
        if not self._has_lines:
            display = replace(self._display, output=output)
            _print_document(self._execution, self._results, display, self._into)
        elif self._into:
            self._into.parts.extend(self._kept)
        elif self._kept:
            self._print_part(Group(*self._kept), output)

    def _guard(self, write: Callable[[], None]) -> None:
        """A reader that has seen enough is no error; a full disk is one, and stops nothing."""
        try:
            write()
        except BrokenPipeError:
            drop_stdout()
        except OSError as error:
            drop_stdout()
            self._failure = OutsideError(f"cannot write the answer: {error.strerror}")
