"""Tasks are run some at a time, and what was done is known when it is stopped."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from gitops.model.errors import OutsideError
from gitops.replay.counts import PartResult
from gitops.replay.engines.spark import Waves


class Cluster:
    """Answers each task with as many rows as its number; waits at `stuck` to be interrupted."""

    def __init__(self, stuck: int = -1) -> None:
        self.waves: list[list[int]] = []
        self._stuck = stuck
        self._free = threading.Event()
        self.stopped = False

    def run(self, tasks: Sequence[int]) -> list[PartResult]:
        self.waves.append(list(tasks))
        if self._stuck in tasks:
            assert self._free.wait(30)
            return []
        return [PartResult(rows=task) for task in tasks]

    def interrupt(self) -> None:
        self._free.set()

    def waves_of(self, cores: int = 2) -> Waves[int]:
        return Waves(self.run, self.interrupt, lambda: self.stopped, cores, first=2 * cores)


def test_every_task_is_run_once() -> None:
    cluster = Cluster()
    rows = [each.rows for each in cluster.waves_of().answers(range(100))]
    assert sorted(rows) == list(range(100))
    assert sorted(task for wave in cluster.waves for task in wave) == list(range(100))
    # The two threads may begin theirs in either order.
    assert [len(wave) for wave in sorted(cluster.waves)[:2]] == [4, 4]
    assert max(len(wave) for wave in cluster.waves) > 4


def test_nothing_to_do_starts_nothing() -> None:
    cluster = Cluster()
    assert not list(cluster.waves_of().answers([]))
    assert not cluster.waves


def test_what_was_done_before_it_was_stopped_is_kept() -> None:
    cluster = Cluster(stuck=5)
    found = []
    for answer in cluster.waves_of(cores=1).answers(range(1000)):
        found.append(answer.rows)
        cluster.stopped = len(found) >= 2
        if cluster.stopped:
            continue
    assert {0, 1} <= set(found)
    assert len(found) < 10


def test_an_error_ends_the_others_too() -> None:
    cluster = Cluster(stuck=5)

    def run(tasks: Sequence[int]) -> list[PartResult]:
        if 0 in tasks:
            raise OutsideError("Spark failed")
        return cluster.run(tasks)

    waves = Waves(run, cluster.interrupt, lambda: False, 1, 2)
    with pytest.raises(OutsideError, match="Spark failed"):
        list(waves.answers(range(8)))
