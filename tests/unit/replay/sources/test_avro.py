"""Avro containers, cut into the payloads that their messages had."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import fastavro
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.replay.sources import avro
from tests.support.source_rows import Known, in_memory, payloads, rows, whole

SCHEMA: dict[str, Any] = {
    "type": "record",
    "name": "Node",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "text", "type": ["null", "string", {"type": "array", "items": "int"}]},
        {"name": "by", "type": {"type": "map", "values": "double"}},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
        {"name": "next", "type": ["null", "Node"]},
    ],
}


def record(number: int) -> dict[str, Any]:
    text = (None, "x" * number, list(range(number % 7)))[number % 3]
    inner = record(number // 3) if number > 4 else None
    by = {"k": 1.5} if number % 2 else {}
    return {"id": number, "text": text, "by": by, "kind": "AB"[number % 2], "next": inner}


def encoded(schema: Any, values: Sequence[object]) -> list[bytes]:  # noqa: ANN401 - any schema
    found = []
    for value in values:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, fastavro.parse_schema(schema), value)
        found.append(out.getvalue())
    return found


def container(schema: Any, values: Sequence[object], **options: Any) -> bytes:  # noqa: ANN401
    out = io.BytesIO()
    fastavro.writer(out, fastavro.parse_schema(schema), values, **options)
    return out.getvalue()


def cut(data: bytes) -> tuple[list[bytes | None], str]:
    return payloads(in_memory(whole(Path("a.avro"), "avro"), data))


@pytest.mark.slow
@pytest.mark.parametrize("codec", ["null", "deflate", "bzip2", "xz"])
@pytest.mark.parametrize("block", [1, 300, 1_000_000])
def test_payloads_are_what_was_written(codec: str, block: int) -> None:
    values = [record(number) for number in range(300)]
    data = container(SCHEMA, values, codec=codec, sync_interval=block)
    assert cut(data) == (encoded(SCHEMA, values), "")


def packed(codec: str, block: bytes, count: int) -> bytes:
    """A container of one block that is packed already."""
    empty = container("long", [], codec="null")
    header, sync = empty[:-16], empty[-16:]
    header = header.replace(b"\x08null", bytes([2 * len(codec)]) + codec.encode())
    return header + sync + long(count) + long(len(block)) + block + sync


def long(number: int) -> bytes:
    (found,) = encoded("long", [number])
    return found


def test_snappy_and_zstandard_are_unpacked() -> None:
    import zlib

    data = b"\x02\x04\x06" * 100
    snappy = pyarrow.compress(data, "snappy", asbytes=True) + zlib.crc32(data).to_bytes(4, "big")
    zstandard = pyarrow.compress(data, "zstd", asbytes=True)
    for codec, block in (("snappy", snappy), ("zstandard", zstandard)):
        found, problem = cut(packed(codec, block, 300))
        assert (found[:3], len(found), problem) == ([b"\x02", b"\x04", b"\x06"], 300, "")
    assert cut(packed("snappy", snappy[:-1] + b"\0", 300)) == (
        [],
        "a.avro cannot be unpacked in block 1",
    )


def test_the_version_is_that_of_the_schema_in_the_container() -> None:
    data = container("long", [1, 2])
    part = in_memory(whole(Path("a.avro"), "avro"), data)
    definition = json.dumps(fastavro.reader(io.BytesIO(data)).writer_schema).encode()
    assert [row["version"] for row in rows(part, Known({definition: 4}))[0]] == [4, 4]
    assert [row["version"] for row in rows(part)[0]] == [None, None]
    assert [(row["file"], row["row"]) for row in rows(part)[0]] == [("a.avro", 1), ("a.avro", 2)]


@pytest.mark.slow
@pytest.mark.parametrize("values", [10, 300])
def test_of_a_broken_file_the_messages_before_the_break_are_read(values: int) -> None:
    written = [record(number) for number in range(values)]
    data = container(SCHEMA, written, sync_interval=1)
    found, problem = cut(data[:-20])
    assert found == encoded(SCHEMA, written)[:-1]
    assert problem.startswith("a.avro is cut off")
    broken = bytearray(data)
    broken[-17] = 0x7E  # the branch of the last union
    found, problem = cut(bytes(broken))
    assert found == encoded(SCHEMA, written)[:-1]
    assert problem.startswith(f"a.avro is broken at message {values}: ")


@pytest.mark.slow
@pytest.mark.parametrize("block", [1, 300, 1_000_000])
def test_messages_are_cut_so_many_at_a_time(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(avro, "MOST_MESSAGES", 7)
    monkeypatch.setattr(avro, "MOST_MESSAGES", 7)
    written = [record(number) for number in range(300)]
    data = container(SCHEMA, written, sync_interval=block)
    part = in_memory(whole(Path("a.avro"), "avro"), data)
    pieces = [len(one) for one in avro.AvroSource().batches(part, Known())]
    assert max(pieces) <= 14
    assert sum(pieces) == 300
    assert cut(data) == (encoded(SCHEMA, written), "")
    broken = bytearray(data)
    broken[-17] = 0x7E
    assert cut(bytes(broken))[0] == encoded(SCHEMA, written)[:-1]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "a.avro is not an Avro container"),
        (b"PAR1 and more", "a.avro is not an Avro container"),
        (container("long", [1])[:30], "a.avro is cut off"),
        (packed("long-range", b"\x02", 1), "a.avro is packed with 'long-range', known are null, "),
        (
            packed("null", b"\x02\x04", 1),
            "a.avro is broken at message 2: its block has 1 bytes more",
        ),
        (packed("null", b"\x02", -1), "a.avro is broken in block 1"),
        (
            packed("null", b"\x02", 2**60),
            "a.avro is broken at message 1: a block of 1 bytes claims",
        ),
        (packed("deflate", b"\xff" * 9, 1), "a.avro cannot be unpacked in block 1"),
    ],
    ids=("empty", "other", "cut", "codec", "more", "negative", "claims", "deflate"),
)
def test_what_is_wrong_with_a_container_is_told(data: bytes, problem: str) -> None:
    _, told = cut(data)
    assert told.startswith(problem)


def test_a_length_that_is_forged_takes_no_memory() -> None:
    data = packed("null", b"", 0)[:-17] + long(2**40)
    assert cut(data)[1].startswith("a.avro has a piece of 1,099,511,627,776 bytes")


def test_a_schema_that_is_not_valid_is_told() -> None:
    data = container("long", [1]).replace(b'"long"', b'"lung"')
    assert cut(data)[1].startswith("a.avro brings a schema that is not valid: ")


@given(st.binary(max_size=200), st.integers(0, 400))
def test_random_bytes_never_do_more_than_end_the_reading(noise: bytes, at: int) -> None:
    data = container(SCHEMA, [record(number) for number in range(60)], sync_interval=1)
    cut(data[:at] + noise + data[at + len(noise) :])
