"""Text to JSON, as strict as Jackson, with every member of an object in its order."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, Final, NoReturn

from gitops.replay.kernel.protocol import Reason, Unreadable, UnrepresentableNumber
from gitops.schemas.avro.json_text import (
    MAX_DEPTH,
    MAX_NAME_LENGTH,
    MAX_NUMBER_LENGTH,
    JsonTextError,
    check_depth,
    check_number,
)

_BYTE_ORDER_MARK: Final = "\ufeff"
_SPACE: Final = " \t\r\n"


class Pairs(dict[str, Any]):
    """The members of an object; `twice` is the first name that stands twice, None if none does."""

    def __init__(self, members: list[tuple[str, Any]]) -> None:
        super().__init__(members)
        self.twice = _first_twice(members) if len(self) < len(members) else None


def _short_pairs(members: list[tuple[str, Any]]) -> Pairs:
    """Raises JsonTextError for a name that is too long, in bytes as Jackson counts them."""
    for name, _ in members:
        if len(name.encode("utf-8", "surrogatepass")) > MAX_NAME_LENGTH:
            raise JsonTextError(f"a name of more than {MAX_NAME_LENGTH:,} bytes", 0)
    return Pairs(members)


def _first_twice(members: Iterable[tuple[str, Any]]) -> str | None:
    seen: set[str] = set()
    for name, _ in members:
        if name in seen:
            return name
        seen.add(name)
    return None


def _no_constant(name: str) -> NoReturn:
    raise JsonTextError(f"{name} is not JSON", 0)


def _decoder(hook: Callable[[list[tuple[str, Any]]], Pairs]) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=hook,
        parse_constant=_no_constant,
        parse_int=lambda number: int(check_number(number)),
        parse_float=lambda number: _fraction(check_number(number)),
    )


_DECODER: Final = _decoder(Pairs)
_LONG_DECODER: Final = _decoder(_short_pairs)
"""Of messages that have room for a name that is too long."""


def _fraction(number: str) -> Decimal | UnrepresentableNumber:
    """With all its digits."""
    try:
        return Decimal(number)
    except ArithmeticError:
        return UnrepresentableNumber(number)


def parse(payload: bytes) -> Any:  # noqa: ANN401 - JSON
    """The value, fractions as Decimal, objects as Pairs; raises Unreadable."""
    if not payload.strip():
        raise Unreadable(Reason("", "the message is empty"), "the message is empty")
    try:
        text = payload.decode()
    except UnicodeDecodeError as error:
        raise Unreadable(Reason("", "not UTF-8"), f"not UTF-8 at byte {error.start}") from None
    text = text.removeprefix(_BYTE_ORDER_MARK).strip(_SPACE)
    try:
        check_depth(text)
        decoder = _LONG_DECODER if len(payload) > MAX_NAME_LENGTH else _DECODER
        value, end = decoder.raw_decode(text)
    except json.JSONDecodeError as error:
        reason = Reason("", "not JSON")
        raise Unreadable(reason, f"not JSON at character {error.pos}: {error.msg}") from None
    except JsonTextError as error:
        raise _limit(error) from None
    except RecursionError:
        raise _limit(JsonTextError(f"nested deeper than {MAX_DEPTH} levels", 0)) from None
    if end != len(text):
        reason = Reason("", "text left over after the JSON value")
        raise Unreadable(reason, f"{reason.reason}, from character {end}")
    return value


def _limit(error: JsonTextError) -> Unreadable:
    return Unreadable(Reason("", str(error)), str(error))


LIMITS: Final = re.compile(rb"[0-9][0-9.eE+\-]{%d}" % MAX_NUMBER_LENGTH)
"""What a number that Jackson refuses for its digits begins with."""
