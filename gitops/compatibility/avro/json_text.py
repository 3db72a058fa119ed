"""JSON as Jackson reads it for Avro: comments allowed, duplicate keys taken, the rest strict."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

Json = Any
"""None, bool, int, float, str, list of Json, or dict from str to Json."""

MAX_DEPTH: Final = 1000
"""Jackson 2.16's StreamReadConstraints: arrays and objects nested deeper are refused."""

MAX_NUMBER_LENGTH: Final = 1000
"""Jackson 2.16's StreamReadConstraints: a longer number is refused."""

_LONG_NUMBER: Final = re.compile(r"\d{%d}" % (MAX_NUMBER_LENGTH + 1))
_STRING_OR_COMMENT: Final = re.compile(
    r'"(?:[^"\\]|\\.)*"?|/\*.*?\*/|//[^\r\n]*', re.DOTALL
)
_BRACKETS: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', re.DOTALL)
_SPACE: Final = " \t\r\n"


class JsonTextError(ValueError):
    """The text is not JSON; `offset` is the character where that shows."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


def _no_constant(name: str) -> NoReturn:
    raise JsonTextError(f"{name} is not JSON", 0)


_DECODER: Final = json.JSONDecoder(parse_constant=_no_constant)


def read_json(text: str) -> Json:
    """The value that the whole of `text` stands for; raises JsonTextError.

    Comments may stand before and inside the value, not behind it (Avro 1.11.4).
    """
    _check_limits(text)
    blanked = blank_comments(text) if "/" in text else text
    start = len(blanked) - len(blanked.lstrip(_SPACE))
    try:
        value, end = _DECODER.raw_decode(blanked, start)
    except json.JSONDecodeError as error:
        raise JsonTextError(error.msg, error.pos) from None
    if text[end:].strip(_SPACE):
        raise JsonTextError("text after the end of the schema", end)
    return value


def blank_comments(text: str) -> str:
    """The text with each comment replaced by as many blanks, so that offsets stay."""
    return _STRING_OR_COMMENT.sub(
        lambda m: m[0] if m[0][0] == '"' else re.sub(r"[^\r\n]", " ", m[0]), text
    )


def _check_limits(text: str) -> None:
    if len(text) > MAX_NUMBER_LENGTH and (found := _LONG_NUMBER.search(text)):
        raise JsonTextError(f"a number of more than {MAX_NUMBER_LENGTH} digits", found.start())
    if text.count("[") + text.count("{") > MAX_DEPTH:
        _check_depth(text)


def _check_depth(text: str) -> None:
    depth = 0
    for found in _BRACKETS.finditer(text):
        if found[0] in "[{":
            depth += 1
        elif found[0] in "]}":
            depth -= 1
        if depth > MAX_DEPTH:
            raise JsonTextError(f"nested deeper than {MAX_DEPTH} levels", found.start())
