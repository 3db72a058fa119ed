"""A change that is checked for one command: `check` reports all of it, `rollout` the order."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gitops.changes.change import ChangeRequest, LoadedChange, find_change, load_change
from gitops.changes.registries import registries_in_order
from gitops.cli.answer import Display
from gitops.cli.console import is_input
from gitops.cli.extras import Engine, runner_of
from gitops.cli.options import HERE, FailOn
from gitops.cli.progress import progress_bar
from gitops.cli.session import refuse_outputs, repository_root, today
from gitops.git.checkout import open_checkout
from gitops.model.check import HistoryChoice
from gitops.replay.replay_report import ReplayRequest
from gitops.usecases.check import CheckOutcome, CheckRequest, samples_root
from gitops.usecases.check import check as run_check

_UNSTEADY: Final = re.compile(r"HEAD\b|[0-9a-f]{40}\Z")
"""What names another commit elsewhere, or is too long to read."""
_DIGITS: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """On what the samples of the affected topics are replayed."""

    engine: Engine
    master: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """The options that say what is checked; `fix` asks for edits, too."""

    repo: Path
    base: str
    head: str | None
    registries: tuple[str, ...]
    history: HistoryChoice
    drift: bool
    release: str | None = None
    replay: EngineOptions | None = None
    fix: bool = False


@contextmanager
def check_change(
    options: CheckOptions, display: Display
) -> Iterator[tuple[CheckOutcome, LoadedChange]]:
    """Check; the files of both sides can be read as long as the context lasts."""
    root = repository_root(options.repo)
    replay = options.replay
    runner = runner_of(replay.engine, replay.master) if replay else None
    with (
        open_checkout(root) as checkout,
        progress_bar(no_color=display.no_color) as progress,
        ExitStack() as stack,
    ):
        change = find_change(checkout, ChangeRequest(base=options.base, head=options.head))
        loaded = load_change(change, progress, options.release)
        files = filter(is_input, loaded.head_tree.paths())
        outputs = [display.output, *(path for _, path in display.reports)]
        refuse_outputs(root, outputs, [root / path for path in files])
        request = CheckRequest(
            loaded=loaded,
            reference=options.base,
            today=today(),
            registries=_registries(options, loaded),
            choice=options.history,
            drift=options.drift,
            release=options.release,
            replaying=ReplayRequest(runner=runner, root=stack.enter_context(samples_root(loaded)))
            if runner
            else None,
            command=_command(options, display, change.base),
            fix=options.fix,
        )
        yield run_check(request, progress), loaded


def _registries(options: CheckOptions, loaded: LoadedChange) -> tuple[str, ...]:
    """Of a group also the members that the change takes out: it does not choose its judges.

    A registry that it removes is reported by CHECK-R003.
    """
    head, base = loaded.head.config, loaded.base.config
    before = (name for group in options.registries for name in base.groups.get(group, ()))
    names = (*options.registries, *(name for name in before if name in head.registries))
    return tuple(registries_in_order(names, head))


def _command(options: CheckOptions, display: Display, base: str) -> str:
    """The line that gives this answer again, wherever the output went and HEAD goes.

    The local engine is named, since Spark may not be installed. `base` are the base's 40 hex
    digits.
    """
    named = base[:_DIGITS] if _UNSTEADY.match(options.base) else options.base
    words = ["pulsar-gitops", "check", "--base", named]
    words += ["--head", options.head] if options.head is not None else []
    words += ["--repo", str(options.repo)] if options.repo != HERE else []
    words += [word for name in options.registries for word in ("--registry", name)]
    words += ["--history", options.history] if options.history is not HistoryChoice.AUTO else []
    words += ["--as-if-broker", options.release] if options.release else []
    words += ["--drift"] if options.drift else []
    words += ["--replay"] if options.replay else []
    words += ["--engine", "local"] if _is_local(options) else []
    words += ["--fail-on", display.fail_on] if display.fail_on is not FailOn.ERROR else []
    return shlex.join(words)


def _is_local(options: CheckOptions) -> bool:
    return options.replay is not None and options.replay.engine is Engine.LOCAL
