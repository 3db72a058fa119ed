"""A producer on one topic or partition: order, batches, what is not acknowledged, deadlines."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from typing import Final, Protocol

from gitops.messaging.batches import Batch, Entry, Framer, MessageId, PendingMessage
from gitops.messaging.cluster import Cluster
from gitops.messaging.connection import refusal
from gitops.messaging.errors import (
    ClosedProducerError,
    ConnectionFailedError,
    InvalidValueError,
    SendExpiredError,
)
from gitops.messaging.schema_versions import SchemaVersions, Version
from gitops.messaging.session import ProducerIdentity, ProducerSession
from gitops.messaging.settings import ProducerSettings
from gitops.messaging.values.schema import ValueSchema
from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.messaging.wire.compression import Compression

_REFUSED_ALONE: Final = frozenset({"NotAllowedError"})
_FATAL: Final = frozenset({"TopicTerminatedError", "ProducerFenced"})
_NONE: Final = 2**64 - 1
"""How the protocol writes the ledger and the entry of a message that was not stored."""


class Owner(Protocol):
    """What the partitions of a producer share."""

    versions: SchemaVersions

    def release(self, message: PendingMessage) -> None:
        """A message is done."""
        ...


class TopicProducer:
    """Messages in the order of `enqueue`: each waits for a schema, in a batch, for its receipt.

    What was written keeps its bytes, so that a broker with deduplication finds out what it already
    has when it is sent again.
    """

    def __init__(
        self,
        cluster: Cluster,
        identity: ProducerIdentity,
        settings: ProducerSettings,
        owner: Owner,
    ) -> None:
        self.topic: Final = identity.topic
        self.name = ""
        self.last_sequence_id = -1
        self._session = ProducerSession(cluster, identity, self)
        self._framer = Framer(self._session.producer_id, Compression(settings.compression))
        self._schema = identity.schema
        self._settings = settings
        self._versions = owner.versions
        self._release = owner.release
        self._partition = identity.partition
        first = settings.initial_sequence_id
        self._next_id = None if first is None else first + 1
        self._last_framed = -1
        self._waiting: deque[PendingMessage] = deque()
        self._batch: Batch | None = None
        self._entries: deque[Entry] = deque()
        self._batch_timer: asyncio.TimerHandle | None = None
        self._expiry: asyncio.TimerHandle | None = None
        self._failure: Exception | None = None
        self._last: PendingMessage | None = None
        self._flushes = 0
        self._error: BaseException | None = None

    async def open(self) -> None:
        """Open it on its broker; raises as `ProducerSession.open`."""
        await self._session.open()

    async def register(self, schema: ValueSchema) -> Version:
        """As `Producer.register`."""
        return await asyncio.shield(self._versions.ask(schema, self._session.version_of))

    @property
    def has_open_batch(self) -> bool:
        """Whether the next message may join others."""
        return self._batch is not None

    def enqueue(self, message: PendingMessage) -> None:
        """Accept a message; its receipt tells how it ends."""
        if self._failure is not None:
            self._finish(message, self._failure)
            return
        self._last = message
        version = self._versions.find(message.schema)
        if version is None:
            message.registration = self._versions.ask(message.schema, self._session.version_of)
            message.registration.add_done_callback(self._drain)
        if version is None or self._waiting:
            self._waiting.append(message)
        else:
            self._append(message, version)
        if self._expiry is None:
            self._arm(message.deadline)

    async def flush(self) -> None:
        """Send what waits, until all that was accepted so far is acknowledged or has failed.

        Raises the first error since the last flush of what was enqueued; `send` raises its own.
        """
        self._close_batch()
        if self._last is not None and not self._last.receipt.done():
            self._flushes += 1
            try:
                await asyncio.wait([self._last.receipt])
            finally:
                self._flushes -= 1
        error, self._error = self._error, None
        if error is not None:
            raise error

    async def close(self) -> None:
        """Close it on the broker; what is still not acknowledged fails."""
        await self._session.close()
        self.on_failure(ClosedProducerError("the producer was closed", where=self.topic))

    # What the session tells.

    def on_attach(self, opened: api.CommandProducerSuccess, max_message_size: int) -> None:
        """Send again what is not acknowledged, under the name that the broker knows."""
        self.name = self._framer.producer_name = opened.producer_name
        self._framer.max_message_size = max_message_size
        self._versions.keep(self._schema, opened.schema_version)
        # A broker leaves out a whole batch that begins with an id it has: none may be new then.
        self._last_framed = max(self._last_framed, opened.last_sequence_id)
        if self._next_id is None:
            self.last_sequence_id = max(-1, opened.last_sequence_id)
            self._next_id = self.last_sequence_id + 1
        for entry in self._entries:
            self._session.write(entry.frame)

    def on_failure(self, cause: Exception) -> None:
        """Fail everything, now and later."""
        self._failure = self._failure or cause
        for timer in (self._batch_timer, self._expiry):
            if timer is not None:
                timer.cancel()
        for message in list(self._unfinished()):
            self._finish(message, cause)
        self._entries.clear()
        self._waiting.clear()
        self._batch = None

    def on_receipt(self, receipt: api.CommandSendReceipt) -> None:
        """The oldest entry is stored; one that comes late for an entry that is gone is ignored."""
        if not self._entries or receipt.sequence_id < self._entries[0].sequence_id:
            return
        if receipt.sequence_id > self._entries[0].sequence_id:
            cause = ConnectionFailedError("the broker skipped a receipt", where=self.topic)
            self._session.reconnect(cause)
            return
        self._session.acknowledge()
        entry = self._entries.popleft()
        ledger, number = receipt.message_id.ledgerId, receipt.message_id.entryId
        if ledger == _NONE:
            ledger = number = -1
        self.last_sequence_id = entry.messages[-1].sequence_id or 0
        is_batch = len(entry.messages) > 1
        for index, message in enumerate(entry.messages):
            self._release(message)
            if not message.receipt.done():
                place = index if is_batch else -1
                message.receipt.set_result(MessageId(ledger, number, self._partition, place))

    def on_send_error(self, error: api.CommandSendError) -> None:
        """Fail the entry alone, or all, or reconnect and send again, as Java's client does."""
        result = refusal(error.error, error.message, self.topic)
        if result.error in _FATAL:
            self.on_failure(result)
        elif result.error not in _REFUSED_ALONE:
            self._session.reconnect(ConnectionFailedError(str(result), where=self.topic))
        elif self._entries and self._entries[0].sequence_id == error.sequence_id:
            for message in self._entries.popleft().messages:
                self._finish(message, result)

    # From the queue to frames.

    def _drain(self, registered: asyncio.Task[Version]) -> None:
        """Go on with the messages whose schemas are known by now, up to one whose is not."""
        _error_of(registered)  # it counts as seen, also where its messages have expired
        while self._waiting:
            message = self._waiting[0]
            if message.registration is not None and not message.registration.done():
                return
            self._waiting.popleft()
            if message.registration is None or not (error := _error_of(message.registration)):
                self._append(message, self._versions.find(message.schema) or b"")
            else:
                self._finish(message, error)
        if self._flushes:
            self._close_batch()

    def _append(self, message: PendingMessage, version: Version) -> None:
        """Give it its sequence id, and put it into a batch of its schema version."""
        if message.sequence_id is None:
            message.sequence_id = self._next_id
        self._next_id = max(self._next_id or 0, (message.sequence_id or 0) + 1)
        if not (self._settings.batching and message.may_be_batched):
            self._close_batch()
            self._send([message], version)
            return
        is_repeated = (message.sequence_id or 0) <= self._last_framed
        batch = self._batch
        if batch is not None and not batch.accepts(
            message, version, is_repeated=is_repeated, most_bytes=self._most_bytes
        ):
            self._close_batch()
            batch = None
        if batch is None:
            batch = self._begin_batch(version, is_repeated=is_repeated)
        batch.add(message)
        full = len(batch.messages) >= self._settings.batch_messages
        if full or batch.size >= self._most_bytes:
            self._close_batch()

    @property
    def _most_bytes(self) -> int:
        return min(self._settings.batch_bytes, self._framer.most_batch_bytes)

    def _begin_batch(self, version: Version, *, is_repeated: bool) -> Batch:
        loop = asyncio.get_running_loop()
        due = loop.time() + self._settings.batch_delay
        self._batch = Batch(version, due, is_repeated=is_repeated)
        if self._batch_timer is None:
            self._batch_timer = loop.call_at(due, self._close_due_batch)
        return self._batch

    def _close_due_batch(self) -> None:
        """One timer for batch after batch: most are full, or end with another schema, before."""
        self._batch_timer = None
        loop = asyncio.get_running_loop()
        if self._batch is not None and self._batch.due <= loop.time():
            self._close_batch()
        elif self._batch is not None:
            self._batch_timer = loop.call_at(self._batch.due, self._close_due_batch)

    def _close_batch(self) -> None:
        batch, self._batch = self._batch, None
        if batch is not None:
            self._send(batch.messages, batch.version)

    def _send(self, messages: list[PendingMessage], version: Version) -> None:
        try:
            entry = self._framer.frame(messages, version)
        except InvalidValueError as error:
            for message in messages:
                self._finish(message, error)
            return
        self._last_framed = max(self._last_framed, messages[-1].sequence_id or 0)
        self._entries.append(entry)
        self._session.write(entry.frame)

    # The end of messages.

    def _unfinished(self) -> Iterator[PendingMessage]:
        """All that is not acknowledged, oldest first."""
        for entry in self._entries:
            yield from entry.messages
        if self._batch is not None:
            yield from self._batch.messages
        yield from self._waiting

    def _finish(self, message: PendingMessage, error: BaseException) -> None:
        self._release(message)
        is_raised_by_send = message.is_awaited and not message.receipt.cancelled()
        if not is_raised_by_send:
            self._error = self._error or error
        if not message.receipt.done():
            message.receipt.set_exception(error)

    def _arm(self, deadline: float) -> None:
        self._expiry = asyncio.get_running_loop().call_at(deadline, self._expire)

    def _expire(self) -> None:
        """Fail what is too old; entries go as a whole, since their frames do."""
        self._expiry = None
        now = asyncio.get_running_loop().time()
        while self._entries and self._entries[0].deadline <= now:
            for message in self._entries.popleft().messages:
                self._finish(message, self._expired())
        if not self._entries and self._batch and self._batch.messages[0].deadline <= now:
            batch, self._batch = self._batch, None
            for message in batch.messages:
                self._finish(message, self._expired())
        while self._waiting and self._waiting[0].deadline <= now:
            self._finish(self._waiting.popleft(), self._expired())
        if (oldest := next(self._unfinished(), None)) is not None:
            self._arm(oldest.deadline)

    def _expired(self) -> SendExpiredError:
        seconds = self._settings.send_seconds
        return SendExpiredError(f"no acknowledgement within {seconds:g} s", where=self.topic)


def _error_of(task: asyncio.Task[Version]) -> BaseException | None:
    if task.cancelled():
        return ClosedProducerError("the producer was closed")
    return task.exception()
