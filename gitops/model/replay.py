"""A replay: samples, what is read with what, and the result."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Literal

from gitops.model.findings import Finding, Location
from gitops.model.names import TopicName
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.sample_formats import SampleFormat
from gitops.model.schema import SchemaInfo

# Sample data of a topic, for replays.

LogicalTypes = Literal["java", "none"]
"""Who reads: Java's classes for logical types, or a reader that takes the types beneath them."""

_PASSWORD: Final = re.compile(r"://[^/@:]*:[^/@]*@")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Where samples of a topic are and how to read them.

    `path` may be a glob or a URI that Spark reads; a relative one is relative to the manifest.
    `columns` renames the columns `topic`, `schema_version`, `payload`. `version` is the schema
    version of every message where the data does not say. `max_failures` is a count (int) or a
    share of the rows (float, 0 to 1). `logical_types` is how values of logical types are read.
    `sensitive_at` are the places of the `sensitive` names, in their order; without any they stand
    at `location`.
    """

    format: SampleFormat
    path: str
    location: Location
    columns: Mapping[str, str] = field(default_factory=dict)
    version: int | None = None
    sensitive: tuple[str, ...] = ()
    max_failures: int | float = 0
    logical_types: LogicalTypes = "java"
    sensitive_at: tuple[Location, ...] = field(default=(), compare=False)

    @property
    def shown_path(self) -> str:
        """The path as reports show it: without a user and a password before a host."""
        return _PASSWORD.sub("://", self.path)


# A replay: what is read with what, and what came of it.


class Direction(Enum):
    """Which side is new.

    BACKWARD: data of a live version is read by the proposed schema. FORWARD: the same data,
    rewritten with the proposed schema, is read by an older version or by a declared client.
    """

    BACKWARD = "backward"
    FORWARD = "forward"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderSchema:
    """Who reads. `name` is `proposed`, `v3`, or a client as `billing`; failures count if `gates`.

    `name` and `direction` together are unique within a topic.
    """

    name: str
    direction: Direction
    schema: SchemaInfo
    gates: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicReplay:
    """What is replayed of one topic.

    `versions` are the live ones, by number, as clients know them. `proposed` is the schema under
    review, which may be the latest version itself. `forward_rows` bounds how many messages of
    each version are rewritten for the forward direction: those whose `where` hashes lowest, so
    that the choice does not depend on how the data is partitioned.
    """

    topic: TopicName
    versions: Mapping[int, SchemaInfo]
    proposed: SchemaInfo
    readers: tuple[ReaderSchema, ...]
    samples: tuple[Sample, ...]
    strategy: SchemaCompatibilityStrategy
    forward_rows: int = 2_000


@dataclass(frozen=True, slots=True, order=True)
class FailureExample:
    """One row that failed.

    `where` is the message id, or the file and the row in it. `message` is for a person. `value`
    is what was read up to there, as text; None unless values are to be shown. A field that is
    sensitive, and all in it, never stands in either.
    """

    where: str
    message: str
    value: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayFailure:
    """Rows that failed for one reason at one path (`lines[].price`; empty for the whole row)."""

    path: str
    reason: str
    rows: int
    examples: tuple[FailureExample, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedExample:
    """A value that a reader gets otherwise than it was written, and in which message.

    `reason` never holds a value; `before` and `after` are for a person, None unless values are to
    be shown, and where the field is sensitive.
    """

    where: str
    reason: str
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """How the numbers at a path are distributed: the count of each bin that has any.

    `unit` is `integer` or `number`, `date` (days since 1970), `timestamp` or `local-timestamp`
    (milliseconds since 1970), `time` (milliseconds of a day). `bins` are where each begins and its
    count, ascending, all of one `width`, a power of two. `other` are values that are in no bin:
    NaN, the infinities, dates that cannot be placed. `least` and `most` are None without bins.
    """

    unit: str
    width: int | float
    bins: tuple[tuple[int | float, int], ...]
    least: int | float | None
    most: int | float | None
    other: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldReplay:
    """What became of the values at one path, over the rows that could be read.

    Counts are of values, so that an array counts each of its items. `read` are all that the
    writer wrote and the reader took, `promoted` and `changed` among them; `changed` are other
    values than were written (precision lost by a promotion, a symbol replaced by the enum's
    default, text that is not UTF-8, a logical type that makes something else of them), `example`
    is that at the lowest place. `defaulted` are filled in from the reader's default,
    `dropped` are not taken. `nulls` are those of `read` that are null. `symbols` are the values
    of an enum, `branches` those of a union by branch. `distributions` are those of numbers, dates
    and times, by unit, where values are shown.
    """

    path: str
    read: int = 0
    promoted: int = 0
    changed: int = 0
    defaulted: int = 0
    dropped: int = 0
    nulls: int = 0
    symbols: Mapping[str, int] = field(default_factory=dict)
    branches: Mapping[str, int] = field(default_factory=dict)
    distributions: tuple[Distribution, ...] = ()
    example: ChangedExample | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderReplay:
    """What one reader made of the messages of one version (None: rows of no known version).

    `reader` is empty for messages that no reader was asked about: of no known version or topic, or
    without a payload. All of them count as failed, and the failures say why. Samples whose
    `logical_types` differ are of readers of their own. `counted` are those
    of `failed` that a gate holds against the schema: of samples of which more messages fail than
    `maxFailures` allows.
    """

    topic: TopicName
    version: int | None
    reader: str
    direction: Direction
    gates: bool
    rows: int
    failed: int
    logical_types: LogicalTypes = "java"
    counted: int = 0
    failures: tuple[ReplayFailure, ...] = ()
    fields: tuple[FieldReplay, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayReport:
    """All of a replay, sorted; the same data gives the same report, whatever the runner.

    `rows` are the messages, each once; `strategies` are those of the topics that were replayed.
    `source` says where the versions are from (`registry`, `snapshot`, `git` or `files`), `limits`
    in whole sentences what it cannot know. `complete` is False after an interruption: the numbers
    are those of what was done until then.
    """

    registry: str
    engine: str
    rows: int
    readers: tuple[ReaderReplay, ...]
    strategies: Mapping[TopicName, SchemaCompatibilityStrategy] = field(default_factory=dict)
    source: str = ""
    limits: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    complete: bool = True
