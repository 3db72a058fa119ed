"""A reader on the broker that has its topic: opened, and opened again wherever it goes."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from typing import Final

from gitops.messaging.capture_client import Position
from gitops.messaging.cluster import Cluster
from gitops.messaging.connection import Connection
from gitops.messaging.entries import Entry, EntryReader
from gitops.messaging.errors import (
    BrokerRefusedError,
    ConnectionFailedError,
    DeadlineError,
    MessagingError,
    ProtocolError,
)
from gitops.messaging.retries import delays, retry
from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.messaging.wire.frames import command_frame, read_content

_PERMITS: Final = 10_000
"""Messages that a broker may send ahead. How many bytes, the socket bounds: it is read only while
somebody waits for messages."""

_MOST_WAITING: Final = 64 * 1024 * 1024
"""Bytes of entries that wait here. The socket is read by 256 KiB: no broker makes them so many."""

_MOST_BYTES: Final = 4 * 1024 * 1024
"""Bytes of entries that are read at a time, and one entry more."""

_WAIT: Final = 1.0
"""Seconds that a first entry is waited for; later ones of a block only _MOMENT."""

_MOMENT: Final = 0.02
_PATIENCE: Final = 60.0
"""Seconds for which a broker that is gone is looked for."""

_EARLIEST: Final = 2**64 - 1
"""Ledger and entry before all others: -1, which the protocol has as unsigned."""

_FATAL: Final = frozenset(
    {
        "AuthenticationError",
        "AuthorizationError",
        "InvalidTopicName",
        "NotAllowedError",
        "TopicNotFound",
        "UnsupportedVersionError",
    }
)
"""What a reader that was open does not survive: another try would be answered the same."""


class ReaderSession:
    """Reads the entries of a partition, each once, whatever happens to connections.

    Its subscription is exclusive and not durable, as that of every reader of Pulsar's clients: the
    broker forgets it with the connection, and sends on without acknowledgements.

    It is a connection's ConsumerEvents.
    """

    def __init__(
        self,
        cluster: Cluster,
        topic: str,
        start: Position | None,
        entries: EntryReader,
        *,
        is_compacted: bool = False,
    ) -> None:
        """It begins behind `start`, with the rest of its batch if it has an index there.

        Where it `is_compacted` it reads what compaction kept, and then what came since.
        """
        self._cluster = cluster
        self._topic = topic
        self._start = start
        self._entries = entries
        self._is_compacted = is_compacted
        self._id = -1
        self._connection: Connection | None = None
        self._assigned: str | None = None
        self._waiting: deque[tuple[api.MessageIdData, bytes]] = deque()
        self._size = 0
        self._arrived = asyncio.Event()
        self._used = 0
        self._delays = delays()
        self._lost: float | None = None

    async def open(self) -> None:
        """Open it for the first time; errors that may pass are tried again for a request's time.

        Raises BrokerRefusedError, ConnectionFailedError, MessagingError.
        """
        await retry(self._attach, self._cluster.deadlines.request)

    async def read(self, most: int) -> list[Entry]:
        """The next entries, with `most` messages or the last of them more; none where none comes.

        Raises MessagingError for what cannot be read, and where the broker is gone for a minute.
        """
        if self._connection is None and not self._waiting:
            await self._reattach()
        entries: list[Entry] = []
        count = size = 0
        while (
            count < most and size < _MOST_BYTES and await self._wait(_MOMENT if entries else _WAIT)
        ):
            at, content = self._waiting.popleft()
            self._size -= len(content)
            size += len(content)
            entries.append(self._read(at, content))
            sent = max(1, entries[-1].metadata.num_messages_in_batch)
            count += sent
            self._used += sent
        self._lost = None if entries else self._lost
        self._ask_for_more()
        return entries

    async def has_more(self) -> bool:
        """Whether the broker has an entry that was not read, or cannot say so now.

        A connection that is cut meanwhile is opened again by the next read. Raises MessagingError,
        also where none has told anything for a minute.
        """
        connection = self._connection
        if connection is None or self._waiting:
            return True
        try:
            result: api.CommandGetLastMessageIdResponse = await connection.request(
                api.BaseCommand.GET_LAST_MESSAGE_ID, consumer_id=self._id
            )
        except ConnectionFailedError as error:
            if isinstance(error, DeadlineError | ProtocolError) or self._is_lost_for_long():
                raise
            return True
        self._lost = None
        last = result.last_message_id
        if last.entryId == _EARLIEST:
            return False
        return self._start is None or (last.ledgerId, last.entryId, -1) > self._start

    @property
    def unfinished(self) -> Position | None:
        """As EntryReader has it."""
        return self._entries.unfinished

    async def close(self) -> None:
        """Close the reader on the broker, if one is there."""
        connection, self._connection = self._connection, None
        if connection is not None and connection.is_open:
            connection.consumers.pop(self._id, None)
            try:
                await connection.request(api.BaseCommand.CLOSE_CONSUMER, consumer_id=self._id)
            except MessagingError:
                return  # it is closed with its connection

    # What a connection tells.

    def on_message(self, message: api.CommandMessage, content: bytes) -> None:
        """Keep an entry until it is read."""
        self._waiting.append((message.message_id, content))
        self._size += len(content)
        self._arrived.set()
        if self._size > _MOST_WAITING and self._connection is not None:
            self._connection.fail(ProtocolError("the server sent more than it was asked for"))

    def on_detach(self, assigned: str | None) -> None:
        """The next read opens it again, behind what came."""
        self._connection = None
        self._assigned = assigned
        self._arrived.set()

    # Reading.

    async def _wait(self, seconds: float) -> bool:
        """Whether an entry is there, which is waited for; none comes without a connection."""
        if not self._waiting and self._connection is not None:
            self._arrived.clear()
            try:
                async with asyncio.timeout(seconds):
                    await self._arrived.wait()
            except TimeoutError:
                return False
        return bool(self._waiting)

    def _read(self, at: api.MessageIdData, content: bytes) -> Entry:
        """The messages of an entry; none of one that was read, which brokers may begin with."""
        if self._start and _is_read((at.ledgerId, at.entryId), self._start):
            return Entry(at.ledgerId, at.entryId, read_content(content)[0])
        try:
            entry = self._entries.read(at, content)
        except MessagingError as error:
            error.where = f"{self._topic}, message {at.ledgerId}:{at.entryId}"
            raise
        self._start = Position(at.ledgerId, at.entryId, -1)
        return entry

    def _ask_for_more(self) -> None:
        if self._used >= _PERMITS // 2 and self._connection is not None:
            self._flow(self._connection, self._used)
            self._used = 0

    def _flow(self, connection: Connection, permits: int) -> None:
        flow = api.CommandFlow(consumer_id=self._id, messagePermits=permits)
        connection.write(command_frame(api.BaseCommand(type=api.BaseCommand.FLOW, flow=flow)))

    # Opening.

    async def _reattach(self) -> None:
        """Try once to open it again; raises what does not pass, and after _PATIENCE what it is."""
        is_late = self._is_lost_for_long()
        try:
            await self._attach()
        except MessagingError as error:
            refused = isinstance(error, BrokerRefusedError) and error.error in _FATAL
            if refused or is_late:
                raise
            await asyncio.sleep(min(_WAIT, next(self._delays)))
        else:
            self._delays = delays()

    def _is_lost_for_long(self) -> bool:
        """Whether nothing was read or told since a connection was lost, for _PATIENCE."""
        now = asyncio.get_running_loop().time()
        self._lost = now if self._lost is None else self._lost
        return now - self._lost > _PATIENCE

    async def _attach(self) -> None:
        assigned, self._assigned = self._assigned, None
        connection = await self._cluster.connect(self._topic, assigned)
        # Another one each time: what is still on its way to the last one would come twice.
        self._id = self._cluster.next_id()
        connection.consumers[self._id] = self
        try:
            await connection.request(api.BaseCommand.SUBSCRIBE, **self._command())
        except BaseException as error:
            connection.consumers.pop(self._id, None)
            if isinstance(error, ConnectionFailedError):
                connection.fail(error)  # the broker may still open it later
            raise
        if connection.consumers.get(self._id) is not self:
            raise ConnectionFailedError("the reader was closed at once", where=self._topic)
        self._connection = connection
        self._used = 0
        self._flow(connection, _PERMITS)

    def _command(self) -> dict[str, object]:
        start = api.MessageIdData(ledgerId=_EARLIEST, entryId=_EARLIEST)
        if self._start:
            ledger, entry, batch = self._start
            start = api.MessageIdData(ledgerId=ledger, entryId=entry, batch_index=batch)
        return {
            "topic": self._topic,
            # A name of its own each time: the broker may not have forgotten the last one yet.
            "subscription": f"reader-{secrets.token_hex(8)}",
            "subType": api.CommandSubscribe.Exclusive,
            "consumer_id": self._id,
            "durable": False,
            "read_compacted": self._is_compacted,
            "start_message_id": start,
        }


def _is_read(at: tuple[int, int], start: Position) -> bool:
    """Whether an entry is not behind the start: with an index there, its rest is still to come."""
    return at < start[:2] or (at == start[:2] and start.batch < 0)
