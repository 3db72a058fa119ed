"""Replays on one Spark, in a process of their own: `python -m tests.spark.replays MASTER FOLDER`.

Each is what the tests compare with the same replay in this process. Written out is, by name, what
came of it; FOLDER is made by `write_samples`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import msgspec

from gitops.model.replay import TopicReplay
from gitops.replay.counts import Key, PartResult, Tally, merge, sorted_result
from gitops.replay.engines.spark import SparkRunner
from gitops.replay.engines.spark_session import SparkConnection, open_session
from gitops.replay.engines.spark_tables import answer_frame, query_settings
from gitops.replay.engines.spark_tasks import part_results
from gitops.replay.job import Job, Runner, RunRequest, RunResult
from gitops.replay.sources.part_plan import SampleData, sample_data
from tests.spark.samples import logical, pairs, sample, topic
from tests.spark.shared_session import interrupted, shared

_SHOWN: Final = ("relative", "logical types")


def replays(root: Path) -> dict[str, tuple[TopicReplay, ...]]:
    """By name."""
    here = "../../../samples"
    there = f"file://{root}/samples"
    return {
        "relative": (topic(sample(f"{here}/all.parquet")),),
        "uri": (
            topic(sample(f"{there}/all.parquet")),
            topic(sample(f"{there}/all.parquet", version=0), name="shop/orders/paid"),
        ),
        "formats": (
            topic(
                sample(f"{there}/all.orc", format="orc"),
                sample(f"{there}/orders.avro", format="avro"),
                sample(f"{there}/*.bin", format="raw", version=0),
                sample(f"{there}/capture.parquet", format="capture"),
                sample(f"{there}/none.parquet"),
            ),
        ),
        "many rewritten": (topic(sample(f"{there}/all.parquet"), forward_rows=1_200),),
        "logical types": (
            logical(
                sample(f"{there}/logical.parquet", version=0),
                sample(f"{there}/logical.orc", format="orc", version=0, logical_types="none"),
            ),
        ),
    }


def only_on_spark(root: Path) -> dict[str, tuple[TopicReplay, ...]]:
    """What pyarrow alone cannot read."""
    place = f"{root}/samples"
    return {
        "table": (
            topic(
                sample(f"parquet.`{place}/all.parquet`", format="table", version=0),
                sample("no_such.table", format="table"),
                sample(
                    f"parquet.`{place}/capture.parquet`",
                    format="table",
                    columns={"payload": "schema_version"},
                ),
            ),
        ),
        "numeric key": (pairs(sample(f"parquet.`{place}/odd.parquet`", format="table")),),
    }


def files(root: Path) -> dict[str, tuple[TopicReplay, ...]]:
    """What pyarrow could read, and Spark reads where it could not, by format."""
    there = f"file://{root}/samples"
    return {
        "parquet": (topic(sample(f"{there}/all.parquet"), forward_rows=0),),
        "orc": (topic(sample(f"{there}/all.orc", format="orc"), forward_rows=0),),
        "capture": (topic(sample(f"{there}/capture.parquet", format="capture"), forward_rows=0),),
        "avro": (topic(sample(f"{there}/*.avro", format="avro"), forward_rows=0),),
        "odd parquet": (topic(sample(f"{there}/odd.parquet"), forward_rows=0),),
        "odd orc": (topic(sample(f"{there}/odd.orc", format="orc"), forward_rows=0),),
        "raw": (topic(sample(f"{there}/*.bin", format="raw", version=0), forward_rows=0),),
        "json": (topic(sample(f"{there}/*.jsonl", format="json", version=0), forward_rows=0),),
    }


def by_spark(
    opened: SparkConnection, topics: tuple[TopicReplay, ...], *, uncut: bool = True
) -> str:
    """The counts of a sample that Spark itself reads; not `uncut`: where rows have no number."""
    job = Job.of(RunRequest(replays=topics, root=Path("/nonexistent")))
    (wanted,) = sample_data(RunRequest(replays=topics, root=Path("/nonexistent")))
    merged = PartResult()
    _ask(opened, job, wanted, merged, large=False, uncut=uncut)
    if wanted.sample.format not in ("avro", "raw"):
        if not merged.later:
            raise AssertionError("no row is large")
        _ask(opened, job, wanted, merged, large=True, uncut=uncut)
    return counted(sorted_result(merged).tallies)


def _ask(
    opened: SparkConnection, job: Job, wanted: SampleData, into: PartResult, **how: bool
) -> None:
    with query_settings(opened.session, wanted, large=how["large"]) as accepted:
        assert accepted
        found = answer_frame(opened, job, wanted, **how).toArrow()
    for answer in part_results(found.to_batches()):
        merge(into, answer, job.limits)


def counted(tallies: Mapping[Key, Tally]) -> str:
    """Without examples: Spark calls files as Hadoop does."""
    for tally in tallies.values():
        for failed in tally.failures:
            failed.examples = []
    return msgspec.json.encode([[key, tally] for key, tally in tallies.items()]).decode()


def run(runner: Runner, root: Path, name: str, topics: tuple[TopicReplay, ...]) -> str:
    """What came of a replay, as text that two runs can be compared by."""
    ran = runner.run(RunRequest(replays=topics, root=root, show_values=name in _SHOWN))
    return as_text(ran)


def as_text(ran: RunResult) -> str:
    unread = [f"{one.sample.path}: {one.why}" for one in ran.unread]
    tallies = msgspec.json.encode([[key, tally] for key, tally in ran.tallies.items()])
    return msgspec.json.encode([ran.complete, unread, msgspec.Raw(tallies)]).decode()


def changing(runner: Runner, opened: SparkConnection) -> RunResult:
    """A replay of a table that gets more rows as soon as the first of them were read."""
    payload = "cast(repeat('x', 20000) as binary) as payload"

    def change(_what: str, done: int, _total: int) -> None:
        frame = opened.session.range(5 if done else 2).selectExpr(payload)
        frame.union(opened.session.sql("select x'00'")).createOrReplaceGlobalTempView("changing")

    change("", 0, 0)
    table = topic(sample("global_temp.changing", format="table", version=0))
    return runner.run(RunRequest(replays=(table,), root=Path("/nonexistent")), change)


def main(master: str, root: Path, wanted: Callable[[str], bool]) -> dict[str, str]:
    runner = SparkRunner(master)
    found = {}
    with open_session(master) as opened:
        for name, topics in {**replays(root), **only_on_spark(root)}.items():
            if wanted(name):
                found[name] = run(runner, root, name, topics)
        for name, topics in files(root).items():
            if wanted(name):
                found[name] = by_spark(opened, topics)
        if wanted("cut"):
            found["cut"] = by_spark(opened, files(root)["json"], uncut=False)
        if wanted("changing"):
            found["changing"] = as_text(changing(runner, opened))
        if wanted("interrupted"):
            found["interrupted"] = as_text(interrupted(runner, root))
            found["shared"] = msgspec.json.encode(shared(runner, opened, root)).decode()
            found["after"] = run(runner, root, "relative", replays(root)["relative"])
    return found


if __name__ == "__main__":
    chosen = set(sys.argv[3:])
    answer = main(sys.argv[1], Path(sys.argv[2]), lambda name: not chosen or name in chosen)
    sys.stdout.buffer.write(msgspec.json.encode(answer))
