"""Who reads the messages of a cluster for a capture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gitops.messaging.capture_client import Position
from gitops.messaging.entries import Entry


class PartitionReader(Protocol):
    """Reads one partition from a position on."""

    def read(self, most: int) -> Sequence[Entry]:
        """The next entries, of about `most` messages; none where none comes for a second.

        Raises OutsideError.
        """
        ...

    def has_more(self) -> bool:
        """Whether the broker has an entry that was not read; raises OutsideError."""
        ...

    def unfinished(self) -> Position | None:
        """Where the oldest message begins that is not whole with what was read, None for none."""
        ...

    def close(self) -> None:
        """Give it back."""
        ...


class MessageReaders(Protocol):
    """Opens readers of one cluster."""

    def open(
        self,
        partition: str,
        *,
        after: Position | None,
        first: Position | None,
        trimmed_before: int | None = None,
    ) -> PartitionReader:
        """A reader of the partition of that name; raises OutsideError.

        It begins behind `after`, else with the entry of `first`, else with the oldest one. Where
        ledgers below `trimmed_before` are gone it begins with what compaction kept of them, of any
        time.
        """
        ...

    def close(self) -> None:
        """Close all connections."""
        ...
