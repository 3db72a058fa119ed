"""The JSON around the descriptors, as Jackson reads it into the broker's own class."""

from __future__ import annotations

import binascii
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeVar

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
from gitops.schemas.protobuf_native.errors import InvalidEnvelopeError

_T = TypeVar("_T")

_SET: Final = "fileDescriptorSet"
_MESSAGE: Final = "rootMessageTypeName"
_FILE: Final = "rootFileDescriptorName"
_LENIENT: Final = json.JSONDecoder(strict=False)
_BLANKS: Final = "".join(map(chr, range(33)))
_BETWEEN_GROUPS: Final = re.compile(r"[\x00-\x20]+")
_GROUPS: Final = re.compile(
    r"(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)*+", re.ASCII
)
_ESCAPED_PADDING: Final = re.compile(r"\\u003[dD]")
_MARK: Final = "\x7f"
_RUN: Final = re.compile(r"[^=]+={0,2}")
_INTEGER: Final = re.compile(r"[+-]?\d{1,4000}")
_BYTE: Final = range(-128, 256)


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """The set of descriptors in its wire format, and the names of the root.

    A message that is not named is missed only once the file is linked.
    """

    file_descriptor_set: bytes
    root_message_type_name: str | None
    root_file_descriptor_name: str


def read_envelope(data: bytes, jackson: Jackson = JACKSON_2_17) -> Envelope:
    """The envelope in `data`; raises InvalidEnvelopeError.

    Unknown members and text behind the value are ignored; of several members of one name the
    last counts, though each has to fit (Pulsar 4.0.7, Jackson 2.17).
    """
    try:
        text = jackson_text(data)
    except JacksonTextError as error:
        raise InvalidEnvelopeError(f"the PROTOBUF_NATIVE envelope is {error}") from None
    try:
        grouped = dict(_members(text, jackson))
    except (ValueError, OverflowError, RecursionError) as error:
        if isinstance(error, InvalidEnvelopeError):
            raise
        raise InvalidEnvelopeError("the PROTOBUF_NATIVE envelope is not JSON") from None
    return Envelope(
        file_descriptor_set=_given(grouped, _SET, bytes),
        root_message_type_name=_optional(grouped, _MESSAGE),
        root_file_descriptor_name=_given(grouped, _FILE, str),
    )


def _given(grouped: dict[str, object], name: str, kind: type[_T]) -> _T:
    value = grouped.get(name)
    if not isinstance(value, kind):
        raise InvalidEnvelopeError(f"the PROTOBUF_NATIVE envelope has no '{name}'")
    return value


def _optional(grouped: dict[str, object], name: str) -> str | None:
    value = grouped.get(name)
    return value if isinstance(value, str) else None


def _members(text: str, jackson: Jackson) -> Iterator[tuple[str, object]]:
    """The known members, converted; what is nested deeper than Jackson reads is refused."""
    start = at = _after(text, 0, "{")
    while not text.startswith("}", at):
        name, at = jackson.decoder.raw_decode(text, at)
        if not isinstance(name, str) or isinstance(name, Whole | Fraction):
            raise InvalidEnvelopeError("a name in the PROTOBUF_NATIVE envelope is not text")
        at = _after(text, at, ":")
        value, at = _value(text, at, jackson.check_member(name), jackson)
        yield name, value
        at = end_of_space(text, at)
        if not text.startswith("}", at):
            at = _next(text, at)
    jackson.check_depth(text[start - 1 : at])


def _next(text: str, at: int) -> int:
    """Where the next name starts, which has to follow a comma."""
    at = _after(text, at, ",")
    if not text.startswith('"', at):
        raise InvalidEnvelopeError("the PROTOBUF_NATIVE envelope ends with a comma")
    return at


def _after(text: str, at: int, mark: str) -> int:
    at = end_of_space(text, at)
    if not text.startswith(mark, at):
        raise InvalidEnvelopeError(f"the PROTOBUF_NATIVE envelope lacks a '{mark}'")
    return end_of_space(text, at + 1)


def _value(text: str, at: int, name: str, jackson: Jackson) -> tuple[object, int]:
    if name == _SET and text.startswith('"', at):
        # Jackson decodes such a text as it goes: control characters are blanks to it.
        value, end = _LENIENT.raw_decode(text, at)
        if _ESCAPED_PADDING.search(text, at, end):
            value = _without_escapes(_LENIENT.decode(_ESCAPED_PADDING.sub(_MARK, text[at:end])))
        return _base64(value), end
    value, at = jackson.decoder.raw_decode(text, at)
    if name == _SET:
        return _array(value), at
    return (_text(value) if name in {_MESSAGE, _FILE} else None), at


def _without_escapes(text: str) -> str:
    """Base64 whose escaped `=` are marks: a blank in front of a group, padding at its end.

    As the second of a group it spoils the first one too, and Jackson goes on.
    """
    out: list[str] = []
    for character in text:
        index = len(out) % 4
        if index or (character > " " and character != _MARK):
            out.append("=" if character == _MARK else character)
        if index == 1 and character == _MARK:
            out[-2:] = "/+"
    return "".join(out)


def _base64(text: str) -> bytes:
    """Groups of four, each of which may be padded; blanks between them (Jackson 2.17)."""
    pieces = _BETWEEN_GROUPS.split(text)
    if not all(map(_GROUPS.fullmatch, pieces)):
        raise InvalidEnvelopeError(f"'{_SET}' is not base64")
    return b"".join(map(binascii.a2b_base64, _RUN.findall("".join(pieces))))


def _text(value: Json) -> str | None:
    """A text; numbers and booleans are one to Jackson."""
    if value is None or isinstance(value, str):
        return None if value is None else str(value)
    if isinstance(value, bool):
        return str(value).lower()
    raise InvalidEnvelopeError("a name in the PROTOBUF_NATIVE envelope is not text")


def _array(value: Json) -> bytes | None:
    """The set as an array of numbers, which Jackson takes as well."""
    if value is None:
        return None
    if not isinstance(value, list) or isinstance(value, Members):
        raise InvalidEnvelopeError(f"'{_SET}' is not base64")
    return bytes(_byte(item) & 0xFF for item in value)


def _byte(value: Json) -> int:
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, str):
        raise InvalidEnvelopeError(f"'{_SET}' contains something that is not a byte")
    number = int(float(value)) if isinstance(value, Fraction) else _whole(value)
    if number not in _BYTE:
        raise InvalidEnvelopeError(f"'{_SET}' contains something that is not a byte")
    return number


def _whole(text: str) -> int:
    """An integer as text; a blank one and the text `null` are 0."""
    text = text.strip(_BLANKS)
    if text in {"", "null"}:
        return 0
    if not _INTEGER.fullmatch(text):
        raise InvalidEnvelopeError(f"'{_SET}' contains something that is not a byte")
    return int(text)
