"""The command `replay` on Spark, as it is installed, and the demo, which ends with it."""

from __future__ import annotations

import json
import os
import select
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final, Literal

import pytest

from gitops.model.errors import OutsideError
from gitops.replay.engines.spark_driver import find_java
from gitops.repository.template import copy_template
from tests.support.interrupts import REPLAYING, ctrl_c_as_ever, interrupted
from tests.support.written_captures import write_template_capture

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


def test_a_capture_is_replayed_as_in_this_process(tmp_path: Path) -> None:
    copy_template(tmp_path / "repo")
    write_template_capture(tmp_path / "captures")
    options = ("--capture", tmp_path / "captures", "--format", "json")
    spark, local = (
        subprocess.run(
            [COMMANDS / "pulsar-gitops", "replay", *options, "--engine", engine],
            cwd=tmp_path / "repo",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=400,
        )
        for engine in ("spark", "local")
    )
    assert spark.stdout == local.stdout
    assert b'"rows": 200' in local.stdout


JAVA: Final = """\
#!/bin/bash
if [[ "$*" == *deploy.SparkSubmit* && "$*" != *launcher.Main* ]]; then
    echo $$ > {pid}
    kill -{number} $PPID
fi
exec {java} "$@"
"""
"""A Java for which somebody presses Ctrl-C, or the like, while the JVM of Spark's driver starts."""


NOTED: Final = """\
#!/bin/bash
[[ "$*" != *launcher.Main* ]] && echo $$ > {pid}
exec {java} "$@"
"""
"""A Java whose process can be found."""


def _java_home(tmp_path: Path, program: str, **words: str) -> Path:
    """Make `tmp_path/home` a JAVA_HOME with that program; where it notes its process."""
    java = tmp_path / "home" / "bin" / "java"
    java.parent.mkdir(parents=True)
    real, pid = find_java(os.environ), tmp_path / "pid"
    places = {"pid": shlex.quote(str(pid)), "java": shlex.quote(str(real))}
    java.write_text(program.format(**places, **words))
    java.chmod(0o755)
    return pid


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux tells when a process ends")
@pytest.mark.parametrize(("number", "code"), [("INT", 130), ("TERM", 143)])
def test_ctrl_c_while_java_starts_leaves_no_java_behind(
    number: str, code: int, tmp_path: Path
) -> None:
    copy_template(tmp_path / "repo")
    pid = _java_home(tmp_path, JAVA, number=number)
    with ctrl_c_as_ever():
        ended = subprocess.run(
            [COMMANDS / "pulsar-gitops", "replay"],
            cwd=tmp_path / "repo",
            env={**os.environ, "JAVA_HOME": str(tmp_path / "home")},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
    assert ended.returncode == code
    assert "the replay was interrupted" in ended.stdout
    assert not ended.stderr
    assert has_ended(int(pid.read_text()))


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux tells when a process ends")
@pytest.mark.parametrize("how", ["alone", "whole group"])
def test_sigterm_ends_spark_and_reports_what_was_done(
    how: Literal["alone", "whole group"], tmp_path: Path
) -> None:
    copy_template(tmp_path / "repo")
    pid = _java_home(tmp_path, NOTED)
    args = ["--master", "local[1]", "--format", "json"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_HOME", str(tmp_path / "home"))
        ended = interrupted(
            REPLAYING, ["replay", *args], signal.SIGTERM, cwd=tmp_path / "repo", how=how
        )
    assert (ended.returncode, ended.stderr) == (143, "")
    report = json.loads(ended.stdout)
    assert report["complete"] is False
    assert report["rows"] > 0
    assert has_ended(int(pid.read_text()))


PRESSING: Final = """\
import os, signal
from contextlib import contextmanager
from gitops.cli import app
from gitops.cli.commands import replay

def press(what, done, total):
    if what == "reading messages" and done:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

@contextmanager
def bar(**how):
    yield press

replay.progress_bar = bar
app.main()
"""
"""The command line, in which somebody presses Ctrl-C twice once messages were read."""


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux tells when a process ends")
def test_a_second_ctrl_c_ends_spark_at_once_and_what_was_done_is_told(tmp_path: Path) -> None:
    copy_template(tmp_path / "repo")
    pid = _java_home(tmp_path, NOTED)
    with ctrl_c_as_ever():
        ended = subprocess.run(
            [sys.executable, "-c", PRESSING, "replay", "--master", "local[1]", "--format", "json"],
            cwd=tmp_path / "repo",
            env={**os.environ, "JAVA_HOME": str(tmp_path / "home")},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
    assert (ended.returncode, ended.stderr) == (130, "")
    report = json.loads(ended.stdout)
    assert report["complete"] is False
    assert report["rows"] > 0
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
