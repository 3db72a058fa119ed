"""A file that several samples of a topic name counts once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gitops.model.replay import TopicReplay
from gitops.replay.engines.local import LocalRunner
from gitops.replay.job import RunRequest, RunResult
from tests.support.pairs_kernel import PAIRS, sample, schema, topic_replay, write_parquet

CREATED = "shop/orders/created"
A = "../../../samples/a.parquet"


def run(root: Path, *replays: TopicReplay) -> RunResult:
    return LocalRunner(PAIRS).run(RunRequest(replays=replays, root=root))


@pytest.mark.parametrize(
    ("paths", "twice"),
    [
        (("a.parquet", "*.parquet"), [("samples/a.parquet",)]),
        (("*.parquet", "a.parquet"), [("samples/a.parquet",)]),
        (("*", "*"), [("samples/a.parquet", "samples/b.parquet")]),
        (("[ab]*", "a*", "b*"), [("samples/a.parquet",), ("samples/b.parquet",)]),
        (("a.parquet", "b.parquet"), []),
        (("link", "*"), [("samples/a.parquet", "samples/b.parquet")]),
    ],
)
def test_a_file_counts_once_whoever_names_it(
    paths: Sequence[str], twice: list[tuple[str, ...]], tmp_path: Path
) -> None:
    for name in ("a", "b"):
        file = tmp_path / f"samples/{name}.parquet"
        write_parquet(file, payload=["a=1"] * 10, schema_version=[0] * 10)
    (tmp_path / "link").symlink_to("samples")
    places = [path if path == "link" else f"samples/{path}" for path in paths]
    samples = [sample(f"../../../{place}") for place in places]
    ran = run(tmp_path, topic_replay(*samples))
    assert sum(its.rows for its in ran.tallies.values()) == 20
    assert [one.files for one in ran.twice] == twice
    assert all(one.first is samples[0] for one in ran.twice)


def test_a_file_counts_as_the_first_that_names_it_says(tmp_path: Path) -> None:
    write_parquet(tmp_path / "samples/a.parquet", payload=["a=1", "a=1;b=2"], other=["x", "x"])
    first = sample(A, version=0)
    second = sample(A, version=1, columns={"payload": "other"})
    ran = run(tmp_path, topic_replay(first, second, versions={0: schema("a"), 1: schema("b")}))
    assert {(key.version, key.sample): its.rows for key, its in ran.tallies.items()} == {(0, 0): 2}
    assert [(one.sample, one.first) for one in ran.twice] == [(second, first)]


def test_topics_count_what_they_share_each_for_itself(tmp_path: Path) -> None:
    write_parquet(tmp_path / "samples/a.parquet", payload=["a=1"], schema_version=[0])
    mine = topic_replay(sample(A), sample(A))
    other = replace(mine, topic=replace(mine.topic, local_name="other"), samples=(sample(A),))
    ran = run(tmp_path, mine, other)
    assert sorted((key.topic, its.rows) for key, its in ran.tallies.items()) == [
        (CREATED, 1),
        ("shop/orders/other", 1),
    ]
    assert [str(one.topic) for one in ran.twice] == [CREATED]


def test_tables_that_are_named_twice_are_asked_for_once(tmp_path: Path) -> None:
    table = sample("lake.orders", format="table")
    ran = run(tmp_path, topic_replay(table, table))
    assert len(ran.unread) == 1
    assert [one.files for one in ran.twice] == [("lake.orders",)]
