"""STRING, and the types whose value is the payload as it is."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy
import pyarrow

from gitops.compatibility.java_text import java_text
from gitops.replay.kernel.columns import as_binary, column
from gitops.replay.kernel.walk import Counted, Reason, Unreadable, Walk, What


class Opaque:
    """BYTES and NONE: every payload is a value."""

    def walk(self, payloads: pyarrow.BinaryArray) -> Walk:
        """Nothing fails."""
        return Walk(verdicts=numpy.zeros(len(payloads), numpy.int32), counts=_read(len(payloads)))

    def read(self, payload: bytes) -> bytes:
        """The payload."""
        return payload

    def write(self, value: Any) -> bytes:  # noqa: ANN401 - what any RowReader answers
        """The value, if it is bytes."""
        if not isinstance(value, bytes):
            raise Unreadable(Reason("", "not a value of BYTES"), "not a value of BYTES")
        return value


class Text:
    """STRING: Java puts U+FFFD where a payload is not UTF-8, so that nothing fails.

    Such a value is counted as CHANGED.
    """

    def walk(self, payloads: pyarrow.BinaryArray) -> Walk:
        """Which texts Java changes."""
        counts = _read(len(payloads))
        if changed := _not_utf8(as_binary(payloads)):
            counts[Counted("", What.CHANGED)] = changed
        return Walk(verdicts=numpy.zeros(len(payloads), numpy.int32), counts=counts)

    def read(self, payload: bytes) -> str:
        """The text as Java reads it."""
        return payload.decode() if _is_utf8(payload) else java_text(payload)

    def write(self, value: Any) -> bytes:  # noqa: ANN401 - what any RowReader answers
        """The text in UTF-8; what has no UTF-8 is written as a question mark, as Java does."""
        if not isinstance(value, str):
            raise Unreadable(Reason("", "not a value of STRING"), "not a value of STRING")
        return value.encode("utf-8", "replace")


def _read(rows: int) -> Counter[Counted]:
    return Counter({Counted("", What.READ): rows} if rows else {})


def _not_utf8(payloads: pyarrow.BinaryArray) -> int:
    rows = column(payloads)
    if not len(rows.starts) or not (rows.data[rows.starts[0] : rows.ends[-1]] & 0x80).any():
        return 0
    return sum(not _is_utf8(payload) for payload in payloads.to_pylist())


def _is_utf8(payload: bytes) -> bool:
    try:
        payload.decode()
    except UnicodeDecodeError:
        return False
    return True
