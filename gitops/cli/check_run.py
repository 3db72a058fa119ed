"""A change that is checked for one command: `check` reports all of it, `rollout` the order."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from gitops.changes.change import ChangeRequest, LoadedChange, find_change, load_change
from gitops.changes.registries import registries_in_order
from gitops.cli.answer import Display
from gitops.cli.console import is_input
from gitops.cli.extras import Engine, runner_of
from gitops.cli.options import HERE, FailOn
from gitops.cli.progress import progress_bar
from gitops.cli.session import refuse_outputs, repository_root
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


@contextmanager
def check_change(
    repo: Path, request: CheckRequest, display: Display, replay: EngineOptions | None = None
) -> Iterator[tuple[CheckOutcome, LoadedChange]]:
    """Check; the files of both sides can be read as long as the context lasts."""
    root = repository_root(repo)
    runner = runner_of(replay.engine, replay.master) if replay else None
    with (
        open_checkout(root) as checkout,
        progress_bar(no_color=display.no_color) as progress,
        ExitStack() as stack,
    ):
        change = find_change(checkout, ChangeRequest(base=request.base, head=request.head))
        loaded = load_change(change, progress, request.release)
        files = filter(is_input, loaded.head_tree.paths())
        outputs = [display.output, *(path for _, path in display.reports)]
        refuse_outputs(root, outputs, [root / path for path in files])
        if runner:
            samples = stack.enter_context(samples_root(loaded))
            request = replace(request, replay=ReplayRequest(runner=runner, root=samples))
        command = _command(repo, request, display, change.base, replay)
        request = replace(request, registries=_registries(request, loaded), command=command)
        yield run_check(loaded, request, progress), loaded


def _registries(request: CheckRequest, loaded: LoadedChange) -> tuple[str, ...]:
    """Resolve groups. Include members removed by the change: it must not drop its own checks.

    A registry that it removes is reported by CHECK-R003.
    """
    head, base = loaded.head.config, loaded.base.config
    base_members = [name for group in request.registries for name in base.groups.get(group, ())]
    names = (*request.registries, *(name for name in base_members if name in head.registries))
    return tuple(registries_in_order(names, head))


def _command(
    repo: Path,
    request: CheckRequest,
    display: Display,
    merge_base: str,
    replay: EngineOptions | None,
) -> str:
    """The command line that repeats this check, wherever the output went and HEAD moves.

    The local engine is named, since Spark may not be installed. `merge_base` has 40 hex digits.
    """
    base = merge_base[:_DIGITS] if _UNSTEADY.match(request.base) else request.base
    words = ["pulsar-gitops", "check", "--base", base]
    words += ["--head", request.head] if request.head is not None else []
    words += ["--repo", str(repo)] if repo != HERE else []
    words += [word for name in request.registries for word in ("--registry", name)]
    words += ["--history", request.history] if request.history is not HistoryChoice.AUTO else []
    words += ["--as-if-broker", request.release] if request.release else []
    words += ["--drift"] if request.drift else []
    words += ["--replay"] if replay else []
    words += ["--engine", "local"] if replay and replay.engine is Engine.LOCAL else []
    words += ["--fail-on", display.fail_on] if display.fail_on is not FailOn.ERROR else []
    return shlex.join(words)
