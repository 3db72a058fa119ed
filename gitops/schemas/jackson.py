"""JSON as Jackson reads it: bytes to text, numbers as written, every member in order."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from gitops.schemas.avro.json_text import (
    MAX_NUMBER_LENGTH,
    check_depth,
    check_member,
    check_number,
    java_double,
)

# Bytes of JSON as Jackson turns them into text.

_BEYOND_ASCII: Final = re.compile(rb"[\x80-\xff]")
_FOLLOWING: Final = re.compile(rb"[\x80-\xbf]{1,3}")
_LEADS: Final = ((0xE0, 0xC0, 2), (0xF0, 0xE0, 3), (0xF8, 0xF0, 4))
"""Mask and mark of a leading byte, and how many bytes its character has."""

_UTF8_MARK: Final = b"\xef\xbb\xbf"
_MARKS: Final = (
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\xfe\xff", "utf-16-be"),
    (b"\xff\xfe", "utf-16-le"),
)
_ASCII: Final = 0x7F
_HIGHEST: Final = 0x10FFFF
_NEVER: Final = "\udfff"
"""Stands for what is no character, or is ASCII in disguise, and is part of no name."""


class JacksonTextError(ValueError):
    """The bytes are in no encoding that Jackson takes for JSON."""


def jackson_text(data: bytes) -> str:
    """JSON bytes as Jackson 2.17 reads them; raises JacksonTextError.

    UTF-16 and UTF-32 are told by a byte order mark or by where the zero bytes of the first
    characters are. The text ends before the first bytes that are no UTF-8: they do no harm behind
    the end of the value, and inside it the value has no end.
    """
    if data.startswith(_UTF8_MARK):
        return _utf8(data[len(_UTF8_MARK) :])
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _wide(data[len(mark) :], encoding)
    encoding = _guess(data)
    return _wide(data, encoding) if encoding else _utf8(data)


def _guess(data: bytes) -> str:
    zeros = tuple(byte == 0 for byte in data[:4])
    match zeros:
        case (True, True, True, _):
            return "utf-32-be"
        case (_, True, True, True):
            return "utf-32-le"
        case (True, True, _, True) | (True, _, True, True):
            raise JacksonTextError("in no encoding of JSON")
        case (True, *_):
            return "utf-16-be"
        case (_, True, *_):
            return "utf-16-le"
        case _:
            return ""


def _wide(data: bytes, encoding: str) -> str:
    errors = "surrogatepass" if encoding.startswith("utf-32") else "replace"
    try:
        return data.decode(encoding, errors)
    except UnicodeDecodeError:
        raise JacksonTextError(f"not {encoding}") from None


def _utf8(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _lenient(data)


def _lenient(data: bytes) -> str:
    """Jackson checks the form of UTF-8 alone: overlong characters and surrogates pass."""
    parts: list[str] = []
    at = 0
    while match := _BEYOND_ASCII.search(data, at):
        parts.append(data[at : match.start()].decode())
        at = match.start()
        length = _length(data[at])
        if not length or not _FOLLOWING.fullmatch(data, at + 1, at + length):
            return "".join(parts) + _NEVER
        parts.append(_character(data[at : at + length]))
        at += length
    parts.append(data[at:].decode())
    return "".join(parts)


def _length(lead: int) -> int:
    """How many bytes a character has that starts with `lead`; 0 where none does."""
    return next((size for mask, mark, size in _LEADS if lead & mask == mark), 0)


def _character(data: bytes) -> str:
    code = data[0] & (0x7F >> len(data))
    for byte in data[1:]:
        code = code << 6 | byte & 0x3F
    return chr(code) if _ASCII < code <= _HIGHEST else _NEVER


# JSON as Jackson's databind reads it: numbers as written, every member, in order.


Json = Any
"""None, bool, str, Whole, Fraction, list of Json, or Members."""

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_INT: Final = range(-(2**31), 2**31)
_PLAIN_NUMBER: Final = re.compile(
    r"[+-]?[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?|[+-]?[0-9]+\.", re.ASCII
)
"""What looks like a number to Jackson 2.18."""


class Whole(str):
    """A number without point or exponent, as it was written."""

    __slots__ = ()


class Fraction(str):
    """A number with a point or an exponent, as it was written."""

    __slots__ = ()


class Members(list[tuple[str, Json]]):
    """An object: its members in order, also those of one name."""

    __slots__ = ()


def end_of_space(text: str, at: int) -> int:
    """Where the white space that starts at `at` ends."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _decoder(number: Callable[[str], str], member: Callable[[str], str]) -> json.JSONDecoder:
    return json.JSONDecoder(
        parse_int=lambda written: Whole(number(written)),
        parse_float=lambda written: Fraction(number(written)),
        parse_constant=_refuse,
        object_pairs_hook=lambda members: Members((member(n), value) for n, value in members),
    )


_DECODER: Final = _decoder(check_number, check_member)
_UNLIMITED_DECODER: Final = _decoder(str, str)


@dataclass(frozen=True, slots=True, kw_only=True)
class Jackson:
    """What versions of Jackson differ in.

    `limited`: depth, numbers and names of members have limits (2.15). `plain_numbers`: text in the
    place of a number has to look like one in JSON (2.18), and not only to Java.
    """

    limited: bool = True
    plain_numbers: bool = False

    @property
    def decoder(self) -> json.JSONDecoder:
        """Reads values, with the limits of numbers and of names."""
        return _DECODER if self.limited else _UNLIMITED_DECODER

    def check_depth(self, text: str) -> None:
        """Refuse what nests too deep; raises JsonTextError."""
        if self.limited:
            check_depth(text)

    def check_member(self, name: str) -> str:
        """The name of a member, unless it is too long; raises JsonTextError."""
        return check_member(name) if self.limited else name

    def is_double(self, text: str) -> bool:
        """Whether text without blanks around it is taken for a double."""
        if self.plain_numbers and not _PLAIN_NUMBER.fullmatch(text):
            return False
        return java_double(text) is not None and not self._is_too_long(text)

    def is_int(self, text: str) -> bool:
        """Whether text without blanks around it is taken for a whole number of 32 bits."""
        digits = text[1:] if text[:1] in ("+", "-") else text
        if self.plain_numbers and self._is_too_long(text):
            return False
        return digits.isdecimal() and int(text) in _INT

    def _is_too_long(self, text: str) -> bool:
        return self.limited and len(text) > MAX_NUMBER_LENGTH


JACKSON_2_14: Final = Jackson(limited=False)
"""Pulsar 3.0.7."""

JACKSON_2_17: Final = Jackson()
"""Pulsar 4.0.7."""

JACKSON_2_18: Final = Jackson(plain_numbers=True)
"""Pulsar 4.2.4, and 2.21 of 5.0.0-M1."""
