"""Which text protobuf-java 3.25.5 takes for the default value of a field."""

from __future__ import annotations

import re
from typing import Final

from gitops.schemas.protobuf_native.descriptors import Type

_BITS: Final = {
    Type.INT32: (True, 32),
    Type.SINT32: (True, 32),
    Type.SFIXED32: (True, 32),
    Type.UINT32: (False, 32),
    Type.FIXED32: (False, 32),
    Type.INT64: (True, 64),
    Type.SINT64: (True, 64),
    Type.SFIXED64: (True, 64),
    Type.UINT64: (False, 64),
    Type.FIXED64: (False, 64),
}
"""Whether a type is signed, and its size."""

_SHORT: Final = 16
"""From this many characters on Java reads a BigInteger, else a long."""

_UNCHECKED: Final = 64
"""A short number of so many bits is in range anyway, also a negative one."""

_DECIMAL: Final = 10
_LONGEST: Final = 100
"""No decimal number in range has more digits."""

_NO_DIGITS: Final = frozenset("oOxX_")
"""Python's own marks inside a number."""

_JAVA_BLANKS: Final = "".join(map(chr, range(33)))
_FLOAT: Final = re.compile(
    r"""[+-]?(?:NaN|Infinity
    |(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?[fFdD]?
    |0[xX](?:[0-9a-fA-F]++\.?|[0-9a-fA-F]*+\.[0-9a-fA-F]++)[pP][+-]?[0-9]++[fFdD]?)""",
    re.VERBOSE,
)
_FLOAT_WORDS: Final = frozenset(("inf", "-inf", "nan"))
_BYTES: Final = re.compile(
    r"""(?:[^\\]++
    |\\[0-7abfnrtv\\'"?]
    |\\x[0-9a-fA-F]
    |\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4}
    |\\U(?!0000[dD][89a-fA-F])(?:000[0-9a-fA-F]|0010)[0-9a-fA-F]{4})*+""",
    re.VERBOSE,
)


def is_default_value(text: str, kind: Type) -> bool:
    """Whether `text` is a default value of a scalar type; enums are not decided here."""
    if kind in _BITS:
        return _is_integer(text, *_BITS[kind])
    if kind in {Type.FLOAT, Type.DOUBLE}:
        return text in _FLOAT_WORDS or _FLOAT.fullmatch(text.strip(_JAVA_BLANKS)) is not None
    if kind is Type.BYTES:
        return _BYTES.fullmatch(text) is not None
    return kind in {Type.STRING, Type.BOOL}


def _is_integer(text: str, signed: bool, bits: int) -> bool:  # noqa: FBT001 - from the table
    negative = text.startswith("-")
    if negative and not signed:
        return False
    digits = text[negative:]
    radix = 8 if digits.startswith("0") else _DECIMAL
    if digits.startswith("0x"):
        digits, radix = digits[2:], 16
    number = _number(digits, radix)
    if number is None:
        return False
    return _fits(-number if negative else number, len(digits), signed=signed, bits=bits)


def _fits(number: int, length: int, *, signed: bool, bits: int) -> bool:
    if signed:
        return -(1 << bits - 1) <= number < 1 << bits - 1
    if length < _SHORT:
        return bits == _UNCHECKED or 0 <= number < 1 << bits
    return -(1 << bits) <= number < 1 << bits


def _number(digits: str, radix: int) -> int | None:
    """The number as Java reads it, which may have a sign of its own."""
    if digits != digits.strip() or not _NO_DIGITS.isdisjoint(digits):
        return None
    if radix == _DECIMAL and len(digits) > _LONGEST:
        return None
    try:
        return int(digits, radix)
    except ValueError:
        return None
