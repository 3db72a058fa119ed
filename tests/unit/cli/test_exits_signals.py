"""SIGTERM and SIGHUP end a command as Ctrl-C does, with codes of their own."""

from __future__ import annotations

import atexit
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitops import signals
from gitops.cli.exits import Exit, run_to_end
from gitops.interrupts import interruption
from gitops.model.errors import InterruptedApplyError
from tests.support.command_line import PROGRAM, CommandLine
from tests.support.interrupts import APPLYING, REPLAYING, ctrl_c_as_ever, interrupted

LOCAL = ("replay", "--engine", "local")
ENDS = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]


@pytest.fixture
def _restored() -> Iterator[None]:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(signals, "_state", signals._State())  # noqa: SLF001
        patch.setattr(atexit, "register", lambda _function: None)
        patch.setattr(sys, "unraisablehook", sys.unraisablehook)
        yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), ENDS)
def test_a_replay_reports_what_was_done(number: signal.Signals, code: int, applied: Path) -> None:
    ended = interrupted(REPLAYING, [*LOCAL, "--format", "json"], number, cwd=applied)
    assert (ended.returncode, ended.stderr) == (code, "")
    report = json.loads(ended.stdout)
    assert report["complete"] is False
    assert 0 < report["rows"] < 800
    assert [each["rule"] for each in report["findings"]] == ["REPLAY-R008"]


@pytest.mark.slow
def test_a_replay_in_the_background_hears_sigterm(applied: Path) -> None:
    ended = interrupted(REPLAYING, LOCAL, signal.SIGTERM, cwd=applied, how="in the background")
    assert (ended.returncode, ended.stderr) == (143, "")
    assert "the replay was interrupted" in ended.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), ENDS)
def test_an_apply_stops_and_is_taken_up_again(
    number: signal.Signals, code: int, repo: Path, tmp_path: Path, command: CommandLine
) -> None:
    plan = tmp_path / "plan.json"
    assert command("plan", "--repo", repo, "--out", plan).code == 0
    ended = interrupted(APPLYING, ["apply", plan, "--format", "json"], number, cwd=repo)
    results = json.loads(ended.stdout)["results"]
    done = [each for each in results if each["outcome"] == "done"]
    assert done[-1]["action"]["topic"] == "shop/orders/order-created"
    assert [each["outcome"] for each in results[len(done) :]] == ["notAttempted"] * 2
    assert ended.returncode == code
    assert ended.stderr.splitlines() == [
        "stopping after what is under way; Ctrl-C again does not wait for it",
        f"error: {len(done)} of {len(results)} actions are done, then: interrupted",
        "  run the same command again: it goes on where it stopped",
    ]

    again = command("apply", "--repo", repo, plan)
    assert again.code == 0
    assert f"{len(results) - len(done)} of {len(results)} actions left" in again.out
    assert "5 unchanged" in command("plan", "--repo", repo).out


@pytest.mark.slow
@pytest.mark.parametrize("ignored", [[], ["sh", "-c", "trap '' INT; exec \"$@\"", "sh"]])
def test_a_command_that_waits_for_input_ends(ignored: list[str]) -> None:
    with subprocess.Popen(
        [*ignored, PROGRAM, "compat", "--jsonl"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"candidate": {"type": "INT64"}}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["accepted"] is True
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (143, b"interrupted\n")


LOADING = """\
import sys

class Pressed:
    def find_spec(self, name, *_):
        if name == "gitops.cli.app":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Pressed())
from gitops.cli.start import main
main()
"""

ENDING = """\
import atexit, os, signal
from gitops.cli import app

def run(args):
    raise KeyboardInterrupt

app.run = run
atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))
app.main()
"""


GOOD = ENDING.replace("raise KeyboardInterrupt", "return 0")


@pytest.mark.slow
@pytest.mark.parametrize(("program", "code"), [(LOADING, 130), (ENDING, 130), (GOOD, 0)])
def test_ctrl_c_before_and_after_a_command_shows_no_traceback(program: str, code: int) -> None:
    with ctrl_c_as_ever():
        ended = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=False
        )
    assert (ended.returncode, ended.stderr) == (code, "interrupted\n" if code else "")


@pytest.mark.parametrize("code", [Exit.GOOD, Exit.FINDINGS, Exit.PARTIAL])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.usefixtures("_restored")
def test_what_ends_otherwise_keeps_its_code(code: Exit, number: signal.Signals) -> None:
    """Somebody heard the signal and finished, or failed, all the same."""

    def command() -> int:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
        return code

    signals.listen()
    assert run_to_end(command, verbose=False) == code


@pytest.mark.parametrize(("number", "code"), ENDS[1:])
@pytest.mark.usefixtures("_restored")
def test_others_are_held_back_as_ctrl_c_is_where_that_is_ignored(
    number: signal.Signals, code: int
) -> None:
    """As while a JVM starts, below a shell that ignores Ctrl-C in the background."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    done: list[str] = []

    def command() -> int:
        with interruption() as asked:
            signal.raise_signal(number)
            done.append("the rest")
            assert asked.asked
        raise InterruptedApplyError("interrupted")

    signals.listen()
    assert run_to_end(command, verbose=False) == code
    assert done == ["the rest"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.usefixtures("_restored")
def test_a_signal_that_is_ignored_stays_so(number: signal.Signals) -> None:
    signal.signal(number, signal.SIG_IGN)
    signals.listen()
    assert signal.getsignal(number) is signal.SIG_IGN


@pytest.mark.usefixtures("_restored")
def test_a_second_sighup_is_the_same_hangup() -> None:
    """The kernel sends it to the job of a terminal that closes, and so does the shell."""
    signals.listen()

    def answer() -> int:
        signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGHUP)
        return 7

    with interruption() as asked:
        assert asked.wait(answer) == 7
        assert asked.asked


@pytest.mark.usefixtures("_restored")
def test_an_interruption_that_python_ignores_is_known_all_the_same(
    capsys: pytest.CaptureFixture[str],
) -> None:
    signals.listen()
    _lose_a_signal()
    assert signals.was_requested()
    with interruption() as asked:
        assert asked.asked
    with pytest.raises(KeyboardInterrupt):
        signals.raise_if_requested()
    assert capsys.readouterr().err == ""


def _lose_a_signal() -> None:
    """Python ignores what a finalizer raises."""

    class Finalized:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    Finalized()


LOSING = """\
import signal, sys
from gitops import signals
signals.listen()
from gitops.cli import app
from gitops.repository import loader

class Finalized:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

load = loader.load

def lose(*args, **more):
    if place == "before":
        Finalized()
    return load(*args, **more)

from gitops.registries.embedded.registry import EmbeddedRegistry
register_schema = EmbeddedRegistry.register_schema

def register(self, topic, info):
    version = register_schema(self, topic, info)
    if place == "between":
        Finalized()
    return version

place = sys.argv.pop(1)
loader.load = lose
EmbeddedRegistry.register_schema = register
app.main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("place", ["before", "between"])
def test_a_lost_ctrl_c_stops_an_apply_before_its_next_write(place: str, repo: Path) -> None:
    with ctrl_c_as_ever():
        ended = subprocess.run(
            [sys.executable, "-c", LOSING, place, "apply", "--auto-approve", "--format", "json"],
            cwd=repo,
            capture_output=True,
            text=True,
            check=False,
        )
    assert ended.returncode == 130, ended.stderr
    assert "Exception ignored" not in ended.stderr
    if place == "before":
        assert (ended.stdout, ended.stderr) == ("", "interrupted\n")
        assert not (repo / ".gitops").exists()
        return
    outcomes = [result["outcome"] for result in json.loads(ended.stdout)["results"]]
    registered = [each for each in outcomes if each == "done"]
    assert outcomes[len(registered) :].count("notAttempted") == len(outcomes) - len(registered) > 0
    assert "interrupted" in ended.stderr


@pytest.mark.slow
def test_a_signal_after_an_apply_changes_no_exit_code(repo: Path) -> None:
    """It comes when the last action is done, and while the registry is closed."""
    program = APPLYING.replace("EmbeddedRegistry.register_schema = held", LATE)
    with ctrl_c_as_ever():
        ended = subprocess.run(
            [sys.executable, "-c", program, "apply", "--auto-approve"],
            cwd=repo,
            capture_output=True,
            text=True,
            check=False,
        )
    assert (ended.returncode, "interrupted" in ended.stderr) == (0, False), ended.stderr
    assert "applied 13 actions to local" in ended.stdout


LATE = """
import os, signal
close = EmbeddedRegistry.close

def late(self):
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        os.kill(os.getpid(), number)
    close(self)

EmbeddedRegistry.close = late
"""
