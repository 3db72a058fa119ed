"""Which of the failures count: those of samples of which more fail than `maxFailures` allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from gitops.model.replay import ReaderReplay, TopicReplay
from gitops.model.samples import LogicalTypes
from gitops.replay.tally import Key, Tally
from gitops.usecases.replay_findings import is_above
from gitops.usecases.replay_tallies import how_read


def with_counted(
    readers: Iterable[ReaderReplay], replays: Iterable[TopicReplay], tallies: Mapping[Key, Tally]
) -> tuple[ReaderReplay, ...]:
    """The readers, of those that gate with how many failures are held against the schema.

    A limit is one of a sample, for all versions of its messages together, as the findings have it.
    """
    replays = tuple(replays)
    how = how_read(replays)
    limits = {
        (str(one.topic), number): sample.max_failures
        for one in replays
        for number, sample in enumerate(one.samples)
    }
    rows: Counter[tuple[str, str, str, int]] = Counter()
    failed: Counter[tuple[str, str, str, int]] = Counter()
    for key, tally in tallies.items():
        rows[_asked(key)] += tally.rows
        failed[_asked(key)] += tally.failed
    counted: Counter[tuple[str, str, str, int | None, LogicalTypes]] = Counter()
    for key, tally in tallies.items():
        its = _asked(key)
        if is_above(failed[its], rows[its], limits[key.topic, key.sample]):
            counted[key.topic, key.reader, key.direction, key.version, how(key)] += tally.failed
    return tuple(replace(one, counted=counted[_of(one)]) if one.gates else one for one in readers)


def _of(one: ReaderReplay) -> tuple[str, str, str, int | None, LogicalTypes]:
    return str(one.topic), one.reader, one.direction.value, one.version, one.logical_types


def _asked(key: Key) -> tuple[str, str, str, int]:
    return key.topic, key.reader, key.direction, key.sample
