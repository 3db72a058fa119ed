"""The samples that replays on Spark read: orders in every format, some of them broken."""

from __future__ import annotations

import io
import random
import uuid
from collections.abc import Mapping
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
from gitops.model.replay import Direction, ReaderSchema, Sample, TopicReplay
from gitops.model.schema import SchemaInfo, SchemaType

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


PLAIN: Final[dict[str, Any]] = {
    "type": "record",
    "name": "Event",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    ],
}
TYPED: Final = {
    **PLAIN,
    "fields": [
        {"name": "id", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
    ],
}
"""In a POJO: a UUID, which not every text is, and an Instant."""


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


def logical(*samples: Sample) -> TopicReplay:
    """A proposed schema that gives the values other logical types."""
    written, proposed = map(_info, (PLAIN, TYPED))
    reader = ReaderSchema(
        name="proposed", direction=Direction.BACKWARD, schema=proposed, gates=True
    )
    versions = {0: written, 3: written}
    return replace(topic(*samples), versions=versions, proposed=proposed, readers=(reader,))


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
    _write_logical(folder, row_group)
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


def _write_logical(folder: Path, row_group: int) -> None:
    """Events, one in fifty of which has another id than a UUID."""
    schema = {**PLAIN, "fields": [PLAIN["fields"][0], {"name": "at", "type": "long"}]}
    payloads = []
    for number in range(ROWS):
        out = io.BytesIO()
        its = f"event {number}" if number % 50 == 7 else str(uuid.UUID(int=number))
        fastavro.schemaless_writer(out, schema, {"id": its, "at": 1_000 * number})
        payloads.append(out.getvalue())
    table = pyarrow.table({"payload": payloads})
    pyarrow.parquet.write_table(table, folder / "logical.parquet", row_group_size=row_group)
    pyarrow.orc.write_table(table, str(folder / "logical.orc"), stripe_size=20_000)


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
