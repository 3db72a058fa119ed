"""The old form of JSON definitions: Jackson's JsonSchema, which Pulsar still reads.

Only whether a text is in that form matters, and its `id`; nothing in it is ever compared. Seen
with jackson-module-jsonSchema 2.17.2, as it is in Pulsar 4.0.7.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gitops.compatibility.avro.json_text import check_depth, check_member
from gitops.compatibility.jackson_beans import (
    KINDS,
    JsonSchema,
    MisfitError,
    check_schema,
    read_bean,
    scalar_text,
)
from gitops.compatibility.jackson_text import DECODER, Json, Members, end_of_space

_IDENTIFIER: Final = re.compile(r"\w|\$")


class UnknownTypeIdError(ValueError):
    """A top-level `type` that Jackson does not know; the broker answers 500 (Pulsar 4.0.7)."""


class NotJacksonError(ValueError):
    """The text is no JsonSchema."""


def read(text: str) -> JsonSchema | None:
    """The schema, or None for the text `null`; raises NotJacksonError, UnknownTypeIdError.

    Text behind the value is not looked at. An unknown `type` is told as soon as it is read, so
    that it hides whatever is wrong behind it, and nothing before it.
    """
    text = text.removeprefix("\ufeff")
    start = end_of_space(text, 0)
    try:
        check_depth(text)
        if text.startswith("{", start):
            return _read_object(text, start + 1)
        return _read_other(text, start)
    except (MisfitError, RecursionError) as error:
        raise NotJacksonError(str(error)) from None
    except UnknownTypeIdError:
        raise
    except ValueError as error:
        raise NotJacksonError(f"not JSON: {error}") from None


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
    return value, end


def _after(text: str, at: int, mark: str) -> int:
    at = end_of_space(text, at)
    if not text.startswith(mark, at):
        raise NotJacksonError(f"expected '{mark}'")
    return at + 1


def _read_other(text: str, start: int) -> JsonSchema | None:
    """`null`, or the form `["type", {members}]`, which Jackson takes as well."""
    value, end = DECODER.raw_decode(text, start)
    if value is None and _IDENTIFIER.match(text, end):
        raise NotJacksonError("not JSON")
    if isinstance(value, list) and not isinstance(value, Members) and value:
        kind = "null" if value[0] is None else scalar_text(value[0])
        if kind is not None:
            _known(kind)
    return check_schema(value)
