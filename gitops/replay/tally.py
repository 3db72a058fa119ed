"""Counts that add up: what leaves a worker, and what a report is made from."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct, field

from gitops.model.replay import Direction


class Key(Struct, frozen=True, order=True):
    """Whose counts: a topic, a version of its data (None: not known), a reader.

    Rows that no reader is asked about (no known version or topic, no payload) have an empty
    `reader`, and failures that say why. `sample` is the number of the topic's sample, from 0:
    each has a limit of its own.
    """

    topic: str
    version: int | None
    reader: str
    direction: str = Direction.BACKWARD.value
    sample: int = 0


class Example(NamedTuple):
    """A row that is shown; `digest` is of its payload, and tells messages of one id apart."""

    where: str
    message: str
    value: str | None = None
    digest: bytes = b""


class Failed(Struct):
    """Rows of one reason; `examples` are those that sort lowest, each once."""

    path: str
    reason: str
    rows: int = 0
    examples: list[Example] = field(default_factory=list)


class ChangedValue(NamedTuple):
    """A value that was changed; of those of one path that whose place sorts lowest is kept.

    `row` is -1 where the file, which may be a message id, says it all.
    """

    file: str
    row: int
    digest: bytes
    reason: str
    before: str | None = None
    after: str | None = None

    @property
    def where(self) -> str:
        """How a person finds the message."""
        return self.file if self.row < 0 else f"{self.file}#{self.row}"


class Counts(Struct):
    """The counts of one path; `FieldReplay` says what they mean."""

    read: int = 0
    promoted: int = 0
    changed: int = 0
    defaulted: int = 0
    dropped: int = 0
    nulls: int = 0
    symbols: dict[str, int] = field(default_factory=dict)
    branches: dict[str, int] = field(default_factory=dict)
    example: ChangedValue | None = None


class Tally(Struct):
    """What one key counted."""

    rows: int = 0
    failed: int = 0
    failures: list[Failed] = field(default_factory=list)
    fields: dict[str, Counts] = field(default_factory=dict)


class Chosen(Struct, frozen=True, order=True):
    """A message that is to be rewritten for the forward direction; the lowest hashes are."""

    hash: int
    where: str
    sample: int
    payload: bytes


class Gathered(Struct):
    """All that one part of a replay answers, or all of them once they are merged.

    `unread` are `(topic, sample, file, why, hint)`. `chosen` are the messages of a topic's version
    that are rewritten, sorted. `later` are rows that are not among `rows` yet.
    """

    rows: int = 0
    later: int = 0
    tallies: dict[Key, Tally] = field(default_factory=dict)
    unread: list[tuple[str, int, str, str, str]] = field(default_factory=list)
    chosen: dict[tuple[str, int], list[Chosen]] = field(default_factory=dict)
