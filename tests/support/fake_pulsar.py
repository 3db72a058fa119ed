"""A Pulsar broker in this process: it speaks the binary protocol, and keeps what it is sent.

By default it does what a broker does. `broker.replies[kind]` replaces its answer to one kind of
command: a function of the broker, the connection and the frame, which answers what to send.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import google_crc32c

from gitops.messaging.client import MessagingClient
from gitops.messaging.connection_settings import ConnectionSettings, Deadlines
from gitops.messaging.producer import Producer
from gitops.messaging.settings import ProducerSettings
from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.messaging.wire.frames import command_frame
from tests.support.message_schemas import avro

Kind = api.BaseCommand
Reply = api.BaseCommand | bytes


class Frame(NamedTuple):
    """What a client sent; metadata and payload are those of SEND."""

    command: api.BaseCommand
    metadata: api.MessageMetadata | None = None
    payload: bytes = b""

    @property
    def content(self) -> Any:  # noqa: ANN401 - any command
        """The command itself."""
        return getattr(self.command, _FIELDS[self.command.type])


@dataclass(slots=True, eq=False)
class FakeConnection:
    """One client that is connected."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def send(self, *replies: Reply) -> None:
        """Write commands, or bytes as they are."""
        for reply in replies:
            self.writer.write(reply if isinstance(reply, bytes) else command_frame(reply))

    def cut(self) -> None:
        """End it at once."""
        self.writer.transport.abort()


Answer = Callable[["FakeBroker", FakeConnection, Frame], Iterable[Reply]]


@dataclass(slots=True, eq=False)
class FakeBroker:
    """Topics by name with their schemas and frames, and how often each command came."""

    url: str = ""
    protocol_version: int = 21
    max_message_size: int = 5 * 1024 * 1024
    partitions: int = 0
    schemas: list[api.Schema] = field(default_factory=list)
    stored: dict[str, list[Frame]] = field(default_factory=dict)
    frames: list[Frame] = field(default_factory=list)
    replies: dict[int, Answer] = field(default_factory=dict)
    connections: list[FakeConnection] = field(default_factory=list)
    last_sequence_id: int = -1
    topics: dict[int, str] = field(default_factory=dict)
    """The topic of each producer id."""

    def count(self, kind: int) -> int:
        """How many commands of a kind came."""
        return sum(frame.command.type == kind for frame in self.frames)

    def sent(self, kind: int) -> list[Any]:
        """The commands of a kind that came."""
        return [frame.content for frame in self.frames if frame.command.type == kind]

    def cut(self) -> None:
        """End all connections at once."""
        connections, self.connections = self.connections, []
        for each in connections:
            each.cut()

    def version_of(self, schema: api.Schema) -> bytes:
        """The version of a schema, the next one where it is new."""
        if schema not in self.schemas:
            self.schemas.append(schema)
        return struct.pack(">q", self.schemas.index(schema))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one client until it or the broker ends."""
        connection = FakeConnection(reader, writer)
        self.connections.append(connection)
        try:
            while True:
                frame = await _read(reader)
                self.frames.append(frame)
                kind = frame.command.type
                answer = self.replies.get(kind) or _DEFAULTS[kind]
                connection.send(*answer(self, connection, frame))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def fake_broker() -> AsyncIterator[FakeBroker]:
    """A broker that listens on loopback while the block runs."""
    broker = FakeBroker()
    server = await asyncio.start_server(broker.serve, "127.0.0.1", 0)
    broker.url = f"pulsar://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield broker
    finally:
        server.close()
        broker.cut()
        await server.wait_closed()


def run_with_broker(test: Callable[[FakeBroker], Awaitable[None]]) -> None:
    """Run a test that gets a broker; one that hangs fails after a minute."""

    async def main() -> None:
        async with asyncio.timeout(60), fake_broker() as broker:
            await test(broker)

    asyncio.run(main())


@asynccontextmanager
async def opened_producer(
    broker: FakeBroker,
    schema: Any = None,  # noqa: ANN401 - whatever a client accepts
    **settings: Any,  # noqa: ANN401 - as ProducerSettings has them
) -> AsyncIterator[Producer]:
    """A producer on the topic `orders`, of the first schema unless another one is given."""
    deadlines = Deadlines(connect=20, request=20)
    async with MessagingClient(broker.url, ConnectionSettings(deadlines=deadlines)) as client:
        yield await client.producer("orders", schema or avro(), ProducerSettings(**settings))


async def _read(reader: asyncio.StreamReader) -> Frame:
    (total,) = struct.unpack(">I", await reader.readexactly(4))
    data = await reader.readexactly(total)
    (size,) = struct.unpack_from(">I", data)
    command = api.BaseCommand.FromString(data[4 : 4 + size])
    rest = data[4 + size :]
    if not rest:
        return Frame(command)
    magic, checksum, length = struct.unpack_from(">HII", rest)
    assert magic == 0x0E01
    assert checksum == google_crc32c.value(rest[6:])
    metadata = api.MessageMetadata.FromString(rest[10 : 10 + length])
    return Frame(command, metadata, rest[10 + length :])


def split_batch(frame: Frame) -> list[tuple[api.SingleMessageMetadata, bytes]]:
    """The messages of an uncompressed batch."""
    found: list[tuple[api.SingleMessageMetadata, bytes]] = []
    at = 0
    while at < len(frame.payload):
        (size,) = struct.unpack_from(">I", frame.payload, at)
        single = api.SingleMessageMetadata.FromString(frame.payload[at + 4 : at + 4 + size])
        at += 4 + size + single.payload_size
        found.append((single, frame.payload[at - single.payload_size : at]))
    return found


# What a broker does.


def _connected(broker: FakeBroker, _connection: FakeConnection, frame: Frame) -> Iterable[Reply]:
    version = min(broker.protocol_version, frame.content.protocol_version)
    content = api.CommandConnected(
        server_version="fake", protocol_version=version, max_message_size=broker.max_message_size
    )
    return [api.BaseCommand(type="CONNECTED", connected=content)]


def _partitions(broker: FakeBroker, _connection: FakeConnection, frame: Frame) -> Iterable[Reply]:
    content = api.CommandPartitionedTopicMetadataResponse(
        partitions=broker.partitions, request_id=frame.content.request_id, response="Success"
    )
    kind = "PARTITIONED_METADATA_RESPONSE"
    return [api.BaseCommand(type=kind, partitionMetadataResponse=content)]


def _lookup(broker: FakeBroker, _connection: FakeConnection, frame: Frame) -> Iterable[Reply]:
    content = api.CommandLookupTopicResponse(
        brokerServiceUrl=broker.url, response="Connect", request_id=frame.content.request_id
    )
    return [api.BaseCommand(type="LOOKUP_RESPONSE", lookupTopicResponse=content)]


def _producer(broker: FakeBroker, _connection: FakeConnection, frame: Frame) -> Iterable[Reply]:
    command = frame.content
    broker.topics[command.producer_id] = command.topic
    content = api.CommandProducerSuccess(
        request_id=command.request_id,
        producer_name=command.producer_name or "fake-0-0",
        last_sequence_id=broker.last_sequence_id,
        schema_version=broker.version_of(command.schema) if command.HasField("schema") else b"",
    )
    return [api.BaseCommand(type="PRODUCER_SUCCESS", producer_success=content)]


def _schema(broker: FakeBroker, _connection: FakeConnection, frame: Frame) -> Iterable[Reply]:
    content = api.CommandGetSchemaResponse(request_id=frame.content.request_id)
    if broker.schemas:
        content.schema.CopyFrom(broker.schemas[-1])
        content.schema_version = broker.version_of(broker.schemas[-1])
    else:
        content.error_code, content.error_message = api.TopicNotFound, "no schema"
    return [api.BaseCommand(type="GET_SCHEMA_RESPONSE", getSchemaResponse=content)]


def _get_or_create(
    broker: FakeBroker, _connection: FakeConnection, frame: Frame
) -> Iterable[Reply]:
    found = frame.content.schema
    content = api.CommandGetOrCreateSchemaResponse(
        request_id=frame.content.request_id,
        schema_version=broker.version_of(found) if found.type else b"",
    )
    kind = "GET_OR_CREATE_SCHEMA_RESPONSE"
    return [api.BaseCommand(type=kind, getOrCreateSchemaResponse=content)]


def _send(broker: FakeBroker, _connection: FakeConnection, frame: Frame) -> Iterable[Reply]:
    stored = broker.stored.setdefault(broker.topics[frame.content.producer_id], [])
    stored.append(frame)
    return [receipt(frame, entry_id=len(stored) - 1)]


def receipt(frame: Frame, entry_id: int) -> api.BaseCommand:
    """The receipt of a SEND."""
    content = api.CommandSendReceipt(
        producer_id=frame.content.producer_id,
        sequence_id=frame.content.sequence_id,
        message_id=api.MessageIdData(ledgerId=7, entryId=entry_id),
    )
    return api.BaseCommand(type="SEND_RECEIPT", send_receipt=content)


def refused(frame: Frame, error: str, message: str = "because") -> api.BaseCommand:
    """The ERROR that answers a request."""
    content = api.CommandError(
        request_id=frame.content.request_id,
        error=error,
        message=message,
    )
    return api.BaseCommand(type="ERROR", error=content)


def _closed(_broker: FakeBroker, _connection: FakeConnection, frame: Frame) -> Iterable[Reply]:
    content = api.CommandSuccess(request_id=frame.content.request_id)
    return [api.BaseCommand(type="SUCCESS", success=content)]


def _pong(_broker: FakeBroker, _connection: FakeConnection, _frame: Frame) -> Iterable[Reply]:
    return [api.BaseCommand(type="PONG", pong=api.CommandPong())]


def look_up(
    broker: FakeBroker,
    response: str = "Connect",
    url: str = "",
    *,
    authoritative: bool = False,
    proxied: bool = False,
) -> None:
    """Have the broker answer lookups so; `url` is its own unless another one is given."""

    def answer(_b: FakeBroker, _c: FakeConnection, frame: Frame) -> list[api.BaseCommand]:
        content = api.CommandLookupTopicResponse(
            request_id=frame.content.request_id,
            response=response,
            brokerServiceUrl=url or broker.url,
            authoritative=authoritative,
            proxy_through_service_url=proxied,
            error="ServiceNotReady",
            message="not yet",
        )
        return [api.BaseCommand(type="LOOKUP_RESPONSE", lookupTopicResponse=content)]

    broker.replies[Kind.LOOKUP] = answer


def nothing(_broker: FakeBroker, _connection: FakeConnection, _frame: Frame) -> Iterable[Reply]:
    """No answer at all."""
    return []


_DEFAULTS: Final[dict[int, Answer]] = {
    Kind.CONNECT: _connected,
    Kind.PARTITIONED_METADATA: _partitions,
    Kind.LOOKUP: _lookup,
    Kind.PRODUCER: _producer,
    Kind.GET_SCHEMA: _schema,
    Kind.GET_OR_CREATE_SCHEMA: _get_or_create,
    Kind.SEND: _send,
    Kind.CLOSE_PRODUCER: _closed,
    Kind.CLOSE_CONSUMER: _closed,
    Kind.PING: _pong,
    Kind.PONG: nothing,
    Kind.AUTH_RESPONSE: nothing,
}
_FIELDS: Final = {
    number: api.BaseCommand.DESCRIPTOR.fields_by_number[number].name
    for number in api.BaseCommand.Type.values()
}
