"""Where a reader takes nothing of what a writer wrote: one reason for all rows."""

from __future__ import annotations

from typing import NoReturn

import numpy
import pyarrow

from gitops.replay.kernel.walk import Reason, Unreadable, Walk


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
