"""Entries as brokers send them become the columns of a capture."""

from __future__ import annotations

import base64
import random
import struct
from collections.abc import Sequence
from typing import Any, Final

import pytest

pytest.importorskip("pyarrow", reason="the extra 'pulsar' is not installed")

from hypothesis import given
from hypothesis import strategies as st

from gitops.messaging.capture_client import Position
from gitops.messaging.capture_columns import to_block
from gitops.messaging.entries import Entry, EntryReader
from gitops.messaging.errors import InvalidEntryError, MessagingError, ProtocolError
from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.messaging.wire.compression import Compression, CompressionName
from gitops.messaging.wire.frames import pack_content
from tests.support.protocol_messages import fill

KINDS: Final[Sequence[CompressionName]] = ("NONE", "LZ4", "ZLIB", "ZSTD", "SNAPPY")


def at(entry: int = 0) -> api.MessageIdData:
    return api.MessageIdData(ledgerId=3, entryId=entry)


def metadata(**more: Any) -> api.MessageMetadata:  # noqa: ANN401 - any field
    return api.MessageMetadata(producer_name="p", sequence_id=7, publish_time=9, **more)


def packed(single: api.SingleMessageMetadata, payload: bytes) -> bytes:
    single.payload_size = len(payload)
    head = single.SerializeToString()
    return struct.pack(">I", len(head)) + head + payload


def rows(*entries: Entry) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = to_block(entries, "t", -1).rows.to_pylist()
    return found


def random_messages(one: random.Random, count: int) -> list[api.SingleMessageMetadata]:
    found = [api.SingleMessageMetadata() for _ in range(count)]
    for each in found:
        fill(each, one)
        each.event_time %= 2**40  # pyarrow shows no date beyond Python's
        if each.partition_key_b64_encoded:
            each.partition_key = base64.b64encode(each.partition_key.encode()).decode()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 2**32))
def test_a_batch_has_what_was_put_into_it(kind: CompressionName, seed: int) -> None:
    one = random.Random(seed)  # noqa: S311 - no secret
    messages = random_messages(one, one.randrange(1, 12))
    payloads = [one.randbytes(one.randrange(3)) for _ in messages]
    body = b"".join(map(packed, messages, payloads))
    whole = metadata(num_messages_in_batch=len(messages), uncompressed_size=len(body))
    whole.MergeFrom(api.MessageMetadata(compression=kind))
    entry = EntryReader(None).read(at(), pack_content(whole, Compression(kind)(body)))
    kept = [number for number, each in enumerate(messages) if not each.compacted_out]
    found = rows(entry)
    assert [row["message_id"] for row in found] == [f"3:0:-1:{number}" for number in kept]
    for row, number in zip(found, kept, strict=True):
        check(row, messages[number], payloads[number])


def check(row: dict[str, Any], sent: api.SingleMessageMetadata, payload: bytes) -> None:
    is_null = sent.null_value and not payload
    assert row["payload"] == (None if is_null else payload)
    assert row["is_null"] == is_null
    key = sent.partition_key.encode() if sent.HasField("partition_key") else None
    if sent.partition_key_b64_encoded:
        key = base64.b64decode(key or b"") if key is not None else None
    assert row["key"] == key
    assert row["key_is_base64"] == (None if key is None else sent.partition_key_b64_encoded)
    assert row["ordering_key"] == (sent.ordering_key if sent.HasField("ordering_key") else None)
    assert row["properties"] == [(each.key, each.value) for each in sent.properties]
    number = sent.sequence_id if sent.HasField("sequence_id") else 7
    assert row["sequence_id"] == number - 2**64 * (number >= 2**63)
    event = row["event_time"] and round(row["event_time"].timestamp() * 1000)
    assert event == (sent.event_time or None)


def test_a_message_alone_has_what_its_entry_has() -> None:
    whole = metadata(
        properties=[api.KeyValue(key="a", value="b")],
        partition_key="k",
        ordering_key=b"o",
        schema_version=struct.pack(">q", 300),
        replicated_from="east",
        deliver_at_time=5_000,
        event_time=1_000,
    )
    (row,) = rows(EntryReader(None).read(at(4), pack_content(whole, b"v")))
    assert (row["message_id"], row["key"], row["ordering_key"]) == ("3:4:-1:-1", b"k", b"o")
    assert (row["schema_version"], row["replicated_from"]) == (300, "east")
    assert (row["deliver_at"].timestamp(), row["event_time"].timestamp()) == (5, 1)
    assert (row["payload"], row["properties"]) == (b"v", [("a", "b")])
    assert (row["producer_name"], row["sequence_id"]) == ("p", 7)


def test_text_that_is_no_utf_8_is_kept_or_null() -> None:
    whole = metadata(partition_key="kk", properties=[api.KeyValue(key="pp", value="v")])
    fine = metadata(properties=[api.KeyValue(key="a", value="b")])
    broken = whole.SerializeToString().replace(b"kk", b"\xff\xfe").replace(b"pp", b"\xfe\xff")
    content = struct.pack(">I", len(broken)) + broken + b"v"
    entries = [EntryReader(None).read(at(), each) for each in (content, pack_content(fine, b"w"))]
    found = rows(*entries)
    assert [row["key"] for row in found] == [b"\xff\xfe", None]
    assert [row["properties"] for row in found] == [None, [("a", "b")]]


def test_a_batch_goes_on_behind_the_last_message_of_it() -> None:
    body = b"".join(packed(api.SingleMessageMetadata(), b"%d" % n) for n in range(5))
    content = pack_content(metadata(num_messages_in_batch=5), body)
    reader = EntryReader(Position(3, 1, 2))
    found = rows(reader.read(at(1), content), reader.read(at(2), content))
    assert [row["payload"] for row in found] == [b"3", b"4", b"0", b"1", b"2", b"3", b"4"]


def test_a_batch_that_stays_encrypted_is_one_message() -> None:
    keys = [api.EncryptionKeys(key="k", value=b"v")]
    whole = metadata(num_messages_in_batch=5, encryption_keys=keys, uncompressed_size=9)
    whole.compression = api.CompressionType.LZ4
    (row,) = rows(EntryReader(None).read(at(), pack_content(whole, b"secret")))
    assert (row["message_id"], row["payload"]) == ("3:0:-1:-1", b"secret")
    assert row["encryption"]["batch_size"] == 5
    assert row["encryption"]["compression"] == "LZ4"
    assert not row["encryption"]["is_decrypted"]


def test_a_marker_and_a_chunk_are_no_message() -> None:
    reader = EntryReader(None)
    marker = reader.read(at(), pack_content(metadata(marker_type=21), b"x"))
    chunks = [metadata(uuid="u", chunk_id=n, num_chunks_from_msg=2) for n in range(2)]
    first, last = (reader.read(at(n), pack_content(each, b"c")) for n, each in enumerate(chunks, 1))
    assert [row["payload"] for row in rows(marker, first)] == []
    assert [row["message_id"] for row in rows(marker, first, last)] == ["3:2:-1:-1"]


def test_a_wrong_checksum_is_an_error() -> None:
    content = pack_content(metadata(), b"v")
    with pytest.raises(ProtocolError, match="checksum"):
        EntryReader(None).read(at(), content[:-1] + b"w")


def test_a_payload_without_end_is_not_decompressed() -> None:
    whole = metadata(uncompressed_size=2**32 - 1)
    whole.compression = api.CompressionType.ZLIB
    with pytest.raises(InvalidEntryError, match="4294967295 bytes"):
        EntryReader(None).read(at(), pack_content(whole, Compression("ZLIB")(bytes(1000))))


@pytest.mark.slow
@given(st.binary(max_size=300), st.integers(0, 2**31 - 1), st.sampled_from(KINDS))
def test_any_bytes_are_messages_or_an_error(body: bytes, count: int, kind: CompressionName) -> None:
    whole = metadata(num_messages_in_batch=count, uncompressed_size=len(body))
    whole.MergeFrom(api.MessageMetadata(compression=kind))
    for content in (body, pack_content(whole, body), pack_content(whole, Compression(kind)(body))):
        try:
            to_block([EntryReader(None).read(at(), content)], "t", -1)
        except MessagingError as error:
            assert error.what  # noqa: PT017 - both ways are right
