"""A column in pieces, so that what a walk remembers does not grow with the column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final

import numpy
import pyarrow
from numpy.typing import NDArray

from gitops.replay.kernel.columns import Column, as_binary, column
from gitops.replay.kernel.walk import Counted, Reason, Walk

MOST_BYTES: Final = 2**23
MOST_ROWS: Final = 2**14
"""What is walked over at once: what a walk remembers grows with it, and the caches are small."""


def walk_in_parts(payloads: pyarrow.Array, walk: Callable[[Column], Walk]) -> Walk:
    """The walk over a column of any binary type, some megabytes (or one payload) at a time."""
    rows = column(as_binary(payloads))
    bounds = numpy.append(rows.starts, rows.ends[-1:])
    walks: list[Walk] = []
    first = 0
    while first < len(rows.starts) or not walks:
        limit = bounds[first : first + 1].sum() + MOST_BYTES
        most = int(numpy.searchsorted(bounds, limit, side="right")) - 1
        last = min(len(rows.starts), first + MOST_ROWS, max(first + 1, most))
        walks.append(walk(Column(rows.data, rows.starts[first:last], rows.ends[first:last])))
        first = last
    return joined(walks)


def joined(walks: list[Walk]) -> Walk:
    """The walks over the parts of a column, in order, as the one over all of it."""
    if len(walks) == 1:
        return walks[0]
    numbers: dict[Reason, int] = {}
    verdicts = []
    counts: Counter[Counted] = Counter()
    changed: dict[str, list[NDArray[numpy.int64]]] = {}
    start = 0
    for walk in walks:
        known = [numbers.setdefault(reason, len(numbers) + 1) for reason in walk.reasons]
        verdicts.append(numpy.array([0, *known], numpy.int32)[walk.verdicts])
        counts.update(walk.counts)
        for path, rows in walk.changed.items():
            changed.setdefault(path, []).append(rows + start)
        start += len(walk.verdicts)
    return Walk(
        verdicts=numpy.concatenate(verdicts),
        reasons=tuple(numbers),
        counts=counts,
        changed={path: numpy.concatenate(rows) for path, rows in changed.items()},
    )
