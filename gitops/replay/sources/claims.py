"""Which sample of a topic a file counts for, where several of them name it: the first one."""

from __future__ import annotations

import os
from collections.abc import Iterable

from gitops.replay.job import Owner
from gitops.replay.runner import NamedTwice, Running
from gitops.replay.sources.part import File


class Claims:
    """Tell it all that samples name, then ask for whom each file is read."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, str], int] = {}
        self._twice: dict[tuple[str, int, int], set[str]] = {}

    def name(self, owners: Iterable[Owner], place: str) -> None:
        """Note that these samples name what is at a place."""
        for topic, sample in owners:
            known = self._first.get((topic, place), sample)
            self._first[topic, place] = min(known, sample)

    def keepers(self, owners: Iterable[Owner], place: str, name: str) -> tuple[Owner, ...]:
        """Those of the samples that count its messages; `name` is what a person calls it."""
        kept = []
        for owner in owners:
            first = self._first[owner.topic, place]
            if owner.sample == first:
                kept.append(owner)
            else:
                self._twice.setdefault((*owner, first), set()).add(name)
        return tuple(kept)

    def twice(self, running: Running) -> list[NamedTwice]:
        """What was asked for a second time, by topic and sample."""
        replays = {str(one.topic): one for one in running.replays}
        return [
            NamedTwice(
                topic=replays[topic].topic,
                sample=replays[topic].samples[sample],
                first=replays[topic].samples[first],
                files=tuple(sorted(names)),
            )
            for (topic, sample, first), names in sorted(self._twice.items())
        ]


def place_of(file: File) -> str:
    """The same for all names of one file on this machine."""
    return file.uri if "://" in file.uri else os.path.realpath(file.uri)
