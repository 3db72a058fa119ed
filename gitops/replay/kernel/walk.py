"""What a kernel answers for a column of payloads."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, Protocol

import numpy
import pyarrow
from numpy.typing import NDArray

READ = 0
"""The verdict of a row that was read."""


class What(Enum):
    """What is counted at a path; `FieldReplay` says what each means."""

    READ = "read"
    PROMOTED = "promoted"
    CHANGED = "changed"
    DEFAULTED = "defaulted"
    DROPPED = "dropped"
    NULLS = "nulls"
    SYMBOL = "symbol"
    BRANCH = "branch"


class Counted(NamedTuple):
    """A key of the counts; `value` is the symbol or the branch, else empty."""

    path: str
    what: What
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
    the writer's order. `counts` are over the rows that were read.
    """

    verdicts: NDArray[numpy.int32]
    reasons: tuple[Reason, ...] = ()
    counts: Counter[Counted] = field(default_factory=Counter)


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
