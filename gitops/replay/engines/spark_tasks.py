"""What Spark's workers run: functions of Arrow batches that answer with encoded sums."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

import numpy
import pyarrow
import pyarrow.compute

from gitops.recursion_limit import raise_recursion_limit
from gitops.replay.batch_reader import BatchReader, join_batches, read_parts
from gitops.replay.counts import ForwardMessage, Limits, PartResult, decode, encode, merge
from gitops.replay.forward_direction import rewrite
from gitops.replay.job import Job, Owner
from gitops.replay.sources.source import File, LiveVersions, Part, UnreadableError
from gitops.replay.sources.source_errors import error_text, hint_of
from gitops.replay.sources.tables import to_batch


class RowsInOrder:
    """Of whole files, one after the other: give it batch after batch, with `file` and `row`."""

    def __init__(self) -> None:
        self._file: str | None = None
        self._rows = 0

    def numbered(self, batch: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
        """The batch with a column `row` that counts from 1 in each file."""
        if not batch.num_rows:
            return batch
        file = batch.column("file")
        indices = file.dictionary_encode().indices.to_numpy()
        starts = numpy.concatenate(([0], numpy.flatnonzero(numpy.diff(indices)) + 1))
        lengths = numpy.diff(starts, append=len(indices))
        rows = numpy.arange(1, len(indices) + 1, dtype=numpy.int64)
        rows -= numpy.repeat(starts, lengths)
        if file[0].as_py() == self._file:
            rows[: lengths[0]] += self._rows
        self._file, self._rows = file[-1].as_py(), int(rows[-1])
        return batch.set_column(batch.schema.get_field_index("row"), "row", pyarrow.array(rows))


# What Spark's workers run: functions of Arrow batches, which carry encoded answers only.
#
# A batch goes in and one row comes out for each task: data never leaves a worker, counts do.


ANSWER: Final = "answer binary"
"""The schema of what comes back."""

LATER: Final = -1
"""The number of a row that another pass reads: nothing else of it is there."""

Work = Callable[[Iterator[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]


def deep_work(work: Work) -> Work:
    """The same work in a worker, which is a process with a recursion limit of its own."""

    def run(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        raise_recursion_limit()
        return work(batches)

    return run


def part_task(
    job: Job, tasks: Sequence[Sequence[Part]], below: Mapping[tuple[str, int], int]
) -> Work:
    """Of a column of numbers of tasks."""

    def work(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield _answer(read_parts(job, tasks[number], below=below))

    return work


def row_task(
    job: Job, owners: Sequence[Owner], names: Mapping[str, str], table: str, *, in_order: bool
) -> Work:
    """Of rows with the columns that `names` has; those numbered LATER are only counted.

    Where they come `in_order`, they are all rows of their files, and get their numbers here.
    """

    def work(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        reader, numbering = BatchReader(job), RowsInOrder()
        keys = LiveVersions(job).need_keys(owners)
        taken = {name: column for name, column in names.items() if keys or name != "key"}
        try:
            for _, batch in join_batches((owners, batch) for batch in batches):
                later = pyarrow.compute.equal(batch.column("row"), LATER)
                whole = numbering.numbered(batch) if in_order else batch
                now = whole.filter(pyarrow.compute.invert(later)) if later.true_count else whole
                reader.later += later.true_count
                reader.add(to_batch(now, taken, table, 1), owners)
        except UnreadableError as error:
            reader.later = 0  # another pass would tell the same
            reader.unread(owners, table, str(error), hint_of(error))
        except pyarrow.ArrowException as error:
            reader.unread(owners, table, f"{table} cannot be read: {error_text(error)}")
        yield _answer(reader.end())

    return work


def file_task(job: Job, whole: Part) -> Work:
    """Of rows `path`, `content`: files that only Spark could open."""

    def work(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        from dataclasses import replace

        for batch in batches:
            for path, content in zip(*(batch.column(at) for at in (0, 1)), strict=True):
                data = content.as_py()
                file = File(name=path.as_py(), uri="", size=len(data), content=data)
                yield _answer(read_parts(job, [replace(whole, file=file)]))

    return work


def rewrite_task(job: Job) -> Work:
    """Of rows `topic`, `version`, `chosen`, the last of which is encoded messages."""

    def work(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            for row in batch.to_pylist():
                chosen = unpack_chosen(row["chosen"])
                yield _answer(rewrite(job, row["topic"], row["version"], chosen))

    return work


def merge_task(limits: Limits) -> Work:
    """Of answers: one instead of many."""

    def work(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        merged = PartResult()
        for part_result in part_results(batches):
            merge(merged, part_result, limits)
        yield _answer(merged)

    return work


def part_results(batches: Iterable[Any]) -> Iterator[PartResult]:
    """What came back."""
    for batch in batches:
        for answer in batch.column(0):
            yield decode(answer.as_py())


_BLOCK: Final = 31 * 2**20
"""Just below the largest that glibc learns from."""


@cache
def _settle_memory() -> None:
    """Once in a process: garbage is no longer looked for among the modules and plans it loaded.

    Spark's workers do that after each task, and it took longer than many a task. And arrays of
    some MiB come from memory that was used before: once a block of such a size was given back,
    glibc keeps the next ones, where it would ask the system for clean pages each time.
    """
    gc.freeze()
    bytearray(_BLOCK)


def _answer(result: PartResult) -> pyarrow.RecordBatch:
    _settle_memory()
    column = pyarrow.array([encode(result)], pyarrow.binary())
    return pyarrow.RecordBatch.from_arrays([column], ["answer"])


def pack_chosen(chosen: Sequence[ForwardMessage]) -> bytes:
    """Messages as they travel to a worker."""
    return encode(PartResult(chosen={("", 0): list(chosen)}))


def unpack_chosen(data: bytes) -> list[ForwardMessage]:
    """What `pack_chosen` was given."""
    return decode(data).chosen["", 0]
