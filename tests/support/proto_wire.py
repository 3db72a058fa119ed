"""Random Protobuf messages as bytes, in all the forms that a writer may choose and some it may not.

Fields come in any order and several times, packed and apart; parts of one message lie apart;
entries of maps lack their key or their value or have them twice; enums have numbers that nobody
named; text is not always text; and now and then a required field is left out.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from gitops.replay.kernel.protobuf.schema_pair import FIXED32S, FIXED64S, VARINTS, WIRE_TYPES
from gitops.schemas.protobuf_native.descriptors import Label, Type
from gitops.schemas.protobuf_native.schema import Field, Message

_VARINT, _FIXED64, _LENGTH, _START, _END, _FIXED32 = range(6)
_NUMBERS: Final = (0, 1, 2, 3, 127, 128, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63, 2**64 - 1)
_TEXTS: Final = (b"", b"a", b"b", "ü".encode(), b"xyz")
_NO_TEXTS: Final = (b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"a\xc3")
_DEEPEST: Final = 4
_FEW: Final = 10


class ProtoWire:
    """Messages drawn from `random`; `odd` is how often something is not as it should be."""

    def __init__(self, random: Random, *, odd: float = 0.03) -> None:
        self.random = random
        self.odd = odd

    def message(self, message: Message, depth: int = 0) -> bytes:
        """The bytes of a message, or of a group without its tags."""
        parts = self._pieces(message, depth)
        self.random.shuffle(parts)
        if self._slip():
            parts.append(self._unknown())
        return b"".join(parts)

    def _pieces(self, message: Message, depth: int) -> list[bytes]:
        """What may stand in any order: the members of a oneof are one piece."""
        alone = [field for field in message.fields if field.oneof is None]
        found = [part for field in alone for part in self._parts(field, message, depth)]
        for oneof in {field.oneof for field in message.fields} - {None}:
            members = [field for field in message.fields if field.oneof == oneof]
            chosen = self.random.sample(members, self.random.choice((0, 1, 1, 2, 3)))
            chosen = [field for field in chosen if not self._is_deep(field, depth)]
            found.append(b"".join(part for field in chosen for part in self._once(field, depth)))
        return found

    def _parts(self, field: Field, message: Message, depth: int) -> list[bytes]:
        times = self._times(field, message, depth)
        if _merges(field) and not self._is_deep(field, depth) and self._slip():
            times += 1
        return [part for _ in range(times) for part in self._once(field, depth)]

    def _times(self, field: Field, message: Message, depth: int) -> int:
        if field.label is Label.REQUIRED:
            return int(not self._slip())
        if self._is_deep(field, depth):
            return 0
        if message.map_entry:
            return self.random.choice((0, 1, 1, 1, 1, 1 + _merges(field)))
        share = 0.5 if len(message.fields) < _FEW else 0.15
        if self.random.random() > share:
            return 0
        return self.random.randint(1, 3) if field.repeated else 1

    def _is_deep(self, field: Field, depth: int) -> bool:
        return field.message is not None and depth >= _DEEPEST

    def _once(self, field: Field, depth: int) -> list[bytes]:
        """A field in one piece, or a message in two that are merged."""
        if field.message is not None:
            if field.repeated or not _merges(field) or self.random.random() < 0.8:
                return [self._of_message(field, self.message(field.message, depth + 1))]
            return [self._of_message(field, part) for part in self._split(field.message, depth)]
        if self._slip():
            return [self._tagged(field.number, self.random.choice((0, 1, 2, 5)))]
        packed = field.repeated and field.type in VARINTS | FIXED32S | FIXED64S
        if packed and self.random.random() < 0.5:
            values = b"".join(self._scalar(field) for _ in range(self.random.randrange(4)))
            return [_tag(field.number, _LENGTH) + _sized(values)]
        return [_tag(field.number, WIRE_TYPES[field.type]) + self._scalar(field)]

    def _split(self, message: Message, depth: int) -> Sequence[bytes]:
        """Each part has some of the fields, required ones among them."""
        parts: list[list[bytes]] = [[], []]
        for one in self._pieces(message, depth + 1):
            self.random.choice(parts).append(one)
        return [b"".join(part) for part in parts]

    def _of_message(self, field: Field, data: bytes) -> bytes:
        if field.type is Type.GROUP:
            return _tag(field.number, _START) + data + _tag(field.number, _END)
        return _tag(field.number, _LENGTH) + _sized(data)

    def _scalar(self, field: Field) -> bytes:
        if field.enum is not None:
            known = [value.number for value in field.enum.values]
            return varint(self.random.choice((*known, *known, 9, -9)) & (2**64 - 1))
        if field.type in VARINTS:
            return self._number()
        if field.type in FIXED32S:
            return self.random.choice((bytes(4), struct.pack("<f", 1.5), self.random.randbytes(4)))
        if field.type in FIXED64S:
            return self.random.choice((bytes(8), struct.pack("<d", 1.5), self.random.randbytes(8)))
        return _sized(self.random.choice(_NO_TEXTS if self._slip() else _TEXTS))

    def _number(self) -> bytes:
        """Now and then in ten bytes, of which the last one is any."""
        if self._slip():
            return bytes([*(byte | 0x80 for byte in self.random.randbytes(9)), self._last()])
        return varint(self.random.choice(_NUMBERS))

    def _last(self) -> int:
        return self.random.choice((0, 0, 1, self.random.randrange(0x80)))

    def _unknown(self) -> bytes:
        return self._tagged(self.random.choice((3, 17, 99, 100, 101, 500)), _VARINT)

    def _tagged(self, number: int, wire_type: int) -> bytes:
        values: dict[int, Callable[[], bytes]] = {
            _VARINT: lambda: varint(self.random.choice(_NUMBERS)),
            _FIXED64: lambda: self.random.randbytes(8),
            _LENGTH: lambda: _sized(self.random.choice(_TEXTS)),
            _FIXED32: lambda: self.random.randbytes(4),
        }
        return _tag(number, wire_type) + values[wire_type]()

    def _slip(self) -> bool:
        return self.random.random() < self.odd


def _merges(field: Field) -> bool:
    """Whether the field may come again.

    Java's classes remember what a oneof held before another member of it came; others forget it.
    """
    return field.repeated or field.message is None or not field.message.oneofs


def _tag(number: int, wire_type: int) -> bytes:
    return varint(number << 3 | wire_type)


def _sized(data: bytes) -> bytes:
    return varint(len(data)) + data


def varint(value: int) -> bytes:
    """A number as it is valid on the wire; none below zero."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])
