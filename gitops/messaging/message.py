"""A message as its sender builds it, and who may look at it before it is sent."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from gitops.messaging.batches import Encryption, MessageId
from gitops.messaging.values.schema import ValueSchema
from gitops.model.errors import UsageError


@dataclass(slots=True)
class Message:
    """What is sent; `value` None is a message without a value, which deletes where topics compact.

    `key` is as the protocol has it: `has_encoded_key` where it is bytes in base64. Times are in
    ms since 1970. `partition` is the one to send to; None leaves it to the producer. With
    `encryption` the value is the payload as it was encrypted, and is sent as it is.
    """

    schema: ValueSchema
    value: Any = None
    key: str | None = None
    has_encoded_key: bool = False
    ordering_key: bytes | None = None
    properties: dict[str, str] = field(default_factory=dict)
    event_time: int | None = None
    sequence_id: int | None = None
    deliver_at: int | None = None
    partition: int | None = None
    encryption: Encryption | None = None


class Interceptor(Protocol):
    """Sees the messages of a producer, as Java's ProducerInterceptor does (PIP-43)."""

    def eligible(self, message: Message) -> bool:
        """Whether this message is for it: a producer may send messages of many schemas."""
        ...

    def before_send(self, message: Message) -> Message:
        """The message to send in its place, or the same; an error fails the message alone."""
        ...

    def on_send_acknowledgement(
        self, message: Message, message_id: MessageId | None, error: BaseException | None
    ) -> None:
        """How it ended: an id, or an error."""
        ...


class MessageSink(Protocol):
    """Where a message goes once it is built: its producer."""

    async def enqueue(
        self, message: Message, *, is_awaited: bool = False
    ) -> asyncio.Future[MessageId]:
        """Accept it; the receipt tells how it ends. `is_awaited`: the caller waits for that."""
        ...


class MessageBuilder:
    """Builds one message and sends it: `await producer.new_message(schema).value(v).send()`."""

    __slots__ = ("_producer", "message")

    def __init__(self, producer: MessageSink, schema: ValueSchema) -> None:
        self._producer = producer
        self.message = Message(schema)

    def value(self, value: Any) -> Self:  # noqa: ANN401 - what the schema takes
        """The value, which the schema encodes when it is sent."""
        self.message.value = value
        return self

    def key(self, key: str) -> Self:
        """The key: messages with the same one go to the same partition."""
        self._set_key(key, is_encoded=False)
        return self

    def key_bytes(self, key: bytes) -> Self:
        """The key as bytes."""
        self._set_key(base64.b64encode(key).decode(), is_encoded=True)
        return self

    def ordering_key(self, key: bytes) -> Self:
        """What Key_Shared subscriptions order by, in place of the key."""
        self.message.ordering_key = key
        return self

    def property(self, name: str, value: str) -> Self:
        """One property more."""
        self.message.properties[name] = value
        return self

    def properties(self, properties: Mapping[str, str]) -> Self:
        """More properties."""
        self.message.properties.update(properties)
        return self

    def event_time(self, milliseconds: int) -> Self:
        """When it happened, in ms since 1970."""
        self.message.event_time = milliseconds
        return self

    def sequence_id(self, sequence_id: int) -> Self:
        """Its number, larger than those before: deduplication compares it."""
        if sequence_id < 0:
            raise UsageError(f"the sequence id is {sequence_id}", hint="it is 0 or above")
        self.message.sequence_id = sequence_id
        return self

    def deliver_at(self, milliseconds: int) -> Self:
        """Before when no shared subscription gets it, in ms since 1970."""
        self.message.deliver_at = milliseconds
        return self

    async def send(self) -> MessageId:
        """Send it and wait for the broker's receipt.

        Raises InvalidValueError, BrokerRefusedError (a schema that is refused),
        SendExpiredError, ClosedProducerError.
        """
        return await (await self._producer.enqueue(self.message, is_awaited=True))

    async def enqueue(self) -> asyncio.Future[MessageId]:
        """Hand it over, and get its receipt later; waits only while too much is pending.

        Raises InvalidValueError, ClosedProducerError; the receipt raises the rest.
        """
        return await self._producer.enqueue(self.message)

    def _set_key(self, key: str, *, is_encoded: bool) -> None:
        if self.message.schema.separates_key and not self.message.schema.takes_bytes:
            raise UsageError(
                "the KEY_VALUE schema has the encoding SEPARATED: the key is in the value",
                hint="pass the pair with .value((key, value))",
            )
        self.message.key = key
        self.message.has_encoded_key = is_encoded
