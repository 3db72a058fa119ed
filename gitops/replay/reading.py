"""What a worker does: parts of samples in, one answer out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

import pyarrow

from gitops.replay.batches import MOST_BYTES, MOST_ROWS
from gitops.replay.gathering import Gathering
from gitops.replay.job import Job, Owner
from gitops.replay.sources.formats import source_for
from gitops.replay.sources.part import STREAM, Part, UnreadableError
from gitops.replay.sources.telling import hint_of, why_of
from gitops.replay.sources.versions import LiveVersions
from gitops.replay.tally import Gathered

Watch = Callable[[int], bool]
"""Called with the number of rows of each batch; False ends the reading."""

Owned = tuple[Sequence[Owner], pyarrow.RecordBatch]


def read(
    job: Job,
    parts: Iterable[Part],
    watch: Watch = lambda _rows: True,
    below: Mapping[tuple[str, int], int] | None = None,
) -> Gathered:
    """Read parts one after the other; a broken one is told, and does not stop the others.

    `below`: of a topic's version, only messages whose places hash lower need to be chosen.
    """
    gathering = Gathering(job, below)
    for owners, batch in joined(_batches(job, parts, gathering)):
        gathering.add(batch, owners)
        if not watch(batch.num_rows):
            break
    return gathering.end()


def _batches(job: Job, parts: Iterable[Part], gathering: Gathering) -> Iterator[Owned]:
    versions = LiveVersions(job)
    for part in parts:
        rows = 0
        try:
            for batch in source_for(part.format).batches(part, versions):
                yield part.owners, batch
                rows += batch.num_rows
        except (UnreadableError, OSError) as error:
            told = f"{why_of(part.file.name, error)}{_before(part, rows)}"
            gathering.unread(part.owners, part.file.name, told, hint_of(error))


def _before(part: Part, rows: int) -> str:
    """How much of a file was read before it broke off."""
    if not rows:
        return ""
    of = "" if part.group == STREAM else f" of row group {part.group}"
    return (
        f"; the {rows:,} messages before that{of} were read"
        if rows > 1
        else (f"; the one message before that{of} was read")
    )


def joined(batches: Iterable[Owned]) -> Iterator[Owned]:
    """Small batches of the same owners as one: what a call of a kernel costs is shared."""
    for owners, its in groupby(batches, key=lambda one: one[0]):
        waiting: list[pyarrow.RecordBatch] = []
        rows = size = 0
        for _, batch in its:
            rows += batch.num_rows
            size += batch.nbytes
            if waiting and (rows > MOST_ROWS or size > MOST_BYTES):
                yield owners, _one(waiting)
                waiting, rows, size = [], batch.num_rows, batch.nbytes
            waiting.append(batch)
        if waiting:
            yield owners, _one(waiting)


def _one(batches: list[pyarrow.RecordBatch]) -> pyarrow.RecordBatch:
    return batches[0] if len(batches) == 1 else pyarrow.concat_batches(batches)
