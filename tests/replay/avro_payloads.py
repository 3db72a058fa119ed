"""Random payloads of a schema, well-formed but not as anybody would write them, and spoilt ones."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final

from gitops.schemas.avro.schema import Array, Enum, Fixed, Map, Record, Schema, Union
from tests.oracle.random_source import Chance

_DEEP: Final = 6
_TOO_DEEP: Final = 60
_DAY: Final = 86_400_000
"""Of milliseconds; the numbers next to it decide whether they are times."""

_INTS: Final = (
    *(0, 1, -1, 63, 64, -64, -65, 127, 128, -129, 2**15, -(2**15) - 1, 2**16),
    *(2**24, 2**24 + 1, _DAY - 1, _DAY, 2**31 - 1, -(2**31)),
)
_LONGS: Final = (
    *_INTS,
    1000 * _DAY - 1,
    1000 * _DAY,
    2**53,
    2**53 + 1,
    -(2**53) - 1,
    2**62,
    2**63 - 1,
    -(2**63),
    1_700_000_000_000,
)
_FLOATS: Final = (0.0, -0.0, 1.5, 3.4e38, float("inf"), float("nan"))
_TEXTS: Final = (
    *("", "a", "\0", "é", "\U0001f600", "ñandú", "x" * 70, "z" * 300),
    *("f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6"),
    *("f81d4fae-7dec-11d0-a765-00a0c91e6bfg", "f81d4fae-7dec-11d0a765--00a0c91e6bf6"),
    *("1-2-3-4-5", "01-2-3-4", "12", "-12.50", "1e5", "+0", "1.", ".", "--1", "1\n2"),
    *("http://host/a?b#c", "http://host:port/", "a b", "urn:x:y"),
)
"""Some are what logical types and Java's classes take."""

_NO_TEXTS: Final = (
    b"\xff",
    b"a\xc3",
    b"\xed\xa0\x80",
    b"\xc0\x80",
    b"\xf4\x90\x80\x80",
    b"\xe2\x82",
)


class EndlessError(ValueError):
    """No value of the schema ends."""


class AvroPayloads:
    """Payloads drawn from `chance`; texts that are no UTF-8 are among them if `any_bytes`."""

    def __init__(
        self, chance: Chance, *, any_bytes: bool = True, several_blocks: bool = True
    ) -> None:
        self.chance = chance
        self.any_bytes = any_bytes
        self._blocks_of = (0, 1, 1, 1, 2, 3) if several_blocks else (0, 1)

    def payload(self, schema: Schema) -> bytes:
        """A message of the schema; raises EndlessError."""
        return self._value(schema, 0)

    def spoilt(self, payload: bytes, other: Callable[[], bytes]) -> bytes:
        """The payload with what can happen to it on its way."""
        chance = self.chance
        at = chance.randrange(len(payload) + 1)
        match chance.randrange(9):
            case 0:
                return payload[:at]
            case 1:
                return payload[at:]
            case 2:
                return payload + other()
            case 3:
                return payload + chance.randbytes(chance.randrange(1, 4))
            case 4:
                return chance.randbytes(chance.randrange(40))
            case 5:
                return payload[:at] + chance.choice(_FORGED) + payload[at:]
            case 6:
                return payload[:at] + chance.choice(_FORGED) + payload[at + 1 :]
            case _:
                return self._flipped(payload)

    def _flipped(self, payload: bytes) -> bytes:
        found = bytearray(payload)
        for _ in range(self.chance.choice((1, 1, 2, 5)) if found else 0):
            found[self.chance.randrange(len(found))] ^= 1 << self.chance.randrange(8)
        return bytes(found)

    # ------------------------------------------------------------ well-formed

    def _value(self, schema: Schema, depth: int) -> bytes:
        if depth > _TOO_DEEP:
            raise EndlessError
        match schema:
            case Record():
                return b"".join([self._value(field.type, depth + 1) for field in schema.all_fields])
            case Union():
                return self._union(schema, depth)
            case Array():
                return self._blocks(lambda: self._value(schema.items, depth + 1), depth)
            case Map():
                return self._blocks(
                    lambda: self._text() + self._value(schema.values, depth + 1), depth
                )
            case Enum():
                return self._varint(self.chance.randrange(len(schema.symbols)))
            case Fixed():
                return self.chance.randbytes(schema.size)
            case _:
                return self._scalar(schema.kind)

    def _union(self, union: Union, depth: int) -> bytes:
        if not union.branches:
            raise EndlessError
        indexes = list(range(len(union.branches)))
        if depth > _DEEP:
            flat = [i for i in indexes if not isinstance(union.branches[i], Record | Union)]
            indexes = flat or indexes
        index = self.chance.choice(indexes)
        return self._varint(index) + self._value(union.branches[index], depth + 1)

    def _blocks(self, item: Callable[[], bytes], depth: int) -> bytes:
        """Up to a few blocks, some of which say their size."""
        chance, found = self.chance, b""
        if depth > _DEEP:
            return self._varint(0)
        for _ in range(chance.choice(self._blocks_of)):
            count = chance.choice((1, 1, 2, 3, 30 if chance.maybe(0.1) else 1))
            items = b"".join([item() for _ in range(count)])
            if chance.maybe(0.3):
                found += self._varint(-count) + self._varint(len(items)) + items
            else:
                found += self._varint(count) + items
        return found + self._varint(0)

    def _scalar(self, kind: str) -> bytes:
        chance = self.chance
        match kind:
            case "null":
                return b""
            case "boolean":
                return chance.choice((b"\0", b"\1"))
            case "int" | "long":
                return self._whole(32 if kind == "int" else 64)
            case "float":
                return struct.pack("<f", chance.choice(_FLOATS))
            case "double":
                return chance.choice((struct.pack("<d", chance.choice(_FLOATS)), self._double()))
            case "string":
                return self._text()
            case _:
                return self._bytes()

    def _whole(self, bits: int) -> bytes:
        chance, half = self.chance, 2 ** (bits - 1)
        known = _INTS if bits == 32 else _LONGS
        number = chance.choice(known) if chance.maybe(0.5) else chance.randrange(-half, half)
        return self._varint(number, 5 if bits == 32 else 10)

    def _double(self) -> bytes:
        return self.chance.randbytes(8)

    def _bytes(self) -> bytes:
        chance = self.chance
        data = chance.choice((b"", chance.randbytes(4), chance.choice(_TEXTS).encode()))
        if not self.any_bytes:
            data = data.decode("latin-1").encode()  # a reader may take them as text
        return self._varint(len(data)) + data

    def _text(self) -> bytes:
        data = self.chance.choice(_TEXTS).encode()
        if self.any_bytes and self.chance.maybe(0.05):
            data = self.chance.choice(_NO_TEXTS)
        return self._varint(len(data)) + data

    def _varint(self, number: int, most: int = 5) -> bytes:
        """Zigzag; now and then with more bytes than are needed."""
        left = (number << 1) ^ (number >> 63)
        found = bytearray()
        while left > 0x7F:
            found.append(left & 0x7F | 0x80)
            left >>= 7
        found.append(left)
        if self.chance.maybe(0.02) and len(found) < most:
            found[-1] |= 0x80
            found += b"\x80" * (self.chance.randrange(most - len(found))) + b"\0"
        return bytes(found)


def _zigzag(number: int) -> bytes:
    left, found = (number << 1) ^ (number >> 63), bytearray()
    while left > 0x7F:
        found.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*found, left])


_FORGED: Final = (
    *(b"\xff" * n for n in (1, 4, 5, 9, 10, 11)),
    *(b"\xff" * n + last for n in (4, 9) for last in (b"\x0f", b"\x10", b"\x01", b"\x02", b"\0")),
    *map(_zigzag, (-1, -2, 127, 1000, 1001, 10**6, 2**31, 2**62)),
    *map(_zigzag, (2**63 - 1, -(2**63), 1 - 2**63)),
    _zigzag(-1) + _zigzag(2**62),
    _zigzag(-(2**63)) + _zigzag(0),
    b"\0", b"\x02", b"\x04",
)  # fmt: skip
