"""What Spark's workers run: functions of Arrow batches, which carry encoded answers only.

A batch goes in and one row comes out for each task: data never leaves a worker, counts do.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

import pyarrow
import pyarrow.compute

from gitops.replay.gathering import Gathering
from gitops.replay.job import Job, Owner
from gitops.replay.merging import Limits, decode, encode, merge
from gitops.replay.reading import joined, read
from gitops.replay.rewriting import rewrite
from gitops.replay.runners.counting import RowsInOrder
from gitops.replay.sources.columns import to_batch
from gitops.replay.sources.part import File, Part, UnreadableError
from gitops.replay.sources.telling import hint_of, why
from gitops.replay.sources.versions import LiveVersions
from gitops.replay.tally import Chosen, Gathered

ANSWER: Final = "answer binary"
"""The schema of what comes back."""

LATER: Final = -1
"""The number of a row that another pass reads: nothing else of it is there."""

Work = Callable[[Iterator[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]


def reading(
    job: Job, tasks: Sequence[Sequence[Part]], below: Mapping[tuple[str, int], int]
) -> Work:
    """Of a column of numbers of tasks."""

    def work(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield _answer(read(job, tasks[number], below=below))

    return work


def reading_rows(
    job: Job, owners: Sequence[Owner], names: Mapping[str, str], table: str, *, in_order: bool
) -> Work:
    """Of rows with the columns that `names` has; those numbered LATER are only counted.

    Where they come `in_order`, they are all rows of their files, and get their numbers here.
    """

    def work(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        gathering, counting = Gathering(job), RowsInOrder()
        keys = LiveVersions(job).need_keys(owners)
        taken = {name: column for name, column in names.items() if keys or name != "key"}
        try:
            for _, batch in joined((owners, batch) for batch in batches):
                later = pyarrow.compute.equal(batch.column("row"), LATER)
                whole = counting.numbered(batch) if in_order else batch
                now = whole.filter(pyarrow.compute.invert(later)) if later.true_count else whole
                gathering.later += later.true_count
                gathering.add(to_batch(now, taken, table, 1), owners)
        except UnreadableError as error:
            gathering.later = 0  # another pass would tell the same
            gathering.unread(owners, table, str(error), hint_of(error))
        except pyarrow.ArrowException as error:
            gathering.unread(owners, table, f"{table} cannot be read: {why(error)}")
        yield _answer(gathering.end())

    return work


def reading_files(job: Job, whole: Part) -> Work:
    """Of rows `path`, `content`: files that only Spark could open."""

    def work(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        from dataclasses import replace

        for batch in batches:
            for path, content in zip(*(batch.column(at) for at in (0, 1)), strict=True):
                data = content.as_py()
                file = File(name=path.as_py(), uri="", size=len(data), content=data)
                yield _answer(read(job, [replace(whole, file=file)]))

    return work


def rewriting(job: Job) -> Work:
    """Of rows `topic`, `version`, `chosen`, the last of which is encoded messages."""

    def work(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            for row in batch.to_pylist():
                chosen = unpack(row["chosen"])
                yield _answer(rewrite(job, row["topic"], row["version"], chosen))

    return work


def merging(limits: Limits) -> Work:
    """Of answers: one instead of many."""

    def work(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        merged = Gathered()
        for each in answers(batches):
            merge(merged, each, limits)
        yield _answer(merged)

    return work


def answers(batches: Iterable[Any]) -> Iterator[Gathered]:
    """What came back."""
    for batch in batches:
        for answer in batch.column(0):
            yield decode(answer.as_py())


_BLOCK: Final = 31 * 2**20
"""Just below the largest that glibc learns from."""


@cache
def _settle() -> None:
    """Once in a process: garbage is no longer looked for among the modules and plans it loaded.

    Spark's workers do that after each task, and it took longer than many a task. And arrays of
    some MiB come from memory that was used before: once a block of such a size was given back,
    glibc keeps the next ones, where it would ask the system for clean pages each time.
    """
    gc.freeze()
    bytearray(_BLOCK)


def _answer(gathered: Gathered) -> pyarrow.RecordBatch:
    _settle()
    column = pyarrow.array([encode(gathered)], pyarrow.binary())
    return pyarrow.RecordBatch.from_arrays([column], ["answer"])


def pack_chosen(chosen: Sequence[Chosen]) -> bytes:
    """Messages as they travel to a worker."""
    return encode(Gathered(chosen={("", 0): list(chosen)}))


def unpack(data: bytes) -> list[Chosen]:
    """What `pack_chosen` was given."""
    return decode(data).chosen["", 0]
