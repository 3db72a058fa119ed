"""Replays on real Sparks answer the same as in this process, byte for byte."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest
from _pytest.mark import ParameterSet

from gitops.model.errors import OutsideError
from gitops.replay.engines.local import LocalRunner
from gitops.replay.engines.spark_driver import find_java
from gitops.replay.job import RunRequest
from tests.spark.replays import counted, files, replays, run
from tests.spark.samples import COPIES, LARGE, ROWS, write_samples
from tests.support.spark import connect_server, run_replays

pytest.importorskip("pyspark")

MASTERS = {"local": "local[2]", "cluster": "local-cluster[2,1,1024]", "connect": "connect"}
"""By the name of the group: xdist takes no group whose name has a bracket."""

Found = Mapping[str, str]

REPLAYS = ("relative", "uri", "formats", "many rewritten", "logical types")
FILES = ("parquet", "orc", "capture", "avro", "raw", "json", "odd parquet", "odd orc")
ELSEWHERE = {
    "cluster": {"relative", "formats", "parquet", "json", "odd orc"},
    "connect": {"relative", "logical types", "capture", "avro", "json"},
}
"""What other masters than `local`, which has all, repeat of both: where rows come from and where
they are read are independent of each other."""
ALWAYS = ("table", "numeric key", "cut", "changing", "interrupted")


def _skip_without_java() -> None:
    try:
        find_java(os.environ)
    except OutsideError as error:
        pytest.skip(f"no Spark: {error}")


def _marked(group: str, *values: object) -> ParameterSet:
    marks = [pytest.mark.spark, pytest.mark.xdist_group(f"spark {group}")]
    return pytest.param(group, *values, marks=marks)


def _pairs(names: tuple[str, ...]) -> list[ParameterSet]:
    """Masters and names of what is compared on each."""
    return [
        _marked(group, name)
        for group in MASTERS
        for name in names
        if name in ELSEWHERE.get(group, names)
    ]


@pytest.fixture(scope="session", params=[_marked(group) for group in MASTERS])
def samples(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Found]:
    """A folder of samples, and what came of all replays on one master."""
    _skip_without_java()
    root = tmp_path_factory.mktemp("replays").resolve()
    write_samples(root)
    with ExitStack() as stack:
        master = MASTERS[request.param]
        if master == "connect":
            server = tmp_path_factory.mktemp("server").resolve()
            master = stack.enter_context(connect_server(server))
        names = ELSEWHERE.get(request.param, {*REPLAYS, *FILES})
        ended = run_replays(master, root, *sorted(names), *ALWAYS)
    assert not ended.stderr
    assert ended.returncode == 0
    return root, msgspec.json.decode(ended.stdout)


@pytest.mark.parametrize(
    ("samples", "name"), _pairs(REPLAYS), indirect=["samples"], scope="session"
)
def test_spark_answers_as_this_process_does(samples: tuple[Path, Found], name: str) -> None:
    root, found = samples
    assert found[name] == run(LocalRunner(), root, name, replays(root)[name])


@pytest.mark.parametrize("row_group", [10_000, 17])
def test_how_the_data_is_cut_makes_no_difference(
    samples: tuple[Path, Found], tmp_path: Path, row_group: int
) -> None:
    _, found = samples
    write_samples(tmp_path, row_group)
    here = run(LocalRunner(), tmp_path, "relative", replays(tmp_path)["relative"])
    assert found["relative"] == here


def test_values_of_logical_types_are_those_of_each_sample(tmp_path: Path) -> None:
    """In this process; Spark says the same, as the test above shows."""
    write_samples(tmp_path)
    told = run(LocalRunner(), tmp_path, "logical types", replays(tmp_path)["logical types"])
    tallies = {(key["reader"], key["sample"]): its for key, its in msgspec.json.decode(told)[2]}
    strict, lax = (tallies["proposed", number] for number in (0, 1))
    assert (strict["rows"], strict["failed"], lax["failed"]) == (ROWS, 60, 0)
    assert {(one["path"], one["reason"]) for one in strict["failures"]} == {
        ("id", "the text is not a UUID")
    }
    at = strict["fields"]["at"]
    assert at["changed"] == ROWS - 60 - 1, "0 is the same in every unit"
    assert at["example"][3:] == [
        "timestamp-millis is read as timestamp-micros",
        "1970-01-01T00:00:01Z",
        "1970-01-01T00:00:00.001Z",
    ]
    assert (lax["fields"]["at"]["changed"], lax["fields"]["at"]["example"]) == (0, None)


def test_a_table_is_read_by_spark(samples: tuple[Path, Found]) -> None:
    _, found = samples
    complete, unread, tallies = msgspec.json.decode(found["table"])
    assert complete
    assert ["no_such.table: " in each for each in unread] == [True, False]
    assert "contains bigint, not bytes" in unread[1]
    rows = {
        (key["version"], key["reader"], key["direction"]): tally["rows"] for key, tally in tallies
    }
    assert rows[None, "", "backward"] == 1501
    assert sum(number for (_, _, way), number in rows.items() if way == "backward") == 3_000


def test_a_table_that_changes_between_two_passes_is_told(samples: tuple[Path, Found]) -> None:
    _, found = samples
    _, unread, _ = msgspec.json.decode(found["changing"])
    assert unread == ["global_temp.changing: global_temp.changing changed while it was read"]


@pytest.mark.parametrize(("samples", "name"), _pairs(FILES), indirect=["samples"], scope="session")
def test_files_that_only_spark_opens_give_the_same_counts(
    samples: tuple[Path, Found], name: str
) -> None:
    root, found = samples
    ran = LocalRunner().run(RunRequest(replays=files(root)[name], root=root))
    assert ran.tallies
    assert found[name] == counted(ran.tallies)


def test_rows_that_cannot_be_numbered_are_counted_all_the_same(
    samples: tuple[Path, Found],
) -> None:
    """As on a managed service that refuses the setting that keeps files whole."""
    _, found = samples
    assert found["cut"] == found["json"]


def test_a_key_that_is_no_bytes_is_told_where_it_is_needed(samples: tuple[Path, Found]) -> None:
    root, found = samples
    complete, unread, tallies = msgspec.json.decode(found["numeric key"])
    table = f"parquet.`{root}/samples/odd.parquet`"
    told = f"{table}: the column 'key' of {table} contains int64, not bytes"
    assert (complete, unread, tallies) == (True, [told], [])


def test_ctrl_c_ends_a_run_and_what_was_done_is_told(samples: tuple[Path, Found]) -> None:
    """Of some of the copies of a file, and of all their messages, which nobody can read."""
    _, found = samples
    complete, unread, tallies = msgspec.json.decode(found["interrupted"])
    assert (complete, unread) == (False, [])
    ((key, tally),) = tallies
    done, left = divmod(tally["rows"], LARGE)
    assert (key["reader"], left, tally["failed"]) == ("proposed", 0, tally["rows"])
    assert 0 < done < COPIES


def test_ctrl_c_leaves_spark_usable(samples: tuple[Path, Found]) -> None:
    _, found = samples
    assert found["after"] == found["relative"]


def test_a_session_that_was_found_is_left_as_it_was(samples: tuple[Path, Found]) -> None:
    """A job of somebody else outlives a replay that is interrupted, and one that fails."""
    _, found = samples
    left = msgspec.json.decode(found["shared"])
    assert left["job_runs"]
    assert left["interrupted"]
    assert left["failed"].startswith("Spark failed: RuntimeError at ")
    assert left["alive"]
    assert left["state_after"] == left["state_before"]
