"""The wire format of Protobuf, read as protobuf-java 3.25.5 reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NoReturn

from gitops.compatibility.protobuf_native.errors import WireError

VARINT: Final = 0
FIXED64: Final = 1
LENGTH_DELIMITED: Final = 2
START_GROUP: Final = 3
END_GROUP: Final = 4
FIXED32: Final = 5

MAX_DEPTH: Final = 100
"""Messages and groups that nest deeper than this are refused."""

_SIZES: Final = {FIXED64: 8, FIXED32: 4}
_LONGEST_VARINT: Final = 10
_UINT32: Final = (1 << 32) - 1
_INT32_MAX: Final = (1 << 31) - 1


@dataclass(slots=True)
class Reader:
    """A place in `data`; nothing behind `end` is read. Raises WireError."""

    data: bytes
    at: int
    end: int

    def tag(self) -> tuple[int, int]:
        """The number and the wire type of the next field; (0, 0) at the end."""
        if self.at == self.end:
            return 0, 0
        tag = self.varint() & _UINT32
        if not tag >> 3:
            _refuse("a field has the number 0")
        return tag >> 3, tag & 7

    def varint(self) -> int:
        """An unsigned number; where a 32-bit one is wanted, only its low bits count."""
        value = 0
        for index in range(_LONGEST_VARINT):
            if self.at == self.end:
                _refuse("it ends too early")
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << 7 * index
            if byte < 0x80:  # noqa: PLR2004 - the bit that says that more bytes follow
                return value
        return _refuse("a number is too long")

    def int32(self) -> int:
        """A signed number of 32 bits."""
        value = self.varint() & _UINT32
        return value if value <= _INT32_MAX else value - _UINT32 - 1

    def part(self) -> Reader:
        """A reader of the length-delimited value that comes next, which is passed over."""
        size = self.int32()
        start = self.at
        self._skip(size)
        return Reader(self.data, start, self.at)

    def fixed(self, size: int) -> bytes:
        """The value of so many bytes that comes next."""
        start = self.at
        self._skip(size)
        return self.data[start : self.at]

    def rest(self) -> bytes:
        """The bytes up to the end."""
        return self.data[self.at : self.end]

    def skip_field(self, number: int, wire_type: int, depth: int) -> None:
        """Pass over a field of no interest, whose tag was read; groups count into `depth`."""
        if wire_type == VARINT:
            self.varint()
        elif wire_type == LENGTH_DELIMITED:
            self._skip(self.int32())
        elif wire_type in _SIZES:
            self._skip(_SIZES[wire_type])
        elif wire_type == START_GROUP:
            self._skip_group(number, depth)
        else:
            _refuse("a field has no known wire type")

    def _skip_group(self, number: int, depth: int) -> None:
        check_depth(depth)
        while True:
            inner, wire_type = self.tag()
            if not inner or wire_type == END_GROUP:
                break
            self.skip_field(inner, wire_type, depth + 1)
        if inner != number:
            _refuse("a group has no end")

    def _skip(self, size: int) -> None:
        if size < 0 or size > self.end - self.at:
            _refuse("it ends too early")
        self.at += size


def check_depth(depth: int) -> None:
    """Whether a message or group at `depth` may hold another; raises WireError."""
    if depth >= MAX_DEPTH:
        _refuse("its messages nest too deep")


def _refuse(why: str) -> NoReturn:
    raise WireError(why)
