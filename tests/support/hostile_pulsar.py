"""What a hostile server sends in place of Pulsar's protocol, by seed."""

from __future__ import annotations

import asyncio
import random
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.messaging.wire.frames import command_frame, pack_content
from tests.support.fake_pulsar import Answer, FakeBroker, FakeConnection, Frame
from tests.support.fake_topic import message_frame
from tests.support.protocol_messages import fill

_MOST: Final = 1_000_000
"""Bytes of an answer, which is made at once."""

_ENDLESS: Final = 2_000_000
"""Bytes after which an endless stream of a test stops to send, and stays open."""

Pieces = AsyncIterator[bytes]
_CONNECTED: Final = command_frame(
    api.BaseCommand(
        type="CONNECTED",
        connected=api.CommandConnected(server_version="x", protocol_version=21),
    )
)


async def noise(one: random.Random) -> Pieces:
    """Random bytes, in pieces."""
    for _ in range(one.randrange(1, 6)):
        yield one.randbytes(one.choice((1, 7, 100, 5000)))


async def wrong_sizes(one: random.Random) -> Pieces:
    """Frames whose sizes do not fit each other or what follows."""
    if one.random() < 0.5:
        yield _CONNECTED
    total = one.choice((0, 1, 3, 4, 5, 20, 2**20, 2**31 - 1, 2**31, 2**32 - 1))
    size = one.choice((0, 1, 4, 100, 2**31, 2**32 - 1))
    yield struct.pack(">II", total, size) + one.randbytes(one.randrange(40))


async def endless(one: random.Random) -> Pieces:
    """The same command again and again."""
    content = one.choice(("ping", "pong", "authChallenge", "success", "send_receipt", "connected"))
    command = _random_command(one, content)
    frames = command_frame(command) * 200
    for _ in range(_ENDLESS // len(frames)):
        yield frames


async def endless_frame(one: random.Random) -> Pieces:
    """One frame of the largest size that is allowed, which never ends or ends in nothing."""
    yield struct.pack(">II", 5 * 1024 * 1024, one.choice((10, 5_000_000)))
    for _ in range(one.randrange(60)):
        yield bytes(100_000)


async def damage(one: random.Random) -> Pieces:
    """Commands that are right but for a few bytes."""
    yield _CONNECTED
    for _ in range(20):
        data = bytearray(command_frame(_random_command(one)))
        for _ in range(one.randrange(4)):
            data[one.randrange(len(data))] = one.randrange(256)
        yield bytes(data)


async def wrong_answers(one: random.Random) -> Pieces:
    """Commands of any type that answer the first requests, whatever they were."""
    yield _CONNECTED
    for request_id in range(1, 30):
        command = _random_command(one)
        content = getattr(command, command.ListFields()[-1][0].name)
        if hasattr(content, "request_id"):
            content.request_id = request_id % 4
        yield command_frame(command)


async def half(one: random.Random) -> Pieces:
    """The beginning of a greeting, or of an answer."""
    frame = _CONNECTED + command_frame(_random_command(one))
    yield frame[: one.randrange(len(frame))]


KINDS: Final[tuple[Callable[[random.Random], Pieces], ...]] = (
    noise, wrong_sizes, endless, endless_frame, damage, wrong_answers, half,
)  # fmt: skip


def _random_command(one: random.Random, name: str = "") -> api.BaseCommand:
    fields = [each for each in api.BaseCommand.DESCRIPTOR.fields if each.message_type is not None]
    field = next((each for each in fields if each.name == name), None) or one.choice(fields)
    command = api.BaseCommand(type=api.BaseCommand.Type.Name(field.number))
    content = getattr(command, field.name)
    content.SetInParent()
    fill(content, one)
    return command


@asynccontextmanager
async def hostile_server(seed: int) -> AsyncIterator[str]:
    """The service URL of a server that sends what the seed says on every connection."""
    one = random.Random(seed)  # noqa: S311 - no secret
    kind, closes = KINDS[seed % len(KINDS)], one.random() < 0.3
    over = asyncio.Event()

    async def serve(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async for piece in kind(one):
                writer.write(piece)
                await writer.drain()
            if not closes:
                await over.wait()
        except ConnectionError:
            pass
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"pulsar://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        over.set()
        server.close()


async def hostile_answer(seed: int) -> Answer:
    """What a broker answers a command with, in place of what it should."""
    one = random.Random(seed)  # noqa: S311 - no secret
    data = bytearray()
    async for piece in one.choice(KINDS)(one):
        data += piece
        if len(data) >= _MOST:
            break
    return lambda _broker, _connection, _frame: [bytes(data)]


def hostile_lookups(seed: int) -> Answer:
    """Answers of brokers that lead anywhere: to themselves, nobody, and what is no address."""
    one = random.Random(seed)  # noqa: S311 - no secret

    def answer(broker: FakeBroker, _connection: FakeConnection, frame: Frame) -> list[bytes]:
        command = api.BaseCommand(type="LOOKUP_RESPONSE")
        content = command.lookupTopicResponse
        fill(content, one)
        content.request_id = frame.content.request_id
        kind = api.CommandLookupTopicResponse
        content.response = one.choice([kind.Redirect] * 3 + [kind.Connect, kind.Failed])
        urls = (broker.url, broker.url, "pulsar://127.0.0.1:1", "pulsar://", "http://a:1", "é" * 99)
        content.brokerServiceUrl = one.choice(urls)
        return [command_frame(command)] * one.randrange(1, 3)

    return answer


def hostile_entries(seed: int) -> Answer:
    """Entries with right checksums, and with metadata and batches that are anything."""
    one = random.Random(seed)  # noqa: S311 - no secret

    def answer(_broker: FakeBroker, _connection: FakeConnection, frame: Frame) -> list[bytes]:
        consumer = frame.content.consumer_id
        return [message_frame(consumer, entry, _entry(one)) for entry in range(20)]

    return answer


def _entry(one: random.Random) -> bytes:
    metadata = api.MessageMetadata()
    fill(metadata, one)
    if one.random() < 0.8:  # most are let further in
        metadata.ClearField("encryption_keys")
        metadata.ClearField("marker_type")
    metadata.num_messages_in_batch = one.choice((-1, 0, 1, 3, 1000, 2**31 - 1))
    metadata.num_chunks_from_msg = one.choice((0, 0, 2, 2**31 - 1))
    metadata.uncompressed_size = one.choice((0, 10, 2**20, 2**31 - 1))
    single = api.SingleMessageMetadata()
    fill(single, one)
    single.payload_size = one.choice((-1, 0, 5, 2**31 - 1))
    head = single.SerializeToString()
    size = one.choice((len(head), len(head), 0, 2**32 - 1))
    content = pack_content(metadata, (struct.pack(">I", size) + head + b"12345") * 3)
    if one.random() < 0.1:
        content = content[: one.randrange(len(content))]
    return content
