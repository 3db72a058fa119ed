"""How parts become tasks."""

from __future__ import annotations

from gitops.replay.engines.spark import TASK_BYTES, first_wave, pack_tasks
from gitops.replay.job import Owner
from gitops.replay.sources.source import File, Part


def parts(*sizes: int) -> list[Part]:
    file = File(name="a", uri="a", size=0)
    owners = (Owner("a/b/c", 0),)
    return [
        Part(owners=owners, format="parquet", file=file, group=number, bytes=size)
        for number, size in enumerate(sizes)
    ]


def test_a_task_is_not_larger_than_is_fair_to_the_cores() -> None:
    its = parts(*[10] * 100)
    tasks = pack_tasks(its, 2)
    assert len(tasks) == 8
    assert [part for task in tasks for part in task] == its


def test_large_parts_are_tasks_of_their_own() -> None:
    assert [len(task) for task in pack_tasks(parts(*[TASK_BYTES] * 50), 1)] == [1] * 50


def test_parts_of_no_known_size_are_cut_too() -> None:
    assert [len(task) for task in pack_tasks(parts(0, 0, 0), 2)] == [1, 1, 1]
    assert not pack_tasks([], 2)


def test_a_replay_begins_with_few_tasks_and_of_large_ones_with_one_a_core() -> None:
    assert first_wave(pack_tasks(parts(*[10] * 100), 2), 2) == 4
    assert first_wave(pack_tasks(parts(*[TASK_BYTES] * 50), 2), 2) == 4
    assert first_wave(pack_tasks(parts(*[2 * TASK_BYTES] * 8), 2), 2) == 2
    assert first_wave(pack_tasks(parts(*[10 * TASK_BYTES] * 8), 2), 2) == 2
    assert first_wave(pack_tasks(parts(0, 0, 0), 2), 2) == 4
