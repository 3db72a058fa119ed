"""What stands on the wire as the value of a type."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any, Final

from gitops.compatibility.java_text import java_text
from gitops.compatibility.protobuf_native.descriptors import Type

_BITS32: Final = (1 << 32) - 1
_BITS64: Final = (1 << 64) - 1

Raw = int | bytes
"""A varint, or the bytes of a fixed or a length-delimited value."""


def value_of(kind: Type, raw: Raw) -> Any:  # noqa: ANN401 - a scalar
    """The value; an enum is its number, text that is not UTF-8 has U+FFFD in it."""
    return _VALUES[kind](raw)


def raw_of(kind: Type, value: Any) -> Raw:  # noqa: ANN401 - a scalar
    """The opposite; raises ValueError, TypeError, OverflowError or struct.error."""
    if kind in _STRUCTS:
        packed: bytes = _STRUCTS[kind].pack(value)
        return packed
    if kind is Type.STRING:
        return bytes(value.encode("utf-8"))
    if kind in {Type.BYTES, Type.MESSAGE}:
        return bytes(value)
    if kind is Type.SINT32:
        return int((value << 1) ^ (value >> 31)) & _BITS32
    if kind is Type.SINT64:
        return int((value << 1) ^ (value >> 63)) & _BITS64
    return int(value) & _BITS64


def _signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _zigzag(value: int) -> int:
    return (value >> 1) ^ -(value & 1)


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return java_text(raw)


_STRUCTS: Final = {
    Type.FLOAT: struct.Struct("<f"),
    Type.FIXED32: struct.Struct("<I"),
    Type.SFIXED32: struct.Struct("<i"),
    Type.DOUBLE: struct.Struct("<d"),
    Type.FIXED64: struct.Struct("<Q"),
    Type.SFIXED64: struct.Struct("<q"),
}


def _unpacking(kind: Type) -> Callable[[Any], Any]:
    unpack = _STRUCTS[kind].unpack
    return lambda raw: unpack(raw)[0]


_VALUES: Final[Mapping[Type, Callable[[Any], Any]]] = {
    Type.INT32: lambda raw: _signed(raw, 32),
    Type.INT64: lambda raw: _signed(raw, 64),
    Type.UINT32: lambda raw: raw & _BITS32,
    Type.UINT64: lambda raw: raw & _BITS64,
    Type.BOOL: lambda raw: raw & _BITS64 != 0,
    Type.ENUM: lambda raw: _signed(raw, 32),
    Type.SINT32: lambda raw: _zigzag(raw & _BITS32),
    Type.SINT64: lambda raw: _zigzag(raw & _BITS64),
    Type.STRING: _text,
    Type.BYTES: bytes,
    Type.MESSAGE: bytes,
    Type.GROUP: bytes,
    **{kind: _unpacking(kind) for kind in _STRUCTS},
}
