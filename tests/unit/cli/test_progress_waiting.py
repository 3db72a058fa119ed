"""What is told on stderr while an answer is waited for, and how such a wait ends."""

from __future__ import annotations

import io
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from gitops.cli import progress
from gitops.cli.progress import WaitingLine, waiting_line
from gitops.ports import WAITING, no_waiting
from gitops.repository.template import copy_template
from tests.support.command_line import PROGRAM, CommandLine
from tests.support.slow_server import DRIPS, Behaviour, silent, slow_server

Installer = Callable[[io.StringIO], io.StringIO]
ERASED: Final = "\r\x1b[K"
TOPIC: Final = "shop/orders/order-created"


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    # The test looks, and the thread does not.
    monkeypatch.setattr(progress, "_TICK", 600)
    return Clock()


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Installer:
    """Sets stderr; to be called in the test, since pytest sets its own after all fixtures."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")

    def put(stream: io.StringIO) -> io.StringIO:
        monkeypatch.setattr(sys, "stderr", stream)
        return stream

    return put


def test_two_seconds_pass_in_silence(install: Installer, clock: Clock) -> None:
    terminal = install(_Terminal())
    line = WaitingLine(clock)
    with line.waiting("GET http://b/x"):
        clock.seconds = 1.9
        line.refresh()
    line.close()
    assert terminal.getvalue() == ""


def test_a_terminal_has_one_line_that_goes_away(install: Installer, clock: Clock) -> None:
    terminal = install(_Terminal())
    line = WaitingLine(clock)
    with line.waiting("GET http://b/x"):
        for clock.seconds in (2.0, 3.0):
            line.refresh()
    told = terminal.getvalue()
    line.close()
    assert told == (
        f"{ERASED}waiting 2 s for GET http://b/x{ERASED}waiting 3 s for GET http://b/x{ERASED}"
    )
    assert terminal.getvalue() == told


def test_a_long_line_is_cut_with_a_sign(install: Installer, clock: Clock) -> None:
    terminal = install(_Terminal())
    line = WaitingLine(clock)
    with line.waiting("GET http://b/" + "x" * 200):
        clock.seconds = 2.0
        line.refresh()
        told = terminal.getvalue().removeprefix(ERASED)
    line.close()
    assert len(told) == 79
    assert told.endswith("x…")


def test_a_log_has_a_line_in_ten_seconds(install: Installer, clock: Clock) -> None:
    log = install(io.StringIO())
    line = WaitingLine(clock)
    for number in range(3):
        with line.waiting(f"GET http://b/{number}"):
            for _ in range(7):
                clock.seconds += 1
                line.refresh()
    line.close()
    assert log.getvalue().splitlines() == [
        "waiting 2 s for GET http://b/0",
        "waiting 5 s for GET http://b/1",
    ]


def test_of_several_the_longest_is_named(install: Installer, clock: Clock) -> None:
    log = install(io.StringIO())
    line = WaitingLine(clock)
    with line.waiting("first"):
        clock.seconds = 1.0
        with line.waiting("second"), line.waiting("third"):
            clock.seconds = 3.5
            line.refresh()
    line.close()
    assert log.getvalue() == "waiting 4 s for first (and 2 more)\n"


def test_what_a_server_names_cannot_forge_output(install: Installer, clock: Clock) -> None:
    log = install(io.StringIO())
    line = WaitingLine(clock)
    with line.waiting("GET http://b/\x1b[31m\n::error::x"):
        clock.seconds = 2.0
        line.refresh()
    line.close()
    assert log.getvalue().count("\n") == 1
    assert "\x1b" not in log.getvalue()


def test_it_stands_below_a_bar(install: Installer, clock: Clock) -> None:
    terminal = install(_Terminal())
    line = WaitingLine(clock)
    with progress.progress_bar(no_color=True), line.waiting("GET http://b/x"):
        clock.seconds = 2.0
        line.refresh()
    line.close()
    assert "waiting 2 s for GET http://b/x" in terminal.getvalue()
    assert not progress.show_below("later")


@pytest.mark.slow
def test_a_command_that_ends_while_its_watcher_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread's first request may be waited for just then."""
    starting, go = threading.Event(), threading.Event()

    class Slow(threading.Thread):
        def start(self) -> None:
            starting.set()
            assert go.wait(60)
            super().start()

    line, failed = WaitingLine(), list[BaseException]()

    def close() -> None:
        try:
            line.close()
        except BaseException as error:  # noqa: BLE001 - looked at below
            failed.append(error)

    first = threading.Thread(target=line.begin, args=("x",))
    ending = threading.Thread(target=close)
    with monkeypatch.context() as patched:
        patched.setattr(threading, "Thread", Slow)
        first.start()
        assert starting.wait(60)
        ending.start()
        ending.join(0.2)
        go.set()
        ending.join()
        first.join()
    assert not failed


def test_a_command_ends_with_no_thread_left() -> None:
    before = threading.active_count()
    with waiting_line(), WAITING.get()("x"):
        assert threading.active_count() == before + 1
    assert threading.active_count() == before
    assert WAITING.get() is no_waiting


# ---------------------------------------------------------------------------- commands


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    copy_template(root)
    return root


def point_to(url: str, root: Path, timeouts: str) -> None:
    """Have the repository's default registry be a cluster at that URL."""
    (root / "gitops.yaml").write_text(
        "apiVersion: pulsar-gitops/v1\nkind: Config\nregistries:\n"
        f"  slow: {{kind: pulsar, url: '{url}', timeouts: {timeouts}}}\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize("words", [("plan",), ("snapshot",), ("schemas", "versions", TOPIC)])
@pytest.mark.parametrize("behaviour", [silent, DRIPS["body"]], ids=["silent", "dripping"])
def test_a_slow_registry_is_named_and_given_up(
    words: tuple[str, ...],
    behaviour: Behaviour,
    repository: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.setattr(progress, "_TICK", 0.02)
    with slow_server(behaviour) as url:
        point_to(url, repository, "{read: 20, request: 0.6}")
        ended = CommandLine(capsys)(*words, "--repo", repository)
    assert ended.code == 4
    assert f"waiting 0 s for GET {url}/admin/v2/" in ended.err
    assert "0.6 s (`timeouts.request`)" in ended.err


@pytest.mark.slow
def test_ctrl_c_ends_a_command_that_waits(repository: Path) -> None:
    waited_for = threading.Event()

    def behave(connection: socket.socket, over: threading.Event) -> None:
        connection.recv(65536)
        waited_for.set()
        over.wait()

    with slow_server(behave) as url:
        point_to(url, repository, "{request: 3600, read: 3600}")
        with subprocess.Popen(
            [PROGRAM, "plan", "--repo", repository], stderr=subprocess.PIPE, text=True
        ) as process:
            assert waited_for.wait(60)
            process.send_signal(signal.SIGINT)
            _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert told.endswith("interrupted\n")


@pytest.mark.slow
def test_a_process_ends_at_the_deadline_though_threads_still_wait(repository: Path) -> None:
    with slow_server(silent) as url:
        point_to(url, repository, "{read: 3600, run: 0.3, request: 3600}")
        ended = subprocess.run(
            [PROGRAM, "plan", "--repo", repository],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
    assert ended.returncode == 4
    assert "0.3 s (`timeouts.run`)" in ended.stderr
