"""JSON and numbers as Jackson and Java read them for Avro: comments, duplicate keys."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal
from itertools import accumulate
from typing import Any, Final, NoReturn

# JSON as Jackson reads it for Avro: comments allowed, duplicate keys taken, the rest strict.

Json = Any
"""None, bool, int, float, str, list of Json, or dict from str to Json."""

MAX_DEPTH: Final = 1000
"""Jackson 2.16's StreamReadConstraints: arrays and objects nested deeper are refused."""

MAX_NUMBER_LENGTH: Final = 1000
"""Jackson 2.16's StreamReadConstraints: a longer number is refused."""

MAX_NAME_LENGTH: Final = 50_000
"""Jackson 2.16's StreamReadConstraints: a longer name of a member is refused."""

_STRING_OR_COMMENT: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"?|/\*.*?\*/|//[^\r\n]*', re.DOTALL)
_BRACKETS: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[{]|[\]}]', re.DOTALL)
_ON_A_LINE: Final = re.compile(r"[^\r\n]+")
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
"""What Jackson takes in no comment."""
_NO_BRACKETS: Final = re.compile(r"[^\[\]{}]+")
_SPACE: Final = " \t\r\n"
_BLANKS: Final = "".join(map(chr, range(33)))
"""What Java's String.trim takes away."""
_STEPS: Final = {"[": 1, "{": 1, "]": -1, "}": -1}


class JsonTextError(ValueError):
    """The text is not JSON; `offset` is the character where that shows."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


def _no_constant(name: str) -> NoReturn:
    raise JsonTextError(f"{name} is not JSON", 0)


def check_number(number: str) -> str:
    """The number, if Jackson reads one with so many digits; raises JsonTextError."""
    if len(number) > MAX_NUMBER_LENGTH and sum(map(str.isdigit, number)) > MAX_NUMBER_LENGTH:
        raise JsonTextError(f"a number of more than {MAX_NUMBER_LENGTH} digits", 0)
    return number


def check_member(name: str) -> str:
    """The name of a member, if Jackson reads one so long; raises JsonTextError."""
    if len(name) > MAX_NAME_LENGTH:
        raise JsonTextError(f"a name of more than {MAX_NAME_LENGTH} characters", 0)
    return name


def _decoder(hook: Callable[[list[tuple[str, Json]]], Json] | None) -> json.JSONDecoder:
    return json.JSONDecoder(
        parse_constant=_no_constant,
        parse_int=lambda number: int(check_number(number)),
        parse_float=lambda number: float(check_number(number)),
        object_pairs_hook=hook,
    )


def _long_int(number: str) -> int:
    """A whole number of any length: Python's own limit is there against slow texts."""
    return int(number) if len(number) <= MAX_NUMBER_LENGTH else int(Decimal(number))


_DECODER: Final = _decoder(None)
_UNLIMITED_DECODER: Final = json.JSONDecoder(parse_constant=_no_constant, parse_int=_long_int)
_MEMBER_DECODER: Final = _decoder(
    lambda members: {check_member(name): value for name, value in members}
)


def read_json(text: str) -> Json:
    """The value that the whole of `text` stands for; raises JsonTextError.

    Comments may stand before and inside the value, not behind it (Avro 1.11.4).
    """
    value, end = read_value(text)
    check_end(text, end)
    return value


def read_value(text: str, *, limited: bool = True) -> tuple[Json, int]:
    """The value at the start of `text`, and where it ends; raises JsonTextError.

    Not `limited`: depth and lengths are not looked at, as before Jackson 2.15 (Pulsar 3.0.7).
    """
    blanked = blank_comments(text) if "/" in text else text
    if limited:
        check_depth(blanked)
    start = len(blanked) - len(blanked.lstrip(_SPACE))
    decoder = _decoder_for(blanked) if limited else _UNLIMITED_DECODER
    try:
        value: Json
        value, end = decoder.raw_decode(blanked, start)
    except json.JSONDecodeError as error:
        raise JsonTextError(error.msg, error.pos) from None
    return value, end


def read_cut(text: str) -> Json:
    """The value that `text` is and nothing else: what was cut out of JSON, not too deep.

    Raises JsonTextError.
    """
    try:
        value: Json = _decoder_for(text).raw_decode(text)[0]
    except json.JSONDecodeError as error:
        raise JsonTextError(error.msg, error.pos) from None
    return value


def check_end(text: str, end: int) -> None:
    """Refuse anything but blanks and control characters from `end` on; raises JsonTextError."""
    if text[end:].strip(_BLANKS):
        raise JsonTextError("text after the end of the schema", end)


def blank_comments(text: str) -> str:
    """The text with each comment replaced by as many blanks, so that offsets stay.

    One with a control character stays, and is not JSON, as to Jackson.
    """
    return _STRING_OR_COMMENT.sub(_blanks_for, text)


def _blanks_for(match: re.Match[str]) -> str:
    if match[0][0] == '"' or _CONTROLS.search(match[0]):
        return match[0]
    return _ON_A_LINE.sub(lambda line: " " * len(line[0]), match[0])


def _decoder_for(text: str) -> json.JSONDecoder:
    """The one that looks at the names of members, which is slower, where one may be too long."""
    if len(text) <= MAX_NAME_LENGTH:
        return _DECODER
    quotes_delimit = '\\"' not in text
    if quotes_delimit and max(map(len, text.split('"'))) <= MAX_NAME_LENGTH:
        return _DECODER
    return _MEMBER_DECODER


def check_depth(text: str) -> None:
    """Refuse what Jackson refuses for its depth; raises JsonTextError."""
    if text.count("[") + text.count("{") <= MAX_DEPTH or is_shallow(text, MAX_DEPTH):
        return
    depth = 0
    for match in _BRACKETS.finditer(text):
        if match[0] in "[{":
            depth += 1
        elif match[0] in "]}":
            depth -= 1
        if depth > MAX_DEPTH:
            raise JsonTextError(f"nested deeper than {MAX_DEPTH} levels", match.start())


def is_shallow(text: str, most: int) -> bool:
    """Whether it shows without a look at each string that `text` has `most` levels at most.

    Only where a quote always begins or ends one: none is escaped or in a comment.
    """
    if "\\" in text or "//" in text or "/*" in text or text.count('"') % 2:
        return False
    outside_strings = "".join(text.split('"')[::2])
    brackets = _NO_BRACKETS.sub("", outside_strings)
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) <= most


# Numbers written as text, as Java's Double.valueOf reads them.


_DECIMAL: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[fFdD]?", re.ASCII)
_HEXADECIMAL: Final = re.compile(
    r"([+-]?0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?\d+)[fFdD]?", re.ASCII
)
_NO_NUMBER: Final = re.compile(r"([+-]?)(NaN|Infinity)")


def java_double(text: str) -> float | None:
    """The number, None where Java throws NumberFormatException."""
    stripped = text.strip(_BLANKS)
    if match := _NO_NUMBER.fullmatch(stripped):
        return float(f"{match[1]}{match[2]}")
    if _DECIMAL.fullmatch(stripped):
        return float(stripped.rstrip("fFdD"))
    if match := _HEXADECIMAL.fullmatch(stripped):
        return _from_hex(match[1])
    return None


def _from_hex(text: str) -> float:
    try:
        return float.fromhex(text)
    except OverflowError:
        return float("-inf") if text.startswith("-") else float("inf")
