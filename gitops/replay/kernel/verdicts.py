"""The verdicts of a column while it is read, and those of schemas that do not fit at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NoReturn

import numpy
import pyarrow
from numpy.typing import NDArray

from gitops.replay.kernel.protocol import READ, CountKey, Reason, Unreadable, Walk

Rows = NDArray[numpy.int64]
"""Indexes of rows, ascending."""


class Verdicts:
    """Of `rows` rows, all READ until one is stopped; the first reason of a row stays."""

    def __init__(self, rows: int) -> None:
        self.each: NDArray[numpy.int32] = numpy.zeros(rows, numpy.int32)
        self._reasons: dict[Reason, int] = {}

    def stop(self, row: int, reason: Reason) -> None:
        """One row cannot be read."""
        if self.each[row] == READ:
            self.each[row] = self._number(reason)

    def stop_where(self, failing: NDArray[numpy.bool_], reason: Reason) -> None:
        """The rows that are true in `failing` (shape: rows) cannot be read."""
        stopped = failing & (self.each == READ)
        if stopped.any():
            self.each[stopped] = self._number(reason)

    def stop_as(self, rows: Rows, walk: Walk, prefix: str = "") -> None:
        """What a walk over some rows found; its paths are put under `prefix`."""
        for number, reason in enumerate(walk.reasons, start=1):
            failing = numpy.zeros(len(self.each), numpy.bool_)
            failing[rows[walk.verdicts == number]] = True
            self.stop_where(failing, Reason(join_path(prefix, reason.path), reason.reason))

    @property
    def read(self) -> NDArray[numpy.bool_]:
        """Which rows are READ (shape: rows)."""
        read: NDArray[numpy.bool_] = self.each == READ
        return read

    def walk(self, counts: Counter[CountKey], changed: Mapping[str, Rows] | None = None) -> Walk:
        """The answer, with what was counted and changed in the rows that are READ."""
        reasons = tuple(self._reasons)
        return Walk(verdicts=self.each, reasons=reasons, counts=counts, changed=changed or {})

    def _number(self, reason: Reason) -> int:
        return self._reasons.setdefault(reason, len(self._reasons) + 1)


class Mismatch:
    """A Kernel and a RowReader that read no row, for `reason`."""

    def __init__(self, reason: str) -> None:
        self._reason = Reason("", reason)

    def walk(self, payloads: pyarrow.BinaryArray) -> Walk:
        """Every row fails."""
        verdicts = numpy.ones(len(payloads), numpy.int32)
        return Walk(verdicts=verdicts, reasons=(self._reason,) if len(payloads) else ())

    def read(self, payload: bytes) -> NoReturn:
        """Raises Unreadable, whatever the payload."""
        del payload
        raise Unreadable(self._reason, self._reason.reason)


def join_path(prefix: str, path: str) -> str:
    """A path within the member `prefix`: `key` and `id` → `key.id`, `key` and `[]` → `key[]`."""
    if not prefix or not path:
        return prefix or path
    return f"{prefix}{path}" if path[0] in "[{" else f"{prefix}.{path}"
