"""The producer of several schemas (PIP-43), over all partitions of its topic."""

from __future__ import annotations

import asyncio
import base64
from collections import deque
from collections.abc import Sequence
from typing import Any, Final, Self

from gitops.messaging.batches import MessageId, PendingMessage
from gitops.messaging.errors import ClosedProducerError, SendExpiredError
from gitops.messaging.message import Interceptor, Message, MessageBuilder
from gitops.messaging.routing import HASHES
from gitops.messaging.schema_versions import SchemaVersions
from gitops.messaging.settings import ProducerSettings
from gitops.messaging.topic_producer import TopicProducer
from gitops.messaging.values.key_value import KeyValueSchema
from gitops.messaging.values.schema import ValueSchema, key_values
from gitops.messaging.values.table import schema_of
from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.model.errors import UsageError

_UNSIGNED: Final = (1 << 64) - 1


class Capacity:
    """How much may be pending; whoever finds no room waits, first come, first served."""

    def __init__(self, messages: int, size: int) -> None:
        self._most_messages = messages
        self._most_bytes = size
        self._messages = 0
        self._bytes = 0
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    def try_take(self, size: int) -> bool:
        """Take room for a message of `size` bytes if there is, and nobody waits for it."""
        if self._waiting or not self._has_room(size):
            return False
        self._take(size)
        return True

    async def take(self, size: int, seconds: float, where: str) -> None:
        """Wait for room; raises SendExpiredError."""
        room: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((size, room))
        try:
            async with asyncio.timeout(seconds):
                await room
        except BaseException as error:
            if room.done() and not room.cancelled():
                self.give_back(size)
            self._wake()
            if isinstance(error, TimeoutError):
                raise SendExpiredError(
                    f"nothing was acknowledged within {seconds:g} s", where=where
                ) from None
            raise

    def give_back(self, size: int) -> None:
        """Room for others."""
        self._messages -= 1
        self._bytes -= size
        if self._waiting:
            self._wake()

    def _wake(self) -> None:
        while self._waiting:
            size, room = self._waiting[0]
            if not room.done():
                if not self._has_room(size):
                    return
                self._take(size)
                room.set_result(None)
            self._waiting.popleft()

    def _has_room(self, size: int) -> bool:
        """A message above the bound is let in alone."""
        fits = self._bytes + size <= self._most_bytes
        return self._messages < self._most_messages and (fits or self._messages == 0)

    def _take(self, size: int) -> None:
        self._messages += 1
        self._bytes += size


class Producer:
    """Sends messages to one topic, each with any schema; made by `MessagingClient.producer`."""

    def __init__(
        self,
        topic: str,
        schema: ValueSchema,
        settings: ProducerSettings,
        interceptors: Sequence[Interceptor] = (),
    ) -> None:
        self.topic: Final = topic
        self.schema: Final = schema
        self.partitions: tuple[TopicProducer, ...] = ()
        self.versions = SchemaVersions()
        self._settings = settings
        self._interceptors = interceptors
        self._capacity = Capacity(settings.pending_messages, settings.pending_bytes)
        self._hash = HASHES[settings.hashing]
        self._next_partition = 0
        self._is_closed = False

    @property
    def is_closed(self) -> bool:
        """Whether it accepts no more messages."""
        return self._is_closed

    @property
    def name(self) -> str:
        """The name that the broker knows, that of the first partition where there are several."""
        return self.partitions[0].name

    @property
    def last_sequence_id(self) -> int:
        """The largest that is acknowledged, -1 where there is none."""
        return max(partition.last_sequence_id for partition in self.partitions)

    def new_message(self, schema: Any = None) -> MessageBuilder:  # noqa: ANN401 - see schema_of
        """A message with the producer's own schema, or with another one.

        Raises UsageError for another one where `multi_schema` is disabled.
        """
        if schema is None:
            return MessageBuilder(self, self.schema)
        other_schema = schema_of(schema)
        if self._settings.multi_schema == "disabled" and other_schema.digest != self.schema.digest:
            raise UsageError(
                "the producer sends only messages of its schema",
                where=self.topic,
                hint='open it with multi_schema="auto" to send messages of other schemas',
            )
        return MessageBuilder(self, other_schema)

    async def enqueue(
        self, message: Message, *, is_awaited: bool = False
    ) -> asyncio.Future[MessageId]:
        """As `MessageBuilder.enqueue`; `is_awaited`: the caller waits for the receipt."""
        eligible = [item for item in self._interceptors if item.eligible(message)]
        for interceptor in eligible:
            message = interceptor.before_send(message)
        pending = self._encode(message)
        pending.is_awaited = is_awaited
        if not self._capacity.try_take(pending.size):
            seconds = self._settings.room_seconds or self._settings.send_seconds
            await self._capacity.take(pending.size, seconds, self.topic)
        if self._is_closed:
            self._capacity.give_back(pending.size)
            raise ClosedProducerError("the producer is closed", where=self.topic)
        for interceptor in eligible:
            _tell(interceptor, message, pending.receipt)
        self._partition(message).enqueue(pending)
        return pending.receipt

    async def register(self, schema: Any) -> bytes:  # noqa: ANN401 - see schema_of
        """The version that the broker has or makes for a schema, before a message needs it.

        Raises BrokerRefusedError with the broker's reason. Waits while there is no connection.
        """
        wanted = schema_of(schema)
        known = self.versions.find(wanted)
        return await self.partitions[0].register(wanted) if known is None else known

    async def flush(self) -> None:
        """Send what waits in batches, until all so far is acknowledged or has failed.

        Raises the first error since the last flush of what was enqueued, also where a receipt has
        it. The error of a `send` is raised there, and not again.
        """
        flushes = (partition.flush() for partition in self.partitions)
        base_exceptions = await asyncio.gather(*flushes, return_exceptions=True)
        for error in base_exceptions:
            if error is not None:
                raise error

    async def close(self) -> None:
        """Flush, and close it on every broker; how messages end is told by `flush` and receipts."""
        if self._is_closed:
            return
        self._is_closed = True
        flushes = (partition.flush() for partition in self.partitions)
        await asyncio.gather(*flushes, return_exceptions=True)
        await self.versions.close()
        await asyncio.gather(*(partition.close() for partition in self.partitions))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    def release(self, message: PendingMessage) -> None:
        """A message is done."""
        self._capacity.give_back(message.size)

    def _partition(self, message: Message) -> TopicProducer:
        """By the key; without one the same as before until its batch is sent, then the next."""
        count = len(self.partitions)
        if message.partition is not None:
            return self.partitions[message.partition]
        if count == 1:
            return self.partitions[0]
        if message.key is not None:
            return self.partitions[self._hash(message.key) % count]
        if not self.partitions[self._next_partition].has_open_batch:
            self._next_partition = (self._next_partition + 1) % count
        return self.partitions[self._next_partition]

    def _encode(self, message: Message) -> PendingMessage:
        single = api.SingleMessageMetadata()
        payload = _payload(message, single)
        if message.key is not None:
            single.partition_key = message.key
            if message.has_encoded_key:
                single.partition_key_b64_encoded = True
        if message.properties:
            single.properties.extend(key_values(message.properties))
        if message.ordering_key is not None:
            single.ordering_key = message.ordering_key
        if message.event_time is not None:
            single.event_time = message.event_time & _UNSIGNED  # Java has large ones as negative
        loop = asyncio.get_running_loop()
        return PendingMessage(
            message.schema,
            single,
            payload,
            loop.create_future(),
            loop.time() + self._settings.send_seconds,
            message.sequence_id,
            message.deliver_at,
            encryption=message.encryption,
        )


def _payload(message: Message, single: api.SingleMessageMetadata) -> bytes:
    """The value's bytes; the key of a pair that has it apart becomes the message's key."""
    schema, value = message.schema, message.value
    if value is None:
        single.null_value = True
        return b""
    if message.encryption is not None:
        return bytes(value)
    if not (schema.separates_key and isinstance(schema, KeyValueSchema)):
        return schema.encode(value)
    key, payload = schema.split(value)
    if key is None:
        single.null_partition_key = True
    else:
        message.key = base64.b64encode(key).decode()
        message.has_encoded_key = True
    if payload is None:
        single.null_value = True
    return payload or b""


def _tell(interceptor: Interceptor, message: Message, receipt: asyncio.Future[MessageId]) -> None:
    def on_done(done: asyncio.Future[MessageId]) -> None:
        if done.cancelled():
            return
        error = done.exception()
        message_id = None if error else done.result()
        interceptor.on_send_acknowledgement(message, message_id, error)

    receipt.add_done_callback(on_done)
