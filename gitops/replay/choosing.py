"""Which messages are rewritten for the forward direction: those whose places hash lowest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy

from gitops.replay.merging import MOST_CHOSEN_BYTES, Limits, lowest
from gitops.replay.readings import Messages
from gitops.replay.tally import Chosen

_HIGHEST: Final = 2**64 - 1


class Choosing:
    """Of one part of the data, by topic and version; `Limits` says how many of each.

    `below` is what others know: enough messages with hashes up to that one were found elsewhere.
    """

    def __init__(self, limits: Limits, below: Mapping[tuple[str, int], int]) -> None:
        self._limits = limits
        self._chosen: dict[tuple[str, int], list[Chosen]] = {}
        self._below = dict(below)
        self._bytes: dict[tuple[str, int], int] = {}

    def add(self, topic: str, version: int, sample: int, messages: Messages) -> None:
        """Consider messages; far fewer are kept than are looked at."""
        most = self._limits.forward_rows.get(topic, 0)
        if not most:
            return
        hashes = messages.places.hashes()
        below = numpy.uint64(self._below.get((topic, version), _HIGHEST))
        if len(hashes) > most:
            below = min(below, numpy.partition(hashes, most - 1)[most - 1])
        rows = numpy.flatnonzero(hashes <= below)
        if not len(rows):
            return
        chosen = self._chosen.setdefault((topic, version), [])
        new = [
            Chosen(
                int(hashes[row]),
                messages.places.where(int(row)),
                sample,
                messages.payloads[int(row)].as_py(),
            )
            for row in rows
        ]
        chosen.extend(new)
        size = self._bytes.get((topic, version), 0) + sum(len(one.payload) for one in new)
        self._bytes[topic, version] = size
        if len(chosen) > 2 * most or size > 2 * MOST_CHOSEN_BYTES:
            self._cut(topic, version, most)

    def _cut(self, topic: str, version: int, most: int) -> None:
        kept = lowest(self._chosen[topic, version], most)
        self._chosen[topic, version] = kept
        self._below[topic, version] = kept[-1].hash if kept else 0
        self._bytes[topic, version] = sum(len(one.payload) for one in kept)

    def end(self) -> dict[tuple[str, int], list[Chosen]]:
        """What was chosen, sorted."""
        return {
            version: lowest(chosen, self._limits.forward_rows[version[0]])
            for version, chosen in self._chosen.items()
        }


def bounds(
    chosen: Mapping[tuple[str, int], list[Chosen]], limits: Limits
) -> dict[tuple[str, int], int]:
    """The highest hash of each version that has as many messages as are wanted.

    `chosen` may grow meanwhile, in another thread.
    """
    return {
        version: its[-1].hash
        for version, its in list(chosen.items())
        if its and len(its) >= limits.forward_rows[version[0]]
    }
