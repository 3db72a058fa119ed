"""SIGTERM ends a command as Ctrl-C does, with a code of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitops.cli.exits import Exit, run_to_exit, run_until_sigterm
from gitops.interrupts import interruption
from gitops.model.errors import InterruptedApplyError
from tests.support.command_line import PROGRAM, CommandLine
from tests.support.interrupts import APPLYING, REPLAYING, ctrl_c_as_ever, interrupted

LOCAL = ("replay", "--engine", "local")
ENDS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]


@pytest.fixture
def _restored() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
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
@pytest.mark.usefixtures("_restored")
def test_what_ends_otherwise_keeps_its_code(code: Exit) -> None:
    """Somebody heard the signal and finished, or failed, all the same."""

    def command() -> int:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
        return code

    assert run_until_sigterm(command) == code


@pytest.mark.usefixtures("_restored")
def test_sigterm_is_held_back_as_ctrl_c_is_where_that_is_ignored() -> None:
    """As while a JVM starts, below a shell that ignores Ctrl-C in the background."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    done: list[str] = []

    def command() -> int:
        with interruption() as asked:
            signal.raise_signal(signal.SIGTERM)
            done.append("the rest")
            assert asked.asked
        raise InterruptedApplyError("interrupted")

    assert run_until_sigterm(lambda: run_to_exit(command, verbose=False)) == Exit.TERMINATED
    assert done == ["the rest"]


@pytest.mark.usefixtures("_restored")
def test_sigterm_that_is_ignored_stays_so() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    assert run_until_sigterm(lambda: Exit.INTERRUPTED) == Exit.INTERRUPTED
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
