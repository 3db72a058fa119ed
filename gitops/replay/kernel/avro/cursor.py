"""The bytes of one payload, and where in them a reader stands."""

from __future__ import annotations

from typing import NoReturn

from gitops.replay.kernel.avro import reasons
from gitops.replay.kernel.walk import Reason, Unreadable

_CONTINUES = 0x80
_MOST = {32: 5, 64: 10}
_TOO_LARGE = {32: reasons.INT, 64: reasons.LONG}


class Cursor:
    """All that is read is between `at` and the `end` of `data`; paths are for what is said."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at, self.end = data, 0, len(data)

    def fail(self, path: str, reason: str, detail: str = "") -> NoReturn:
        """Stop here: raises Unreadable."""
        more = f" ({detail})" if detail else ""
        message = f"{reason}{more}, at byte {self.at} of {self.end}"
        raise Unreadable(Reason(path, reason), f"{path}: {message}" if path else message)

    def number(self, path: str, bits: int) -> int:
        """A zigzag number of 32 or 64 bits, in as many bytes as Avro allows for them."""
        data, at, end = self.data, self.at, self.end
        found = shift = 0
        for _ in range(_MOST[bits]):
            if at >= end:
                self.fail(path, reasons.ENDS)
            byte = data[at]
            at += 1
            found |= (byte & 0x7F) << shift
            if byte < _CONTINUES:
                break
            shift += 7
        else:
            found = 1 << bits
        if found >> bits:
            self.fail(path, _TOO_LARGE[bits])
        self.at = at
        return (found >> 1) ^ -(found & 1)

    def take(self, path: str, size: int) -> bytes:
        """So many bytes."""
        start, stop = self.at, self.at + size
        if stop > self.end:
            self.fail(path, reasons.ENDS, f"{size} bytes are needed, {self.end - start} are left")
        self.at = stop
        return self.data[start:stop]

    def chunk(self, path: str) -> bytes:
        """As many bytes as the number before them says."""
        size = self.number(path, 64)
        if size < 0:
            self.fail(path, reasons.LENGTH, str(size))
        return self.take(path, size)
