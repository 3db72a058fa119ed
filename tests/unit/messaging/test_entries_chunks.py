"""Messages in chunks, between those of others."""

from __future__ import annotations

import pytest

from gitops.messaging import entries
from gitops.messaging.capture_client import Position
from gitops.messaging.entries import ChunkedMessages
from gitops.messaging.wire import pulsar_api_pb2 as api

AT = Position(1, 1, -1)


def chunk(uuid: str, number: int, count: int = 3) -> api.MessageMetadata:
    return api.MessageMetadata(uuid=uuid, chunk_id=number, num_chunks_from_msg=count)


def joined(*given: tuple[str, int]) -> list[bytes | None]:
    messages = ChunkedMessages()
    return [messages.joined(AT, chunk(uuid, number), b"%d" % number) for uuid, number in given]


def test_the_oldest_that_is_not_whole_is_known() -> None:
    messages = ChunkedMessages()
    begins = []
    for entry, (uuid, number) in enumerate(
        (("a", 0), ("b", 0), ("a", 1), ("b", 1), ("a", 0), ("b", 2), ("a", 1), ("a", 2))
    ):
        messages.joined(Position(1, entry, -1), chunk(uuid, number), b"x")
        begins.append(messages.begin and messages.begin.entry)
    assert begins == [0, 0, 0, 0, 1, 4, 4, None]


def test_a_message_is_whole_with_its_last_chunk() -> None:
    found = joined(("a", 0), ("b", 0), ("a", 1), ("b", 1), ("b", 2), ("a", 2))
    assert found == [None, None, None, None, b"012", b"012"]


def test_a_chunk_that_was_sent_twice_counts_once() -> None:
    assert joined(("a", 0), ("a", 1), ("a", 1), ("a", 2))[-1] == b"012"
    assert joined(("a", 0), ("a", 1), ("a", 0), ("a", 1), ("a", 2))[-1] == b"012"


def test_a_message_with_a_gap_is_none() -> None:
    assert joined(("a", 1), ("a", 2)) == [None, None]
    assert joined(("a", 0), ("a", 2), ("a", 1), ("a", 2)) == [None] * 4


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "_MOST_BYTES", 10)
    messages = ChunkedMessages()
    for number in range(1000):
        messages.joined(AT, chunk(str(number % 500), 0), bytes(4))
    held = messages._open  # noqa: SLF001 - what it holds
    assert sum(len(each) for one in held.values() for each in one.chunks) <= 10
    assert messages.joined(AT, chunk("499", 1), b"") is None
    assert messages.joined(AT, chunk("499", 2), b"x") == bytes(4) + b"x"
