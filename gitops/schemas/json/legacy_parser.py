"""The old form of JSON definitions: Jackson's JsonSchema, which Pulsar still reads.

Only whether a text is in that form matters, and its `id`; nothing in it is ever compared. Seen
with jackson-module-jsonSchema 2.17.2, as it is in Pulsar 4.0.7.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gitops.schemas.avro.json_text import JsonTextError, check_depth, check_member
from gitops.schemas.jackson import (
    DECODER,
    Fraction,
    JacksonTextError,
    Json,
    Members,
    Whole,
    end_of_space,
    jackson_text,
)
from gitops.schemas.json.legacy_json_classes import (
    KINDS,
    JsonSchema,
    LegacyMismatchError,
    check_schema,
    read_bean,
    scalar_text,
)

_AFTER_WORD: Final = r"[0-9A-Za-z_\x7f-\U0010ffff]"
_NO_END: Final = re.compile(_AFTER_WORD)
"""What may not follow a word such as null at once."""

_NEXT_TOKEN: Final = re.compile(
    rf"""[ \t\r\n]*(?: \] | ,[ \t\r\n]*(?: ["{{\[] | (?:true|false|null)(?!{_AFTER_WORD})
        | -?(?:0(?![0-9])|[1-9][0-9]{{,999}}+(?![0-9]))
          (?:\.[0-9]++|(?!\.)) (?:[eE][+-]?[0-9]|(?![eE])) ))""",
    re.VERBOSE,
)
"""What Jackson has looked at when it is told the first item of a list."""


_NO_NUMBER: Final = re.compile(r"-?0[0-9]|-?[0-9]+\.$|-?[0-9]+(?:\.[0-9]+)?[eE]$")
"""What Jackson refuses as soon as it reads it, where Python ends a number earlier."""


class UnknownTypeIdError(ValueError):
    """A top-level `type` that Jackson does not know; the broker answers 500 (Pulsar 4.0.7)."""


class NotJacksonError(ValueError):
    """The text is no JsonSchema."""


def read_data(data: bytes) -> JsonSchema | None:
    """As `read`, for the bytes that a registry stores, which need not be UTF-8 to Jackson."""
    try:
        return _read(jackson_text(data))
    except JacksonTextError as error:
        raise NotJacksonError(str(error)) from None


def read(text: str) -> JsonSchema | None:
    """The schema, or None for the text `null`; raises NotJacksonError, UnknownTypeIdError.

    Text behind the value is not looked at. An unknown `type` is told as soon as it is read, so
    that it hides whatever is wrong behind it, and nothing before it.
    """
    return _read(text.removeprefix("\ufeff"))


def _read(text: str) -> JsonSchema | None:
    start = end_of_space(text, 0)
    try:
        text = _as_deep_as_read(text)
        if text.startswith("{", start):
            return _read_object(text, start + 1)
        return _read_other(text, start)
    except (LegacyMismatchError, RecursionError) as error:
        raise NotJacksonError(str(error)) from None
    except UnknownTypeIdError:
        raise
    except ValueError as error:
        raise NotJacksonError(f"not JSON: {error}") from None


def _as_deep_as_read(text: str) -> str:
    """The text up to where it nests too deep, which Jackson finds no earlier than it gets there."""
    try:
        check_depth(text)
    except JsonTextError as error:
        return text[: error.offset]
    return text


def _read_object(text: str, start: int) -> JsonSchema:
    members = Members()
    kind: str | None = None
    for name, value in _members(text, start):
        if kind is None and name == "type" and (kind := scalar_text(value)) is not None:
            _known(kind)
        members.append((name, value))
    if kind is None:
        raise NotJacksonError("it has no 'type'")
    return read_bean(kind, members)


def _known(kind: str) -> None:
    if kind not in KINDS:
        raise UnknownTypeIdError(f"'{kind}' is not a type of JsonSchema")


def _members(text: str, at: int) -> Iterator[tuple[str, Json]]:
    at = end_of_space(text, at)
    if text.startswith("}", at):
        return
    while True:
        name, at = _value(text, at)
        if not isinstance(name, str):
            raise NotJacksonError("a name is not text")
        value, at = _value(text, _after(text, at, ":"))
        yield check_member(name), value
        at = end_of_space(text, at)
        if text.startswith("}", at):
            return
        at = end_of_space(text, _after(text, at, ","))


def _value(text: str, at: int) -> tuple[Json, int]:
    value: Json
    value, end = DECODER.raw_decode(text, end_of_space(text, at))
    if isinstance(value, Whole | Fraction) and _NO_NUMBER.match(value + text[end : end + 1]):
        raise NotJacksonError("not JSON: a number goes on as none does")
    return value, end


def _after(text: str, at: int, mark: str) -> int:
    at = end_of_space(text, at)
    if not text.startswith(mark, at):
        raise NotJacksonError(f"expected '{mark}'")
    return at + 1


def _read_other(text: str, start: int) -> JsonSchema | None:
    """`null`, or the form `["type", {members}]`, which Jackson takes as well."""
    if text.startswith("[", start):
        _check_first(text, start + 1)
    value, end = DECODER.raw_decode(text, start)
    if value is None and _NO_END.match(text, end):
        raise NotJacksonError("not JSON")
    return check_schema(value)


def _check_first(text: str, at: int) -> None:
    """Tell an unknown type before anything behind it is read but the beginning of a token."""
    value, end = _value(text, at)
    kind = "null" if value is None else scalar_text(value)
    if kind is not None and _NEXT_TOKEN.match(text, end):
        _known(kind)
