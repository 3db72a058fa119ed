"""Spark for tests: programs that run on it, and a Spark Connect server on a free loopback port."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from gitops.replay.engines.spark_driver import find_java, write_wrapper

START_SECONDS: Final = 120
RUN_SECONDS: Final = 400
ROOT: Final = Path(__file__).parents[2]
_UNRESOLVED: Final = re.compile(r"unresolved dependency: [^\s,;]+;[^\s,;]+: not found")
"""What Ivy says of the first of them."""


def run_replays(
    master: str, folder: Path, *wanted: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The replays of tests/spark/replays.py on a master."""
    return subprocess.run(
        [sys.executable, "-m", "tests.spark.replays", master, str(folder), *wanted],
        cwd=ROOT,
        env=None if environment is None else {**environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=RUN_SECONDS,
    )


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    """The address of a server of ours, which is ended when the tests are done."""
    import pyspark

    home = folder / "java"
    write_wrapper(find_java(os.environ), home)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with (folder / "server.log").open("w") as log:
        server = subprocess.Popen(
            [
                Path(pyspark.__file__).parent / "bin" / "spark-submit",
                *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer"),
                *("--master", "local[2]", "--conf", "spark.ui.enabled=false"),
                *("--conf", f"spark.connect.grpc.binding.port={port}"),
                *("--conf", "spark.connect.grpc.binding.address=127.0.0.1"),
                "spark-internal",
            ],
            cwd=folder,
            env={**os.environ, "JAVA_HOME": str(home), "PYSPARK_PYTHON": sys.executable},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            _wait_for(port, server, folder / "server.log")
            yield f"sc://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(START_SECONDS)


def require_packages(printed: str) -> None:
    """Skip where Spark could not get the packages of `--packages`, as its own words say."""
    found = _UNRESOLVED.search(printed)
    if found:
        pytest.skip(f"no packages for Spark: {found[0]}")


def _wait_for(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    ends = time.monotonic() + START_SECONDS
    while time.monotonic() < ends and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(f"no Spark Connect server: {log.read_text()[-2000:]}")
