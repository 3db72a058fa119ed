"""Replays on Spark against Spark's own readers, in pairs on one session; and how they grow.

    python benchmarks/bench_replay_spark.py [--rows 2000000] [--rounds 7] [--scale 0] [--folder DIR]

Ours reads with path and reason for each failed row, examples, and statistics per field; from_avro
(PERMISSIVE, which gives nulls for failed rows and no reason) and from_json (with a column for
corrupt records) count the values of twelve fields by topic. The floor hands the same rows to
Python, which only adds their lengths up. spark-avro is fetched by its Maven coordinates. `--scale
100000000` also replays that many rows and a hundredth of them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.replay_data import FILE_ROWS, WRITER, write
from benchmarks.replay_setting import READER, memory, topics
from gitops.model.replay import TopicReplay
from gitops.model.schema import SchemaType
from gitops.replay.engines.spark import SparkRunner
from gitops.replay.engines.spark_session import open_session
from gitops.replay.job import RunRequest

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import SparkSession

MASTER: Final = "local[2]"
SPARK_AVRO: Final = "org.apache.spark:spark-avro_2.13:4.1.1"
TOPICS: Final = 10
FEW: Final = 100_000

_WARMING: Final = 3

_FIELDS: Final = tuple(str(field["name"]) for field in READER["fields"])
_COMMAND: Final = Path(sys.executable).with_name("pulsar-gitops")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--scale", type=int, default=0)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--packages {SPARK_AVRO} pyspark-shell"
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.folder or Path(temporary)).resolve()
        avro, text = folder / "avro", folder / "json"
        for place, encoding in ((avro, "avro"), (text, "json")):
            if not place.exists():
                write(place, rows=options.rows, encoding=encoding, topics=TOPICS)
        _command(folder / "command", options.rounds)
        with open_session(MASTER) as opened:
            _pairs(opened.session, avro, text, options.rows, options.rounds)
            if options.scale:
                _scale(folder, avro, options.scale)


def _pairs(session: SparkSession, avro: Path, text: Path, rows: int, rounds: int) -> None:
    session.read.parquet(str(avro)).createOrReplaceTempView("avro_orders")
    session.read.parquet(str(text)).createOrReplaceTempView("json_orders")
    kind = SchemaType.JSON
    _pair(
        "Avro payloads in a DataFrame, against from_avro",
        rows,
        rounds,
        lambda: _replay(topics("avro_orders", TOPICS)),
        lambda: _from_avro(session),
        lambda: _floor(session, "avro_orders"),
    )
    _pair(
        "Avro payloads in Parquet files, against from_avro",
        rows,
        rounds,
        lambda: _replay(topics(f"file://{avro}/*.parquet", TOPICS)),
        lambda: _from_avro(session),
    )
    _pair(
        "JSON payloads in a DataFrame, against from_json",
        rows,
        rounds,
        lambda: _replay(topics("json_orders", TOPICS, kind)),
        lambda: _from_json(session),
        lambda: _floor(session, "json_orders"),
    )
    _pair(
        "JSON payloads in Parquet files, against from_json",
        rows,
        rounds,
        lambda: _replay(topics(f"file://{text}/*.parquet", TOPICS, kind)),
        lambda: _from_json(session),
    )


def _pair(what: str, rows: int, rounds: int, *sides: Callable[[], int]) -> None:
    """Ours, theirs and, if given, the floor in turn; the first rounds only warm the JVM up."""
    times: tuple[list[float], ...] = tuple([] for _ in sides)
    for turn in range(_WARMING + rounds):
        for side, run in enumerate(sides):
            started = time.perf_counter()
            seen = run()
            if seen != rows:
                raise SystemExit(f"{what}: {seen} of {rows} rows")
            if turn >= _WARMING:
                times[side].append(time.perf_counter() - started)
    mine, other, *floor = (statistics.median(each) for each in times)
    print(
        f"{what}: {mine:.2f} s and {other:.2f} s, {other / mine:.2f} times as fast",
        *(f"; the floor {each:.2f} s, {other / each:.2f} times" for each in floor),
        sep="",
    )


def _replay(replays: tuple[TopicReplay, ...]) -> int:
    running = RunRequest(replays=replays, root=Path("/nonexistent"))
    ran = SparkRunner(MASTER).run(running)
    if ran.unread or not ran.complete:
        raise SystemExit(f"not read: {[one.why for one in ran.unread]}")
    return sum(tally.rows for tally in ran.tallies.values())


def _floor(session: SparkSession, view: str) -> int:
    rows = session.table(view).select("topic", "payload")
    lengths = rows.mapInArrow(_lengths, "rows long, size long")
    return int(lengths.groupBy().sum("rows", "size").collect()[0][0])


def _lengths(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    import pyarrow
    import pyarrow.compute as pc

    for batch in batches:
        size = pc.sum(pc.binary_length(batch.column("payload"))).as_py()
        yield pyarrow.record_batch({"rows": [batch.num_rows], "size": [size]})


def _from_avro(session: SparkSession) -> int:
    from pyspark.sql import functions
    from pyspark.sql.avro.functions import from_avro

    options = {"mode": "PERMISSIVE", "avroSchema": json.dumps(READER)}
    value = from_avro(functions.col("payload"), json.dumps(WRITER), options)
    return _counted(session.table("avro_orders").select("topic", value.alias("v")), _FIELDS)


def _from_json(session: SparkSession) -> int:
    from pyspark.sql import functions

    shape = (
        "id string, ts bigint, amount double, currency string, quantity bigint,"
        " customer_email string, note string, tags array<string>,"
        " address struct<street: string, zip: string, geo: double>, score double,"
        " active boolean, legacy_code string, corrupt string"
    )
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "corrupt"}
    value = functions.from_json(functions.col("payload").cast("string"), shape, options)
    fields = [column.split()[0] for column in shape.replace("struct<street: ", "").split(", ")]
    known = [name for name in fields if name in {*_FIELDS, "customer_email", "corrupt"}]
    return _counted(session.table("json_orders").select("topic", value.alias("v")), tuple(known))


def _counted(frame: object, fields: tuple[str, ...]) -> int:
    from pyspark.sql import DataFrame, functions

    if not isinstance(frame, DataFrame):
        raise TypeError(type(frame))
    counts = [functions.count(f"v.{name}").alias(name) for name in fields]
    found = frame.groupBy("topic").agg(functions.count("*").alias("rows"), *counts).collect()
    return sum(int(row["rows"]) for row in found)


def _scale(folder: Path, avro: Path, rows: int) -> None:
    """The same files under many names: what is measured does not depend on what is in them."""
    for count in (rows // 100, rows):
        place = folder / f"scale-{count}"
        place.mkdir(exist_ok=True)
        files = sorted(avro.glob("*.parquet"))
        for number in range(-(-count // FILE_ROWS)):
            link = place / f"part-{number}.parquet"
            if not link.exists():
                os.link(files[number % len(files)], link)
        with memory() as most:
            started = time.perf_counter()
            seen = _replay(topics(f"file://{place}/*.parquet", TOPICS))
            seconds = time.perf_counter() - started
        held = ", ".join(f"{kind} {size} MiB" for kind, size in sorted(most.items()))
        print(f"{seen:,} rows: {seconds:.1f} s, {seen / seconds:,.0f} rows/s; at most {held}")


def _command(folder: Path, rounds: int) -> None:
    """The whole command, in this process's own way, on few rows."""
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "samples", rows=FEW, topics=1)
    _write_repository(folder)
    _run(folder, "apply", "--auto-approve")
    (folder / "namespaces/perf/shop/orders-0.avsc").write_text(json.dumps(READER))
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        _run(folder, "replay", "--engine", "local", expected=1)
        times.append(time.perf_counter() - started)
    print(f"{FEW:,} rows, the whole command, --engine local: {statistics.median(times):.2f} s")


def _write_repository(folder: Path) -> None:
    files = {
        "gitops.yaml": "kind: Config\nregistries: {local: {kind: embedded, path: local.db}}\n",
        "namespaces/perf/shop/namespace.yaml": "kind: Namespace\nnamespace: perf/shop\n",
        "namespaces/perf/shop/orders-0.yaml": (
            "kind: Topic\nschema: {type: AVRO, definition: orders-0.avsc}\n"
            "samples: [{format: parquet, path: ../../../samples/*.parquet, version: 0}]\n"
        ),
    }
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"apiVersion: pulsar-gitops/v1\n{text}")
    (folder / "namespaces/perf/shop/orders-0.avsc").write_text(json.dumps(WRITER))


def _run(folder: Path, *words: str, expected: int = 0) -> None:
    ended = subprocess.run(
        [_COMMAND, *words, "--repo", str(folder)], capture_output=True, text=True, check=False
    )
    if ended.returncode != expected:
        raise SystemExit(f"{words} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")


if __name__ == "__main__":
    main()
