"""A session in which others work too: what a replay leaves of it, and of their jobs."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow
from pyspark.sql import SparkSession

from gitops.model.errors import OutsideError
from gitops.model.replay import LogicalTypes
from gitops.model.schema import SchemaInfo
from gitops.replay.engines.spark import SparkRunner
from gitops.replay.engines.spark_session import JobTag, SparkConnection, is_connect, make_tag
from gitops.replay.job import Runner, RunRequest, RunResult
from gitops.replay.kernel.protocol import Kernel
from gitops.replay.kernel.schema_types import CHOSEN
from tests.spark.samples import sample, topic, write_copies


def interrupted(runner: Runner, root: Path) -> RunResult:
    """A replay of large files that somebody ends once the first answer is there."""
    pressed: list[int] = []

    def press(what: str, done: int, _total: int) -> None:
        if what == "reading messages" and done and not pressed:
            pressed.append(done)
            os.kill(os.getpid(), signal.SIGINT)

    write_copies(root)
    copies = topic(sample(f"file://{root}/copies/*.parquet"))
    return runner.run(RunRequest(replays=(copies,), root=root), press)


@dataclass(frozen=True)
class Shared:
    """What became of a session, and of a job of somebody else in it, while replays used it."""

    job_runs: bool
    state_before: str
    state_after: str
    interrupted: bool
    failed: str
    alive: bool


def shared(runner: SparkRunner, opened: SparkConnection, root: Path) -> Shared:
    """A replay that is interrupted and one that fails, beside a job that does not end."""
    before = _state(opened.session)
    with ThreadPoolExecutor(1) as another, _endless_job(opened, root) as job:
        whole = interrupted(runner, root).complete
        failed = another.submit(_failing, root).result()
        runs = not job.done()
    return Shared(
        job_runs=runs,
        state_before=before,
        state_after=_state(opened.session),
        interrupted=not whole,
        failed=failed,
        alive=opened.session.range(3).count() == 3,
    )


def _state(session: SparkSession) -> str:
    """What somebody may notice of a session that others used."""
    context = None if is_connect(session) else session.sparkContext
    tags = context.getJobTags() if context else session.getTags()
    files = context.listFiles if context else []
    views = sorted(table.name for table in session.catalog.listTables())
    return repr((sorted(session.conf.getAll.items()), sorted(tags), sorted(files), views))


@contextmanager
def _endless_job(opened: SparkConnection, folder: Path) -> Iterator[Future[object]]:
    """A job of one task that runs once this is entered, and is cancelled when it is left.

    It does not wait in Python: where Spark Connect interrupts a task that is starting its Python,
    all of the session's Pythons end (Spark 4.3).
    """
    started = str(folder / "started")
    os.mkfifo(started)

    def tell(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        with open(started, "wb") as pipe:  # noqa: PTH123 - as it is pickled, without an import
            pipe.write(b"x")
        yield from batches

    def run(tag: JobTag) -> object:
        with tag.on_this_thread():
            if not is_connect(opened.session):
                opened.session.sparkContext.setInterruptOnCancel(True)
            rows = opened.session.range(0, 1, 1, 1).mapInArrow(tell, "id long")
            return rows.selectExpr("reflect('java.lang.Thread', 'sleep', 3600000L)").toArrow()

    tag = make_tag(opened.session, connect=is_connect(opened.session))
    pipe = os.open(started, os.O_RDWR)  # so that neither end waits for the other
    try:
        with ThreadPoolExecutor(1) as thread:
            job = thread.submit(run, tag)
            job.add_done_callback(lambda _job: os.write(pipe, b"x"))  # also where it cannot start
            os.read(pipe, 1)
            try:
                yield job
            finally:
                tag.cancel()
    finally:
        os.close(pipe)


def _failing(root: Path) -> str:
    """What came of a replay all of whose waves fail."""

    def broken(_writer: SchemaInfo, _reader: SchemaInfo, _how: LogicalTypes) -> Kernel:
        raise RuntimeError("broken")

    runner = SparkRunner("", replace(CHOSEN, kernel=broken))
    copies = topic(sample(f"file://{root}/copies/*.parquet"))
    try:
        runner.run(RunRequest(replays=(copies,), root=root))
    except OutsideError as error:
        return error.what
    return ""
