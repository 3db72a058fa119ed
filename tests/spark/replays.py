"""Replays on one Spark, in a process of their own: `python -m tests.spark.replays MASTER FOLDER`.

Each is what the tests compare with the same replay in this process. Written out is, by name, what
came of it; FOLDER is made by `write_samples`.
"""

from __future__ import annotations

import io
import os
import random
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import fastavro
import msgspec
import pyarrow
import pyarrow.orc
import pyarrow.parquet

from gitops.model.findings import Location
from gitops.model.names import TopicName
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.replay import Direction, ReaderSchema, TopicReplay
from gitops.model.samples import Sample
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.job import Job
from gitops.replay.merging import in_order, merge
from gitops.replay.runner import Ran, Runner, Running
from gitops.replay.runners.frames import answer_frame, asking
from gitops.replay.runners.session import Opened, open_session
from gitops.replay.runners.spark import SparkRunner
from gitops.replay.runners.work import answers
from gitops.replay.sources.planning import Wanted, wanted_of
from gitops.replay.tally import Gathered, Key, Tally

MANIFEST: Final = "namespaces/shop/orders/created.yaml"
ROWS: Final = 3_000
LARGE: Final = 32
COPIES: Final = 8

FIRST: Final[dict[str, Any]] = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {
            "name": "currency",
            "type": {"type": "enum", "name": "Currency", "symbols": ["EUR", "OLD"]},
        },
        {"name": "note", "type": ["null", "string"], "default": None},
    ],
}
SECOND: Final = {
    **FIRST,
    "fields": [*FIRST["fields"], {"name": "tags", "type": {"type": "array", "items": "string"}}],
}
PROPOSED: Final = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "currency", "type": {"type": "enum", "name": "Currency", "symbols": ["EUR"]}},
        {"name": "note", "type": ["null", "string"], "default": None},
        {"name": "source", "type": "string", "default": "web"},
    ],
}


def _info(definition: object) -> SchemaInfo:
    return SchemaInfo(type=SchemaType.AVRO, schema=msgspec.json.encode(definition).decode())


VERSIONS: Final = {0: _info(FIRST), 3: _info(SECOND)}


def topic(
    *samples: Sample, name: str = "shop/orders/created", forward_rows: int = 100
) -> TopicReplay:
    proposed = _info(PROPOSED)
    readers = [
        ReaderSchema(name="proposed", direction=Direction.BACKWARD, schema=proposed, gates=True),
        *(
            ReaderSchema(name=f"v{number}", direction=Direction.FORWARD, schema=info, gates=False)
            for number, info in VERSIONS.items()
        ),
    ]
    return TopicReplay(
        topic=TopicName.parse(name),
        versions=VERSIONS,
        proposed=proposed,
        readers=tuple(readers),
        samples=samples,
        strategy=SchemaCompatibilityStrategy.FULL,
        forward_rows=forward_rows,
    )


def pairs(*samples: Sample) -> TopicReplay:
    """Messages whose keys are read with them."""
    halves = {
        "key.schema.type": "STRING",
        "value.schema.type": "AVRO",
        "kv.encoding.type": "SEPARATED",
    }
    definition = msgspec.json.encode({"key": "", "value": FIRST}).decode()
    info = SchemaInfo(type=SchemaType.KEY_VALUE, schema=definition, properties=halves)
    return replace(topic(*samples), versions={0: info}, proposed=info)


def sample(path: str, **other: Any) -> Sample:  # noqa: ANN401 - any of its fields
    given = {"format": "parquet", "path": path, "location": Location(file=MANIFEST), **other}
    return Sample(**given)


def _orders() -> list[tuple[int, dict[str, Any]]]:
    chance = random.Random(7)  # noqa: S311 - nothing is kept secret
    return [
        (
            chance.choice([0, 3]),
            {
                "id": number,
                "currency": "OLD" if chance.random() < 0.05 else "EUR",
                "note": None if chance.random() < 0.5 else _note(number),
                "tags": ["a"] * chance.randrange(3),
            },
        )
        for number in range(ROWS)
    ]


def _note(number: int) -> str:
    """Some are so long that Spark hands them over later."""
    return f"note {number} " * (2_000 if number % 250 < 2 else 1)


def _payload(version: int, order: Mapping[str, Any]) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, {0: FIRST, 3: SECOND}[version], order)
    return out.getvalue()


def write_samples(root: Path, row_group: int = 250) -> None:
    """The same messages in every format, some of them broken."""
    folder = root / "samples"
    folder.mkdir(parents=True, exist_ok=True)
    orders = _orders()
    payloads: list[bytes | None] = [_payload(*order) for order in orders]
    versions: list[int | None] = [version for version, _ in orders]
    payloads[10:13] = [b"", None, b"\xff" * 30]
    versions[20:22] = [None, 9]
    names = [None, "shop/orders/created", "persistent://shop/orders/paid", "shop/orders/lost"]
    topics = [names[number % len(names)] for number in range(ROWS)]
    table = pyarrow.table(
        {
            "topic": topics,
            "schema_version": pyarrow.array(versions, pyarrow.int64()),
            "payload": pyarrow.array(payloads, pyarrow.binary()),
        }
    )
    pyarrow.parquet.write_table(table, folder / "all.parquet", row_group_size=row_group)
    pyarrow.orc.write_table(table, str(folder / "all.orc"), stripe_size=20_000)
    _write_odd(folder, payloads, versions)
    ids = [f"5:{number}:-1" for number in range(ROWS)]
    captured = table.append_column("message_id", pyarrow.array(ids))
    pyarrow.parquet.write_table(captured, folder / "capture.parquet", row_group_size=row_group)
    with (folder / "orders.avro").open("wb") as file:
        fastavro.writer(file, SECOND, [order for _, order in orders], sync_interval=row_group)
    (folder / "orders.jsonl").write_bytes(
        (b"\0\0\0\n\0\r\n\n\0\0\0\r\n" * 20 + b"\0" * 20_000 + b"\n") * 2
    )
    for number in range(20):
        (folder / f"{number}.bin").write_bytes(_payload(0, orders[number][1]))


def _write_odd(folder: Path, payloads: list[bytes | None], versions: list[int | None]) -> None:
    """The same in columns of types that one does not expect."""
    texts = [None if version is None else str(version) for version in versions]
    odd = pyarrow.table(
        {
            "topic": pyarrow.array(["shop/orders/created"] * ROWS).dictionary_encode(),
            "schema_version": pyarrow.array(["x", "-1", *texts[2:]]),
            "payload": pyarrow.array(payloads, pyarrow.large_binary()),
            "key": pyarrow.array(range(ROWS), pyarrow.int64()),
        }
    )
    pyarrow.parquet.write_table(odd, folder / "odd.parquet")
    numbers = [None if version is None else float(version) for version in versions]
    plain = odd.set_column(0, "topic", odd["topic"].cast(pyarrow.string()))
    plain = plain.set_column(1, "schema_version", pyarrow.array(numbers))
    plain = plain.set_column(2, "payload", odd["payload"].cast(pyarrow.binary()))
    pyarrow.orc.write_table(plain, str(folder / "odd.orc"))


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


def by_spark(opened: Opened, topics: tuple[TopicReplay, ...]) -> str:
    """The counts of a sample that Spark itself reads."""
    job = Job.of(Running(replays=topics, root=Path("/nonexistent")))
    (wanted,) = wanted_of(Running(replays=topics, root=Path("/nonexistent")))
    merged = Gathered()
    _ask(opened, job, wanted, merged, large=False)
    if wanted.sample.format not in ("avro", "raw"):
        if not merged.later:
            raise AssertionError("no row is large")
        _ask(opened, job, wanted, merged, large=True)
    return counted(in_order(merged).tallies)


def _ask(opened: Opened, job: Job, wanted: Wanted, into: Gathered, *, large: bool) -> None:
    frame = answer_frame(opened.session, job, wanted, large=large)
    with asking(opened.session, wanted, large=large):
        found = frame.toArrow()
    for answer in answers(found.to_batches()):
        merge(into, answer, job.limits)


def counted(tallies: Mapping[Key, Tally]) -> str:
    """Without examples: Spark calls files as Hadoop does."""
    for tally in tallies.values():
        for failed in tally.failures:
            failed.examples = []
    return msgspec.json.encode([[key, tally] for key, tally in tallies.items()]).decode()


def run(runner: Runner, root: Path, name: str, topics: tuple[TopicReplay, ...]) -> str:
    """What came of a replay, as text that two runs can be compared by."""
    ran = runner.run(Running(replays=topics, root=root, show_values=name == "relative"))
    return as_text(ran)


def as_text(ran: Ran) -> str:
    unread = [f"{one.sample.path}: {one.why}" for one in ran.unread]
    tallies = msgspec.json.encode([[key, tally] for key, tally in ran.tallies.items()])
    return msgspec.json.encode([ran.complete, unread, msgspec.Raw(tallies)]).decode()


def interrupted(runner: Runner, root: Path) -> Ran:
    """A replay of large files that somebody ends once the first answer is there."""
    pressed: list[int] = []

    def press(what: str, done: int, _total: int) -> None:
        if what == "reading messages" and done and not pressed:
            pressed.append(done)
            os.kill(os.getpid(), signal.SIGINT)

    write_copies(root)
    copies = topic(sample(f"file://{root}/copies/*.parquet"))
    return runner.run(Running(replays=(copies,), root=root), press)


def write_copies(root: Path) -> None:
    """Of a file of 128 MB, which is small on the disk."""
    messages = [b"\2" + bytes([number]) + bytes(4_000_000) for number in range(LARGE)]
    table = pyarrow.table({"payload": messages, "schema_version": [0] * LARGE})
    first = root / "large.parquet"
    pyarrow.parquet.write_table(table, first, compression="zstd", use_dictionary=False)
    (root / "copies").mkdir(exist_ok=True)
    for number in range(COPIES):
        copy = root / "copies" / f"{number}.parquet"
        copy.unlink(missing_ok=True)
        copy.hardlink_to(first)


def changing(runner: Runner, opened: Opened) -> Ran:
    """A replay of a table that gets more rows as soon as the first of them were read."""
    payload = "cast(repeat('x', 20000) as binary) as payload"

    def change(_what: str, done: int, _total: int) -> None:
        frame = opened.session.range(5 if done else 2).selectExpr(payload)
        frame.union(opened.session.sql("select x'00'")).createOrReplaceGlobalTempView("changing")

    change("", 0, 0)
    table = topic(sample("global_temp.changing", format="table", version=0))
    return runner.run(Running(replays=(table,), root=Path("/nonexistent")), change)


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
        if wanted("changing"):
            found["changing"] = as_text(changing(runner, opened))
        if wanted("interrupted"):
            found["interrupted"] = as_text(interrupted(runner, root))
            found["after"] = run(runner, root, "relative", replays(root)["relative"])
    return found


if __name__ == "__main__":
    chosen = set(sys.argv[3:])
    answer = main(sys.argv[1], Path(sys.argv[2]), lambda name: not chosen or name in chosen)
    sys.stdout.buffer.write(msgspec.json.encode(answer))
