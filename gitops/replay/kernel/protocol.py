"""What kernels, row readers and row writers are, what they answer, and values that do not fit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, runtime_checkable

from gitops.model.replay import LogicalTypes
from gitops.model.schema import SchemaInfo

if TYPE_CHECKING:  # `validate` does without them
    import numpy
    import pyarrow
    from numpy.typing import NDArray

# What kernels, row readers and row writers are, and what they answer.

READ = 0
"""The verdict of a row that was read."""


class CountKind(Enum):
    """What is counted at a path; `FieldReplay` says what each means.

    REINTERPRETED values are changed ones: the same bytes mean something else to the reader.
    """

    READ = "read"
    PROMOTED = "promoted"
    CHANGED = "changed"
    REINTERPRETED = "reinterpreted"
    DEFAULTED = "defaulted"
    DROPPED = "dropped"
    NULLS = "nulls"
    SYMBOL = "symbol"
    BRANCH = "branch"


CHANGES: Final = frozenset({CountKind.CHANGED, CountKind.REINTERPRETED})
"""What makes a value another one."""


class CountKey(NamedTuple):
    """A key of the counts; `value` is the symbol or the branch, else empty."""

    path: str
    what: CountKind
    value: str = ""


class Reason(NamedTuple):
    """Why a row cannot be read, and at which path.

    `reason` never holds a value of the row, so that rows of one reason are one group.
    """

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """The answer for a column.

    `verdicts` (shape: rows) are READ, or n for `reasons[n - 1]`, the first that stops the row in
    the writer's order. `counts` are over the rows that were read. `changed` are by path the numbers
    of those in which a value was changed, ascending; only of kernels that are a ChangeReader.
    """

    verdicts: NDArray[numpy.int32]
    reasons: tuple[Reason, ...] = ()
    counts: Counter[CountKey] = field(default_factory=Counter)
    changed: Mapping[str, NDArray[numpy.int64]] = field(default_factory=dict)


class ValueChange(NamedTuple):
    """A value that a reader gets otherwise than it was written; `reason` never holds a value."""

    reason: str
    before: Any
    after: Any


class Unreadable(Exception):  # noqa: N818 - it is an answer about a row
    """A row cannot be read; `message` is for a person and may hold values, `reason` never does.

    `value` is what was read up to there, None where there is nothing.
    """

    def __init__(self, reason: Reason, message: str, value: Any = None) -> None:  # noqa: ANN401
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.value = value


class Kernel(Protocol):
    """Reads what one schema wrote with another one; made once for each pair."""

    def walk(self, payloads: pyarrow.BinaryArray) -> Walk:
        """Read a column without nulls; never raises for what the payloads hold."""
        ...


@runtime_checkable
class ChangeReader(Protocol):
    """A Kernel that can tell what it changed."""

    def changes(self, payload: bytes) -> Mapping[str, ValueChange]:
        """The first changed value at each path of a payload that can be read."""
        ...


AddNumbers = Callable[[str, str, "NDArray[Any]"], None]
"""Called with a path, a unit, and some of the numbers: int64 or float64, always the same."""

INTEGER: Final = "integer"
NUMBER: Final = "number"
"""The units of what is no date and no time: of ints and longs, of others."""
PER_MILLISECOND: Final = {"micros": 1_000, "nanos": 1_000_000}
"""How many of the finer units of time there are, by the end of a logical type's name."""


@runtime_checkable
class NumberReader(Protocol):
    """A Kernel that can hand over the numbers, dates and times that it reads."""

    def numbers(self, payloads: pyarrow.BinaryArray, add: AddNumbers) -> None:
        """Add those of payloads without nulls, all of which can be read.

        What the reader fills in is not among them. Units: `integer`; `number`; `date` in
        days since 1970; `timestamp` and `local-timestamp` in milliseconds since 1970; `time` in
        those of a day.
        """
        ...


class RowReader(Protocol):
    """Reads one payload, slowly and in full: for examples, and for the forward direction."""

    def read(self, payload: bytes) -> Any:  # noqa: ANN401 - any value that a schema can say
        """The value as the reader sees it; raises Unreadable, with the reason that `walk` gives.

        It is not to be changed: defaults in it are shared.
        """
        ...


class RowWriter(Protocol):
    """Writes a value that a RowReader answered with that schema as reader."""

    def write(self, value: Any) -> bytes:  # noqa: ANN401 - any value that a schema can say
        """The payload; raises Unreadable where the value cannot be written."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernels:
    """The choice by schema; functions of modules, so that they can be pickled.

    Each raises ValueError for a definition that cannot be used.
    """

    kernel: Callable[[SchemaInfo, SchemaInfo, LogicalTypes], Kernel]
    row_reader: Callable[[SchemaInfo, SchemaInfo, LogicalTypes], RowReader]
    row_writer: Callable[[SchemaInfo], RowWriter]

    def kernel_or_reason(
        self, writer: SchemaInfo, reader: SchemaInfo, logical_types: LogicalTypes
    ) -> Kernel | Reason:
        """The kernel, or why there is none: then nothing of the version can be read."""
        try:
            return self.kernel(writer, reader, logical_types)
        except ValueError as error:
            return Reason("", f"a schema cannot be used: {error}")


# A value that does not fit.


class ValueMismatchError(ValueError):
    """A value does not fit; the text is a reason, without the value."""


class UnrepresentableNumber(float):
    """A number whose exponent is too long for any decimal: what a double makes of it."""
