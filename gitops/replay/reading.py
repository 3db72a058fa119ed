"""What a worker does: parts of samples in, one answer out."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gitops.replay.gathering import Gathering
from gitops.replay.job import Job
from gitops.replay.sources.formats import source_for
from gitops.replay.sources.part import Part, UnreadableError
from gitops.replay.sources.planning import why
from gitops.replay.sources.versions import LiveVersions
from gitops.replay.tally import Gathered

Watch = Callable[[int], bool]
"""Called with the number of rows of each batch; False ends the reading."""


def read(job: Job, parts: Iterable[Part], watch: Watch = lambda _rows: True) -> Gathered:
    """Read parts one after the other; a broken one is told, and does not stop the others."""
    gathering = Gathering(job)
    versions = LiveVersions(job)
    for part in parts:
        try:
            for batch in source_for(part.format).batches(part, versions):
                gathering.add(batch, part.owners)
                if not watch(batch.num_rows):
                    return gathering.end()
        except (UnreadableError, OSError) as error:
            gathering.unread(part.owners, why(error))
    return gathering.end()
