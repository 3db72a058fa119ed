"""The Spark engine: tasks of a fair size, in waves; what leaves the workers adds up."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final, Generic, TypeVar

import pyarrow

from gitops.interrupts import interrupt, interruptible, run_interruptible
from gitops.ports import Progress, no_progress
from gitops.replay.batch_reader import hash_bounds, read_parts
from gitops.replay.counts import ForwardMessage, PartResult, merge
from gitops.replay.engines.local import READING, REWRITING, rewrite_all, run_result
from gitops.replay.engines.spark_driver import end_at_once
from gitops.replay.engines.spark_errors import failure, reason
from gitops.replay.engines.spark_session import SparkConnection, find_session, open_session
from gitops.replay.engines.spark_tables import answer_frame, query_settings
from gitops.replay.engines.spark_tasks import (
    ANSWER,
    Work,
    pack_chosen,
    part_results,
    part_task,
    rewrite_task,
)
from gitops.replay.job import Job, RunRequest, RunResult
from gitops.replay.kernel.protocol import Kernels
from gitops.replay.kernel.schema_types import CHOSEN
from gitops.replay.sources.files import is_uri
from gitops.replay.sources.part_plan import PartPlan, SampleData, plan_parts, unread_samples
from gitops.replay.sources.source import Part, UnreadableError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


TASK_BYTES: Final = 32 * 1024 * 1024
TASKS_PER_CORE: Final = 4
_FIRST_PER_CORE: Final = 2
"""With one, a replay of two million messages took an eighth longer; two are not to be noticed."""


def pack_tasks(parts: Iterable[Part], cores: int) -> list[list[Part]]:
    """The parts in their order, cut into tasks."""
    parts = list(parts)
    sizes = [max(part.bytes, 1) for part in parts]
    most = min(TASK_BYTES, -(-sum(sizes) // (cores * TASKS_PER_CORE)))
    tasks: dict[int, list[Part]] = {}
    done = 0
    for part, size in zip(parts, sizes, strict=True):
        tasks.setdefault((done + size // 2) // most, []).append(part)
        done += size
    return list(tasks.values())


def first_wave(tasks: Collection[Collection[Part]], cores: int) -> int:
    """How many tasks to begin with: fewer, the larger they are, so that something is known soon."""
    most = cores * _FIRST_PER_CORE
    size = sum(part.bytes for parts in tasks for part in parts)
    return max(cores, min(most, most * TASK_BYTES * len(tasks) // max(size, 1)))


# Runs tasks on Spark some at a time, so that what was done is known while the rest is running.
#
# Two waves overlap, that no core waits for the last task of one; each is as large as what Spark
# does in some seconds, once it is known how fast it is.


Task = TypeVar("Task")

_SIDE_BY_SIDE: Final = 2
_SECONDS: Final = 3.0
"""Of a wave: a job of Spark costs some 30 ms, and what it has not answered is lost to Ctrl-C."""

_MOST: Final = 512
_LOOK: Final = 0.2
"""Seconds between two looks at whether somebody pressed Ctrl-C."""


@dataclass(slots=True)
class Waves(Generic[Task]):
    """`run` blocks until Spark has answered for some tasks; `interrupt` makes it end at once.

    `first` is how many tasks there are in the first wave.
    """

    run: Callable[[Sequence[Task]], list[PartResult]]
    interrupt: Callable[[], None]
    stopped: Callable[[], bool]
    cores: int
    first: int
    _size: int = field(init=False, default=0)

    def answers(self, tasks: Sequence[Task]) -> Iterator[PartResult]:
        """What came back, as it comes; ends early, and without a word, when it is stopped."""
        waiting = list(tasks)
        running: set[Future[tuple[list[PartResult], float, int]]] = set()
        self._size = self.first
        with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
            try:
                while (waiting or running) and not self.stopped():
                    while waiting and len(running) < _SIDE_BY_SIDE:
                        wave, waiting = waiting[: self._size], waiting[self._size :]
                        running.add(pool.submit(self._timed, wave))
                    done, running = wait(running, _LOOK, FIRST_COMPLETED)
                    for future in done:
                        yield from self._noted(future)
            finally:
                while running:  # a wave may be on its way and not yet to be interrupted
                    self.interrupt()
                    _, running = wait(running, _LOOK)

    def _timed(self, wave: Sequence[Task]) -> tuple[list[PartResult], float, int]:
        started = time.monotonic()
        return self.run(wave), time.monotonic() - started, len(wave)

    def _noted(self, done: Future[tuple[list[PartResult], float, int]]) -> list[PartResult]:
        items, seconds, tasks = done.result()
        fit = int(tasks * _SECONDS / max(seconds, 0.01))
        self._size = max(self.cores, min(fit, 2 * self._size, _MOST))
        return items


# On Spark: workers read the files, or Spark's rows come to them; what leaves them adds up.


_FEW: Final = 2_000
"""Messages that are rewritten by the driver: Spark would take longer to ask for it."""

_PIECE: Final = 1_000
"""Messages that one task rewrites."""

_TURNS: Final = 10
"""Tenths of a second that a frame may take to end."""

_FAILED: Final = "Spark failed"


class SparkRunner:
    """`master` as spark-submit knows it, or `sc://…`; None: the one around us, else this machine.

    The files of the repository are read by the driver where the workers do not see them.
    """

    engine = "spark"

    def __init__(self, master: str | None = None, kernels: Kernels = CHOSEN) -> None:
        self._master = master
        self._kernels = kernels

    def run(self, request: RunRequest, progress: Progress = no_progress) -> RunResult:
        """As Runner says; nothing is started where there is nothing to read."""
        job = Job.of(request, self._kernels)
        plan = plan_parts(request)
        result = PartResult()
        if not (plan.parts or plan.left):
            return run_result(request, result, plan, complete=True)
        progress("starting Spark", 0, 0)
        again = interrupt if find_session() else end_at_once
        with interruptible(again=again) as stopped:
            try:
                with open_session(self._master, stopped) as connection:
                    run = _Run(job, connection, progress, stopped, result)
                    run.read(request, plan)
                    run.rewrite()
            except KeyboardInterrupt:
                return run_result(request, result, plan, complete=False)
            except Exception:
                if not stopped():  # else it is no news that Spark is gone
                    raise
            return run_result(request, result, plan, complete=not stopped())


@dataclass(slots=True)
class _Run:
    job: Job
    connection: SparkConnection
    progress: Progress
    stopped: Callable[[], bool]
    result: PartResult
    total: int = 0

    def read(self, request: RunRequest, plan: PartPlan) -> None:
        """Everything that was planned."""
        known = all(part.rows for part in plan.parts) and not plan.left
        self.total = sum(part.rows for part in plan.parts) if known else 0
        here = [part for part in plan.parts if not self._is_seen(part)]
        if here:
            self._merge(read_parts(self.job, here, lambda _rows: not self.stopped()))
        there = [part for part in plan.parts if self._is_seen(part)]
        tasks = pack_tasks(there, self.connection.cores)
        first = first_wave(tasks, self.connection.cores)
        for answer in self._waves(self._read_tasks, first).answers(tasks):
            self._merge(answer)
        for data in plan.left:
            if self.stopped():
                return
            for error in self._read_frame(data):
                plan.unread.extend(unread_samples(request, data, error))

    def _read_frame(self, data: SampleData) -> Iterator[UnreadableError]:
        """Read what only Spark can open; answers why it cannot, if it cannot either."""
        before, self.result.later = self.result.rows, 0
        yield from self._read_rows(data, large=False)
        small, later = self.result.rows - before, self.result.later
        if later and not self.stopped():
            yield from self._read_rows(data, large=True)
            if self.result.rows - before != small + later and not self.stopped():
                text = f"{data.sample.shown_path} changed while it was read"
                yield UnreadableError(text, "run it again")

    def _read_rows(self, data: SampleData, *, large: bool) -> Iterator[UnreadableError]:
        with query_settings(self.connection.session, data, large=large) as accepted:
            try:
                frame = self._frame(data, large=large, uncut=accepted)
            except UnreadableError as error:
                yield error
            except Exception as error:
                if self.stopped():
                    raise
                without = f"; without Spark: {data.why}" if data.why else ""
                yield UnreadableError(f"{reason(error)}{without}")
            else:
                for answer in self._waves(self._ask).answers([frame]):
                    self._merge(answer)

    def _frame(self, data: SampleData, **how: bool) -> DataFrame:
        """Where nobody answers at its address, Spark may try for minutes."""

        def make() -> DataFrame:
            with self.connection.tag.on_this_thread():
                return answer_frame(self.connection, self.job, data, **how)

        return run_interruptible(make, self.stopped, self._end_frame)

    def _end_frame(self, turn: int) -> bool:
        """A job that it has may come a moment later; nothing ends what Spark's driver does."""
        self.connection.interrupt()
        return turn < _TURNS

    def rewrite(self) -> None:
        """The forward direction, spread over the workers where it is much."""
        chosen = self.result.chosen
        total = sum(map(len, chosen.values()))
        if total <= _FEW:
            rewrite_all(self.job, self.result, self.progress, self.stopped)
            return
        pieces = [
            (topic, version, messages[start : start + _PIECE])
            for (topic, version), messages in sorted(chosen.items())
            for start in range(0, len(messages), _PIECE)
        ]
        done = 0
        for answer in self._waves(self._rewrite_pieces).answers(pieces):
            done += _PIECE
            self.progress(REWRITING, min(done, total), total)
            merge(self.result, answer, self.job.limits)

    def _is_seen(self, part: Part) -> bool:
        return self.connection.shares_files or is_uri(part.file.name)

    def _waves(
        self, run: Callable[[Sequence[Task]], list[PartResult]], first: int = 0
    ) -> Waves[Task]:
        cores = self.connection.cores
        interrupt = self.connection.interrupt
        first = first or cores * TASKS_PER_CORE
        return Waves(partial(self._run, run), interrupt, self.stopped, cores, first)

    def _run(
        self, run: Callable[[Sequence[Task]], list[PartResult]], tasks: Sequence[Task]
    ) -> list[PartResult]:
        """A wave, in a thread of its own."""
        try:
            with self.connection.tag.on_this_thread():
                return run(tasks)
        except Exception as error:
            if self.stopped():
                return []
            raise failure(error, _FAILED) from error

    def _merge(self, answer: PartResult) -> None:
        merge(self.result, answer, self.job.limits)
        self.progress(READING, self.result.rows, self.total)

    def _read_tasks(self, tasks: Sequence[Sequence[Part]]) -> list[PartResult]:
        below = hash_bounds(self.result.chosen, self.job.limits)
        numbers = self.connection.session.range(0, len(tasks), 1, len(tasks))
        return self._answers(numbers, part_task(self.job, tasks, below))

    def _ask(self, frames: Sequence[DataFrame]) -> list[PartResult]:
        return [answer for frame in frames for answer in _collect(frame)]

    def _rewrite_pieces(
        self, pieces: Sequence[tuple[str, int, list[ForwardMessage]]]
    ) -> list[PartResult]:
        table = pyarrow.table(
            {
                "number": pyarrow.array(range(len(pieces)), pyarrow.int64()),
                "topic": pyarrow.array([topic for topic, _, _ in pieces]),
                "version": pyarrow.array([version for _, version, _ in pieces], pyarrow.int64()),
                "chosen": pyarrow.array([pack_chosen(messages) for _, _, messages in pieces]),
            }
        )
        frame = self.connection.session.createDataFrame(table).repartition(len(pieces), "number")
        return self._answers(frame, rewrite_task(self.job))

    def _answers(self, frame: DataFrame, work: Work) -> list[PartResult]:
        answered = frame.mapInArrow(self.connection.portable(work), ANSWER)
        return _collect(answered)


def _collect(answered: DataFrame) -> list[PartResult]:
    return list(part_results(answered.toArrow().to_batches()))
