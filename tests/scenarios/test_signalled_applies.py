"""Applies of a waived change that a signal or a closed terminal ends at a random moment.

`SIGNALLED_APPLIES=250` in the environment makes so many runs, `SIGNALLED_APPLIES_SEED` others than
the usual ones.
"""

from __future__ import annotations

import json
import os
import pty
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from gitops.journal.reader import read_journal
from gitops.model.names import TopicName
from gitops.model.state import Scope
from gitops.registries.embedded.registry import EmbeddedRegistry
from tests.support.command_line import PROGRAM, CommandLine
from tests.support.interrupts import TAKE_TERMINAL, ctrl_c_as_ever

pytestmark = pytest.mark.slow

_RUNS: Final = int(os.environ.get("SIGNALLED_APPLIES", "4"))
_SEED: Final = int(os.environ.get("SIGNALLED_APPLIES_SEED", "1"))
_TOPIC: Final = TopicName.parse("shop/payments/captured")
_ACTIONS: Final = 3
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_CLOSED: Final = "terminal closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class _End:
    """How a run ended; `came_early`: the signal came before the journal was begun."""

    code: int
    printed: str
    came_early: bool


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(capsys)


@pytest.fixture
def waived(tmp_path: Path, command: CommandLine) -> Path:
    """A repository with a plan that loosens a topic, registers a schema and sets it back."""
    repo = tmp_path / "repo"
    assert command("init", repo).code == 0
    assert command("apply", "--repo", repo, "--auto-approve").code == 0
    definition = repo / "namespaces/shop/payments/captured.avsc"
    new_field = '{"name": "currency", "type": "string"},\n    {"name": "amount"'
    definition.write_text(definition.read_text().replace('{"name": "amount"', new_field))
    command("plan", "--repo", repo, "--waivers", repo / "waivers")
    (waiver,) = (repo / "waivers").glob("*.yaml")
    text = waiver.read_text().replace('reason: ""', "reason: all are upgraded")
    waiver.write_text(text.replace('approvedBy: ""', 'approvedBy: "@acme/platform"'))
    planned = command("plan", "--repo", repo, "--out", repo / "plan.json")
    assert (planned.code, len(json.loads((repo / "plan.json").read_text())["actions"])) == (
        0,
        _ACTIONS,
    )
    return repo


@contextmanager
def _terminal() -> Iterator[tuple[int, int]]:
    """Both ends of a terminal; whoever closes the first one hangs up."""
    master, slave = pty.openpty()
    try:
        yield master, slave
    finally:
        for end in (master, slave):
            with suppress(OSError):
                os.close(end)


def _signalled(repo: Path, number: signal.Signals, seconds: float) -> _End:
    """An apply that gets a signal after so many seconds."""
    with (
        ctrl_c_as_ever(),
        subprocess.Popen(
            [PROGRAM, "apply", "plan.json"],
            cwd=repo,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process,
    ):
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        process.send_signal(number)
        came_early = not _journal(repo).exists() and process.poll() is None
        printed, _ = process.communicate(timeout=120)
    return _End(code=process.returncode, printed=printed, came_early=came_early)


def _hung_up(repo: Path, seconds: float) -> _End:
    """An apply whose terminal is closed after so many seconds: nothing can be printed any more."""
    with (
        ctrl_c_as_ever(),
        _terminal() as (master, slave),
        subprocess.Popen(
            [*TAKE_TERMINAL, PROGRAM, "apply", "plan.json"],
            cwd=repo,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        ) as process,
    ):
        os.close(slave)
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
        os.close(master)
        came_early = not _journal(repo).exists() and process.poll() is None
        code = process.wait(timeout=120)
    return _End(code=code, printed="", came_early=came_early)


def _journal(repo: Path) -> Path:
    return repo / "plan.json.journal"


def _strategy(repo: Path) -> str | None:
    """The topic's own strategy, that the plan loosens meanwhile."""
    registry = EmbeddedRegistry("local", repo / ".gitops/registry.db")
    try:
        state = registry.observe(Scope(topics=frozenset({_TOPIC})))
        strategy = state.topics[_TOPIC].policies.schema_compatibility_strategy
        return strategy and strategy.name
    finally:
        registry.close()


def _check(repo: Path, end: _End, code: int, command: CommandLine) -> str:
    """What holds whenever the signal comes; answers how the run ended."""
    assert end.code in (0, code, code - 128 and -(code - 128)), end
    assert _strategy(repo) is None, end
    runs = read_journal(_journal(repo)) if _journal(repo).exists() else []
    attempts = [attempt for run in runs for attempt in run.attempts]
    if end.code < 0:
        assert not runs, "the signal came before Python had loaded anything"
        return "before the command began"
    if end.came_early:
        assert end.code == code, end
        assert not attempts, end
    if f"applied {_ACTIONS} actions" in end.printed:
        assert end.code == 0, end
    assert "Exception ignored" not in end.printed
    assert "Traceback" not in end.printed
    if end.code == 0:
        return "done"
    again = command("apply", "--repo", repo, repo / "plan.json")
    assert again.code == 0, again
    assert _strategy(repo) is None
    return "interrupted after the first write" if attempts else "interrupted before any write"


@pytest.mark.timeout(max(600, 10 * _RUNS))
def test_no_moment_of_a_signal_leaves_a_topic_loosened_or_is_lost(
    waived: Path, tmp_path: Path, command: CommandLine, capsys: pytest.CaptureFixture[str]
) -> None:
    started = time.monotonic()
    whole = shutil.copytree(waived, tmp_path / "whole")
    assert _signalled(whole, signal.SIGINT, 120).code == 0
    longest = time.monotonic() - started
    ends: Counter[str] = Counter()
    for seed in range(_SEED, _SEED + _RUNS):
        chance = random.Random(seed)  # noqa: S311 - the same every time
        # Half of them in the part in which something is loaded, planned or written.
        seconds = longest * chance.choice((chance.random(), chance.uniform(0.6, 1.05)))
        repo = shutil.copytree(waived, tmp_path / str(seed))
        how = chance.choice((*_SIGNALS, _CLOSED))
        if isinstance(how, signal.Signals):
            end, code, name = _signalled(repo, how, seconds), 128 + how, how.name
        else:
            end, code, name = _hung_up(repo, seconds), 128 + signal.SIGHUP, how
        try:
            ends[f"{name}: {_check(repo, end, code, command)}"] += 1
        except BaseException as error:
            error.add_note(f"seed {seed}, {how} after {seconds:.3f} of {longest:.3f} s")
            raise
        shutil.rmtree(repo)
    if _RUNS > 20:
        with capsys.disabled():
            sys.stdout.write(f"\n{_RUNS} applies, seed {_SEED}: {dict(sorted(ends.items()))}\n")


HELD = """\
import time
from gitops import signals
signals.listen()
from gitops.cli import app
from gitops.registries.embedded.registry import EmbeddedRegistry

register_schema = EmbeddedRegistry.register_schema

def held(self, topic, info):
    version = register_schema(self, topic, info)
    open("held", "w").close()
    deadline = time.monotonic() + 30
    while not signals.was_requested() and time.monotonic() < deadline:
        pass
    return version

EmbeddedRegistry.register_schema = held
app.main()
"""


def test_a_closed_terminal_in_the_loosened_part_sets_the_topic_back(
    waived: Path,
) -> None:
    with (
        _terminal() as (master, slave),
        subprocess.Popen(
            [*TAKE_TERMINAL, sys.executable, "-c", HELD, "apply", "plan.json"],
            cwd=waived,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        ) as process,
    ):
        os.close(slave)
        deadline = time.monotonic() + 60
        while not (waived / "held").exists() and time.monotonic() < deadline:
            assert process.poll() is None
        meanwhile = _strategy(waived)
        os.close(master)
        code = process.wait(timeout=60)
    assert (code, meanwhile, _strategy(waived)) == (129, "ALWAYS_COMPATIBLE", None)
    (run,) = read_journal(_journal(waived))
    assert (run.outcome, [attempt.outcome.value for attempt in run.attempts]) == (
        "stopped",
        ["done", "done", "done"],
    )
