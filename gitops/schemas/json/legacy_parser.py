"""The old form of JSON definitions: Jackson's JsonSchema, which Pulsar still reads.

Only whether a text is in that form matters, and its `id`; nothing in it is ever compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gitops.schemas.avro.json_text import JsonTextError
from gitops.schemas.jackson import (
    JACKSON_2_17,
    Fraction,
    Jackson,
    JacksonTextError,
    Json,
    Members,
    Whole,
    end_of_space,
    jackson_text,
)
from gitops.schemas.json.legacy_json_classes import (
    JsonSchema,
    LegacyJsonClasses,
    LegacyMismatchError,
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


class LegacyParser:
    """The parser of one version of Jackson."""

    def __init__(self, jackson: Jackson) -> None:
        self._jackson = jackson
        self._classes = LegacyJsonClasses(jackson)

    def read_data(self, data: bytes) -> JsonSchema | None:
        """As `read`, for the bytes that a registry stores, which need not be UTF-8 to Jackson."""
        try:
            return self._read(jackson_text(data))
        except JacksonTextError as error:
            raise NotJacksonError(str(error)) from None

    def read(self, text: str) -> JsonSchema | None:
        """The schema, or None for the text `null`; raises NotJacksonError, UnknownTypeIdError.

        Text behind the value is not looked at. An unknown `type` is told as soon as it is read, so
        that it hides whatever is wrong behind it, and nothing before it.
        """
        return self._read(text.removeprefix("\ufeff"))

    def _read(self, text: str) -> JsonSchema | None:
        start = end_of_space(text, 0)
        try:
            text = self._as_deep_as_read(text)
            if text.startswith("{", start):
                return self._read_object(text, start + 1)
            return self._read_other(text, start)
        except (LegacyMismatchError, RecursionError) as error:
            raise NotJacksonError(str(error)) from None
        except UnknownTypeIdError:
            raise
        except ValueError as error:
            raise NotJacksonError(f"not JSON: {error}") from None

    def _as_deep_as_read(self, text: str) -> str:
        """The text up to where it nests too deep: Jackson finds that when it gets there."""
        try:
            self._jackson.check_depth(text)
        except JsonTextError as error:
            return text[: error.offset]
        return text

    def _read_object(self, text: str, start: int) -> JsonSchema:
        members = Members()
        kind: str | None = None
        for name, value in self._members(text, start):
            if kind is None and name == "type" and (kind := scalar_text(value)) is not None:
                self._check_known(kind)
            members.append((name, value))
        if kind is None:
            raise NotJacksonError("it has no 'type'")
        return self._classes.read_bean(kind, members)

    def _check_known(self, kind: str) -> None:
        if kind not in self._classes.kinds:
            raise UnknownTypeIdError(f"'{kind}' is not a type of JsonSchema")

    def _members(self, text: str, at: int) -> Iterator[tuple[str, Json]]:
        at = end_of_space(text, at)
        if text.startswith("}", at):
            return
        while True:
            name, at = self._value(text, at)
            if not isinstance(name, str):
                raise NotJacksonError("a name is not text")
            value, at = self._value(text, _after(text, at, ":"))
            yield self._jackson.check_member(name), value
            at = end_of_space(text, at)
            if text.startswith("}", at):
                return
            at = end_of_space(text, _after(text, at, ","))

    def _value(self, text: str, at: int) -> tuple[Json, int]:
        value: Json
        value, end = self._jackson.decoder.raw_decode(text, end_of_space(text, at))
        if isinstance(value, Whole | Fraction) and _NO_NUMBER.match(value + text[end : end + 1]):
            raise NotJacksonError("not JSON: a number goes on as none does")
        return value, end

    def _read_other(self, text: str, start: int) -> JsonSchema | None:
        """`null`, or the form `["type", {members}]`, which Jackson takes as well."""
        if text.startswith("[", start):
            self._check_first(text, start + 1)
        value, end = self._jackson.decoder.raw_decode(text, start)
        if value is None and _NO_END.match(text, end):
            raise NotJacksonError("not JSON")
        return self._classes.check_schema(value)

    def _check_first(self, text: str, at: int) -> None:
        """Tell an unknown type before anything behind it is read but the beginning of a token."""
        value, end = self._value(text, at)
        kind = "null" if value is None else scalar_text(value)
        if kind is not None and _NEXT_TOKEN.match(text, end):
            self._check_known(kind)


def _after(text: str, at: int, mark: str) -> int:
    at = end_of_space(text, at)
    if not text.startswith(mark, at):
        raise NotJacksonError(f"expected '{mark}'")
    return at + 1


LEGACY_2_17: Final = LegacyParser(JACKSON_2_17)
"""jackson-module-jsonSchema 2.17, as it is in Pulsar 4.0.7."""

read = LEGACY_2_17.read
read_data = LEGACY_2_17.read_data
