"""The messages of a topic on a broker in this process, for readers."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from gitops.messaging.capture_client import Position
from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.messaging.wire.frames import command_frame, pack_content
from tests.support.fake_pulsar import FakeBroker, FakeConnection, Frame, Kind, Reply

LEDGER: Final = 1
_UNSIGNED: Final = 2**64


def batch_content(payloads: Sequence[bytes]) -> bytes:
    """An entry with these messages, as `MESSAGE` has it behind the command."""
    metadata = api.MessageMetadata(
        producer_name="p", sequence_id=0, publish_time=1, num_messages_in_batch=len(payloads)
    )
    parts = []
    for payload in payloads:
        single = api.SingleMessageMetadata(payload_size=len(payload)).SerializeToString()
        parts.append(struct.pack(">I", len(single)) + single + payload)
    return pack_content(metadata, b"".join(parts))


def message_frame(consumer_id: int, entry: int, content: bytes) -> bytes:
    """A MESSAGE."""
    at = api.MessageIdData(ledgerId=LEDGER, entryId=entry)
    message = api.CommandMessage(consumer_id=consumer_id, message_id=at)
    command = api.BaseCommand(type="MESSAGE", message=message).SerializeToString()
    size = 4 + len(command) + len(content)
    return struct.pack(">II", size, len(command)) + command + content


@dataclass(slots=True, eq=False)
class FakeTopic:
    """Entries of `size` messages each; `happens` is asked before each entry is sent.

    It is None where the entry is sent, and else what is done to the connection in its place.
    """

    count: int
    size: int = 1
    happens: Callable[[int], Callable[[FakeConnection], None] | None] = lambda _: None
    started: list[Position] = field(default_factory=list)
    """Where readers began."""

    permits: int = 0
    next: int = 0

    def serve(self, broker: FakeBroker) -> None:
        """Have the broker answer for the topic."""
        broker.replies.update(
            {
                Kind.SUBSCRIBE: self._subscribe,
                Kind.FLOW: self._flow,
                Kind.GET_LAST_MESSAGE_ID: self._last,
            }
        )

    def payloads(self, entry: int) -> list[bytes]:
        """The messages of an entry."""
        return [b"%d" % number for number in range(entry * self.size, (entry + 1) * self.size)]

    def _subscribe(
        self, _broker: FakeBroker, _connection: FakeConnection, frame: Frame
    ) -> Iterable[Reply]:
        start = frame.content.start_message_id
        entry = start.entryId - _UNSIGNED * (start.entryId >= _UNSIGNED // 2)
        self.started.append(Position(LEDGER, entry, start.batch_index))
        self.next = max(0, entry)  # a broker may begin with the entry itself (Pulsar 4.0.7)
        self.permits = 0
        success = api.CommandSuccess(request_id=frame.content.request_id)
        return [api.BaseCommand(type="SUCCESS", success=success)]

    def _flow(
        self, _broker: FakeBroker, connection: FakeConnection, frame: Frame
    ) -> Iterable[Reply]:
        self.permits += frame.content.messagePermits
        while self.permits > 0 and self.next < self.count:
            if act := self.happens(self.next):
                act(connection)
                break
            content = batch_content(self.payloads(self.next))
            connection.send(message_frame(frame.content.consumer_id, self.next, content))
            self.next += 1
            self.permits -= self.size
        return []

    def _last(
        self, _broker: FakeBroker, _connection: FakeConnection, frame: Frame
    ) -> Iterable[Reply]:
        content = api.CommandGetLastMessageIdResponse(
            request_id=frame.content.request_id,
            last_message_id=api.MessageIdData(
                ledgerId=LEDGER, entryId=(self.count - 1) % _UNSIGNED, batch_index=self.size - 1
            ),
        )
        kind = "GET_LAST_MESSAGE_ID_RESPONSE"
        return [api.BaseCommand(type=kind, getLastMessageIdResponse=content)]


def close_reader(consumer_id: int, url: str) -> Callable[[FakeConnection], None]:
    """The broker closes the reader, and names the broker that has the topic now."""
    close = api.CommandCloseConsumer(
        consumer_id=consumer_id, request_id=0, assignedBrokerServiceUrl=url
    )
    command = api.BaseCommand(type="CLOSE_CONSUMER", close_consumer=close)
    return lambda connection: connection.send(command_frame(command))
