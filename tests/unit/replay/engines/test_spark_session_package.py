"""What is sent to workers runs in a Python that has everything but this project."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import zlib
from pathlib import Path
from typing import Final

import pytest

import gitops
from gitops.replay.counts import Limits, PartResult, decode
from gitops.replay.engines import carried_modules, spark_session
from gitops.replay.engines.spark_session import carry_code
from gitops.replay.engines.spark_tasks import Work, merge_task

pytest.importorskip("pyspark")
from pyspark import cloudpickle

WORKER: Final = """\
import pickle, sys
from pathlib import Path
sys.path[:] = [each for each in sys.path if "lib" in each] + [sys.argv[1]]
works = [Path(file).read_bytes() for file in sys.argv[2:]]
answers = [next(pickle.loads(work)(iter(()))).column(0)[0].as_py().hex() for work in works]
import gitops
print(*answers, gitops.__version__, gitops.__file__)
"""
"""As Spark's: without what .pth files add to the path, which leads to this project."""


def in_worker(folder: Path, *works: object) -> list[str]:
    """What a worker prints that is given some functions in turn."""
    files = [folder / str(number) for number, _ in enumerate(works)]
    for file, work in zip(files, works, strict=True):
        file.write_bytes(cloudpickle.dumps(work))  # type: ignore[no-untyped-call]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", WORKER, sysconfig.get_path("purelib"), *files],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def newer(work: Work) -> Work:
    """The same with another version of the project."""
    digest, packed = spark_session.packed_modules()
    modules = json.loads(zlib.decompress(packed))
    modules["gitops/__init__.py"] = '__version__ = "newer"'
    again = zlib.compress(json.dumps(modules).encode())
    return carried_modules.carrier(f"not {digest}", again, cloudpickle.dumps(work))  # type: ignore[no-untyped-call]


@pytest.mark.slow
def test_a_function_brings_the_project_along(tmp_path: Path) -> None:
    work = merge_task(Limits(examples=1, forward_rows={}))
    answer, version, file = in_worker(tmp_path, carry_code(work))
    assert decode(bytes.fromhex(answer)) == PartResult()
    assert (version, file) == (gitops.__version__, "gitops/__init__.py")


@pytest.mark.slow
def test_a_worker_that_lives_on_gets_the_code_of_the_next_function(tmp_path: Path) -> None:
    work = merge_task(Limits(examples=1, forward_rows={}))
    answer, same, version, _ = in_worker(tmp_path, carry_code(work), newer(work))
    assert answer == same
    assert version == "newer"
