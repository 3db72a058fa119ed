"""JSON as Jackson's databind reads it: numbers as written, every member, in order."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

from gitops.compatibility.avro.json_text import check_member, check_number

Json = Any
"""None, bool, str, Whole, Fraction, list of Json, or Members."""

_SPACE: Final = re.compile(r"[ \t\r\n]*")


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
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


DECODER: Final = json.JSONDecoder(
    parse_int=lambda number: Whole(check_number(number)),
    parse_float=lambda number: Fraction(check_number(number)),
    parse_constant=_refuse,
    object_pairs_hook=lambda members: Members((check_member(n), value) for n, value in members),
)
