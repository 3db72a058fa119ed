"""The command `replay` on Spark, as it is installed, and the demo, which ends with it."""

from __future__ import annotations

import os
import select
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from gitops.model.errors import OutsideError
from gitops.replay.runners.java import find_java
from gitops.repository.template import copy_template

ROOT = Path(__file__).parents[2]
COMMANDS = Path(sys.executable).parent

pytest.importorskip("pyspark")
pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark commands")]


@pytest.fixture(autouse=True)
def _java() -> None:
    try:
        find_java(os.environ)
    except OutsideError as error:
        pytest.skip(f"no Spark: {error}")


def test_the_template_is_replayed_as_in_this_process(tmp_path: Path) -> None:
    copy_template(tmp_path / "repo")
    spark, local = (
        subprocess.run(
            [COMMANDS / "pulsar-gitops", "replay", "--format", "json", "--engine", engine],
            cwd=tmp_path / "repo",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=400,
        )
        for engine in ("spark", "local")
    )
    assert spark.stdout == local.stdout
    assert b'"rows": 800' in local.stdout


JAVA = """\
#!/bin/bash
if [[ "$*" == *deploy.SparkSubmit* ]]; then
    echo $$ > {pid}
    kill -INT $PPID
fi
exec {java} "$@"
"""
"""A Java for which somebody presses Ctrl-C while the JVM of Spark's driver starts."""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux tells when a process ends")
def test_ctrl_c_while_java_starts_leaves_no_java_behind(tmp_path: Path) -> None:
    copy_template(tmp_path / "repo")
    java = tmp_path / "home" / "bin" / "java"
    java.parent.mkdir(parents=True)
    real, pid = find_java(os.environ), tmp_path / "pid"
    java.write_text(JAVA.format(pid=shlex.quote(str(pid)), java=shlex.quote(str(real))))
    java.chmod(0o755)
    running = subprocess.Popen(
        [COMMANDS / "pulsar-gitops", "replay"],
        cwd=tmp_path / "repo",
        env={**os.environ, "JAVA_HOME": str(tmp_path / "home")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    out, err = running.communicate(timeout=120)
    assert running.returncode == 130
    assert "the replay was interrupted" in out
    assert not err
    assert has_ended(int(pid.read_text()))


def has_ended(pid: int) -> bool:
    """Whether a process is gone, or goes within a minute."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], 60)[0])
    finally:
        os.close(watched)


def test_the_demo_ends_with_a_replay_on_spark() -> None:
    done = subprocess.run(
        [ROOT / "scripts" / "demo"],
        env={**os.environ, "BIN": str(COMMANDS), "COLUMNS": "100"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "engine spark" in done.stdout
    assert "10 of 200 messages cannot be read" in done.stdout
