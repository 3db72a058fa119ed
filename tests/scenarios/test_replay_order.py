"""The same messages give the same report, byte for byte, in whatever order and pieces they come."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from gitops.model.findings import Location
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.replay import ReplayReport, Sample
from gitops.ports import Progress, no_progress
from gitops.replay import batch_reader
from gitops.replay.batch_reader import read_parts
from gitops.replay.counts import PartResult, decode, encode, merge
from gitops.replay.engines.local import LocalRunner, run_result
from gitops.replay.forward_direction import rewrite
from gitops.replay.gates import Gate
from gitops.replay.job import Job, Runner, RunRequest, RunResult
from gitops.replay.replay_report import ReplayHistory, ReplayRequest, replay
from gitops.replay.sources.part_plan import plan_parts
from gitops.replay.topic_replays import Subject
from tests.support.replay_messages import Form, forms
from tests.support.replay_outputs import outputs
from tests.support.states import CREATED, history

ROWS = 240
IDS = 40
"""So that many messages share one."""

FORWARD = 60
"""Messages of each version that are rewritten: some, and some of those that share an id."""

Row = dict[str, Any]


def _fewer(running: RunRequest) -> RunRequest:
    replays = (replace(one, forward_rows=FORWARD) for one in running.replays)
    return replace(running, replays=tuple(replays))


@dataclass(slots=True)
class Here:
    """Reads all parts one after the other."""

    engine: str = "local"

    def run(self, running: RunRequest, progress: Progress = no_progress) -> RunResult:
        return LocalRunner().run(_fewer(running), progress)


@dataclass(slots=True)
class InPieces:
    """Reads each part apart and merges the answers as they happen to come, as a cluster does."""

    random: Random
    engine: str = "local"

    def run(self, running: RunRequest, _progress: Progress = no_progress) -> RunResult:
        running = _fewer(running)
        job, planned, gathered = Job.of(running), plan_parts(running), PartResult()
        parts = self.random.sample(planned.parts, len(planned.parts))
        for part in parts:
            merge(gathered, decode(encode(read_parts(job, [part]))), job.limits)
        pieces = [
            (topic, version, its[start : start + 13])
            for (topic, version), its in gathered.chosen.items()
            for start in range(0, len(its), 13)
        ]
        for piece in self.random.sample(pieces, len(pieces)):
            merge(gathered, decode(encode(rewrite(job, *piece))), job.limits)
        return run_result(running, gathered, planned, complete=True)


def rows_of(form: Form, random: Random) -> list[Row]:
    return [
        {
            "message_id": f"5:{random.randrange(IDS)}:-1",
            "schema_version": random.choice([0, 0, 0, 1, 7, None]),
            "key": key,
            "payload": payload,
            "topic": random.choice([None, "shop/orders/created", "shop/orders/lost"]),
        }
        for key, payload in form.messages
    ]


COLUMNS = pyarrow.schema(
    {
        "message_id": pyarrow.string(),
        "schema_version": pyarrow.int64(),
        "key": pyarrow.binary(),
        "payload": pyarrow.binary(),
        "topic": pyarrow.string(),
    }
)


def write(folder: Path, rows: list[Row], files: int, row_group: int) -> None:
    folder.mkdir(parents=True)
    for number in range(files):
        table = pyarrow.Table.from_pylist(rows[number::files], COLUMNS)
        pyarrow.parquet.write_table(table, folder / f"{number}.parquet", row_group_size=row_group)


def report_of(root: Path, form: Form, runner: Runner) -> ReplayReport:
    sample = Sample(
        format="capture", path="samples/*.parquet", location=Location(file="created.yaml")
    )
    subject = Subject(
        topic=CREATED,
        history=history(form.written, form.proposed),
        proposed=form.proposed,
        samples=(sample,),
        strategy=SchemaCompatibilityStrategy.FULL,
    )
    replaying = ReplayRequest(runner=runner, root=root, gate=Gate.STRATEGY, show_values=True)
    return replay(replaying, [subject], ReplayHistory(registry="local", source="files"))


@pytest.mark.parametrize("name", ["AVRO", "JSON", "PROTOBUF_NATIVE", "KEY_VALUE"])
def test_order_and_pieces_make_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    random = Random(name)  # noqa: S311 - nothing is kept secret
    form = forms(random, ROWS)[name]
    rows = rows_of(form, random)
    write(tmp_path / "first/samples", rows, 1, 10_000)
    expected = outputs(report_of(tmp_path / "first", form, Here()))
    assert expected["json"].count('"where"') > 20
    for number, most in enumerate([1, 7, 64, 65_536]):
        random.shuffle(rows)
        root = tmp_path / str(number)
        write(root / "samples", rows, random.randint(1, 4), random.choice([3, 50, 10_000]))
        with monkeypatch.context() as patch:
            patch.setattr(batch_reader, "MOST_ROWS", most)
            here = outputs(report_of(root, form, Here()))
            there = outputs(report_of(root, form, InPieces(random)))
        assert here == expected
        assert there == expected
