"""Messages and readers as those of pulsar-client, without a broker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from gitops.messaging.capture_client import PartitionReader, Position
from gitops.model.errors import OutsideError


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeMessage:
    """One message; `version` is -1 where it has none."""

    at: Position
    payload: bytes = b""
    key: str = ""
    ordering: str = ""
    props: Mapping[str, str] = field(default_factory=dict)
    published: int = 1_000
    event: int = 0
    version: int = -1
    producer: str = "p"
    sequence: int = 0
    is_null: bool = False
    context: Any = None

    def __str__(self) -> str:
        return f"Message(prod={self.producer}, seq={self.sequence}, publish_time=…, props={{}})"

    def data(self) -> bytes:
        return self.payload

    def length(self) -> int:
        return len(self.payload)

    def partition_key(self) -> str:
        return self.key

    def ordering_key(self) -> str:
        return self.ordering

    def properties(self) -> dict[str, str]:
        return dict(self.props)

    def publish_timestamp(self) -> int:
        return self.published

    def event_timestamp(self) -> int:
        return self.event

    def int_schema_version(self) -> int:
        return self.version

    def producer_name(self) -> str:
        return self.producer

    def has_null_value(self) -> bool:
        return self.is_null

    def encryption_context(self) -> Any:  # noqa: ANN401 - pulsar-client has no types
        return self.context

    def message_id(self) -> SimpleNamespace:
        return SimpleNamespace(
            ledger_id=lambda: self.at.ledger,
            entry_id=lambda: self.at.entry,
            batch_index=lambda: self.at.batch,
        )


def batches(count: int, size: int = 4, **more: Any) -> list[FakeMessage]:  # noqa: ANN401
    """So many messages, in batches, with consecutive sequence ids."""
    return [
        FakeMessage(
            at=Position(1, number // size, number % size),
            payload=f"v{number}".encode(),
            sequence=number,
            **more,
        )
        for number in range(count)
    ]


class FakeReaders:
    """Has messages by the full name of their partition; fails when `fails` says so.

    `fails` gets the number of blocks that were read before. `opened` are the positions behind which
    readers began.
    """

    def __init__(
        self,
        messages: Mapping[str, Sequence[FakeMessage]],
        fails: Callable[[int], bool] = lambda _: False,
        block: int = 3,
    ) -> None:
        self._messages = messages
        self.fails = fails
        self._block = block
        self.blocks = 0
        self.opened: list[Position | None] = []
        self.is_closed = False

    def open(
        self,
        partition: str,
        *,
        after: Position | None,
        since: int | None,  # noqa: ARG002 - the Protocol's signature
        queue: int,  # noqa: ARG002 - as above
    ) -> PartitionReader:
        self.opened.append(after)
        found = [
            one for one in self._messages.get(partition, ()) if after is None or one.at > after
        ]
        return _FakeReader(self, found)

    def close(self) -> None:
        self.is_closed = True

    def take(self, left: list[FakeMessage], most: int) -> list[FakeMessage]:
        if self.fails(self.blocks):
            raise OutsideError("the wire is cut")
        self.blocks += 1
        found = left[: min(most, self._block)]
        del left[: len(found)]
        return found


class _FakeReader:
    def __init__(self, readers: FakeReaders, left: list[FakeMessage]) -> None:
        self._readers = readers
        self._left = left

    def read(self, most: int) -> list[Any]:
        return list(self._readers.take(self._left, most))

    def has_more(self) -> bool:
        return bool(self._left)

    def close(self) -> None:
        """Nothing is open."""
