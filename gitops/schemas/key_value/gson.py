"""JSON as Gson reads it when it is lenient, which is how Pulsar reads a KEY_VALUE definition.

Written after the behaviour of Gson 2.8.9's JsonReader, as it is in Pulsar 4.0.7: comments, single
quotes, bare words, `=` and `=>` for `:`, `;` for `,`, and list items that are left out.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from typing import Any, Final

Json = Any
"""None, bool, str, Number, list of Json, or dict from str to Json."""

_SPACE: Final = re.compile(
    r"(?:[ \t\r\n]+|/\*.*?\*/|//[^\r\n]*|\#[^\r\n]*)*", re.DOTALL | re.VERBOSE
)
_BARE: Final = re.compile(r"[^/\\;#={}\[\]:, \t\f\r\n]+")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_STRING_PART: Final = re.compile(r"""[^"'\\]+|\\u[0-9a-fA-F]{4}|\\[^u]|["']""", re.DOTALL)
_LONGEST_NUMBER: Final = 1023
_WORDS: Final = {"true": True, "false": False, "null": None}
_ESCAPES: Final = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}
_AS_THEY_ARE: Final = "\n'\"\\/"
_NOT_EXECUTABLE: Final = ")]}'\n"


class GsonError(ValueError):
    """The text is not even lenient JSON."""


class Number(str):
    """A number as it was written."""

    __slots__ = ()


def read(text: str, deepest: int | None = None) -> Json:
    """The value that the whole of `text` stands for; raises GsonError.

    Behind the value even Gson takes nothing but white space. Objects and lists nest as deep as
    `deepest`, if it is given (Gson 2.13.2: 255).
    """
    reader = _Reader(text, sys.maxsize if deepest is None else deepest)
    value = reader.value()
    if text[reader.at :].strip(" \t\r\n"):
        raise GsonError("text after the end of the value")
    return value


def read_as_object(text: str) -> Json:
    """The value as `Gson.fromJson` reads it; raises GsonError.

    A text without a value is null, and so is one that begins with null, whatever stands behind it.
    """
    reader = _Reader(text)
    if reader.at >= len(text) or reader.value() is None:
        return None
    return read(text)


def write(value: Json) -> str:
    """Gson's own compact text: members in order, no HTML escaping, numbers as written."""
    match value:
        case Number():
            return str(value)
        case dict():
            return "{" + ",".join(f"{write(k)}:{write(v)}" for k, v in value.items()) + "}"
        case list():
            return "[" + ",".join(map(write, value)) + "]"
        case str():
            text = json.dumps(value, ensure_ascii=False)
            return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
        case _:
            return json.dumps(value)


class _Reader:
    def __init__(self, text: str, deepest: int = sys.maxsize) -> None:
        self.text = text
        self._room = deepest
        self.at = 1 if text.startswith("\ufeff") else 0
        self.skip_space()
        if text.startswith(_NOT_EXECUTABLE, self.at):
            self.at += len(_NOT_EXECUTABLE)

    def skip_space(self) -> None:
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def next(self) -> str:
        """The character behind white space and comments; raises GsonError at the end."""
        self.skip_space()
        if self.at >= len(self.text):
            raise GsonError("the text ends too early")
        return self.text[self.at]

    def value(self) -> Json:
        match self.next():
            case "{":
                return self._inside(self.members)
            case "[":
                return self._inside(self.items)
            case '"' | "'":
                return self.string()
            case _:
                return _meaning(self.bare())

    def _inside(self, read: Callable[[], Json]) -> Json:
        if not self._room:
            raise GsonError("nested too deep")
        self.at += 1
        self._room -= 1
        value = read()
        self._room += 1
        return value

    def members(self) -> dict[str, Json]:
        grouped: dict[str, Json] = {}
        if self.next() == "}":
            self.at += 1
            return grouped
        while True:
            name = self.string() if self.next() in "\"'" else self.bare()
            self.separator()
            grouped[name] = self.value()
            if self.next() not in "},;":
                raise GsonError("expected the end of an object, or another member")
            self.at += 1
            if self.text[self.at - 1] == "}":
                return grouped

    def separator(self) -> None:
        mark = self.next()
        if mark not in ":=":
            raise GsonError("expected ':'")
        self.at += 2 if mark == "=" and self.text.startswith(">", self.at + 1) else 1

    def items(self) -> list[Json]:
        """Between two separators, and before the end, a missing item is null."""
        items: list[Json] = []
        if self.next() == "]":
            self.at += 1
            return items
        while True:
            items.append(None if self.next() in ",;]" else self.value())
            if self.next() not in "],;":
                raise GsonError("expected the end of a list, or another item")
            self.at += 1
            if self.text[self.at - 1] == "]":
                return items

    def bare(self) -> str:
        match = _BARE.match(self.text, self.at)
        if match is None:
            raise GsonError("expected a value")
        self.at = match.end()
        return match[0]

    def string(self) -> str:
        quote = self.text[self.at]
        self.at += 1
        parts: list[str] = []
        while match := _STRING_PART.match(self.text, self.at):
            self.at = match.end()
            if match[0] == quote:
                return _joined(parts)
            parts.append(_unescaped(match[0]))
        raise GsonError("a string has no end, or an escape is not one")


def _meaning(word: str) -> Json:
    if _NUMBER.fullmatch(word) and len(word) <= _LONGEST_NUMBER:
        return Number(word)
    return _WORDS.get(word.lower(), word)


def _unescaped(part: str) -> str:
    if not part.startswith("\\"):
        return part
    if part[1] == "u":
        return chr(int(part.removeprefix("\\u"), 16))
    if part[1] in _AS_THEY_ARE:
        return part[1]
    if part[1] not in _ESCAPES:
        raise GsonError(f"'{part}' is not an escape")
    return _ESCAPES[part[1]]


def _joined(parts: list[str]) -> str:
    """The text, in which two escapes can make one character beyond the basic plane."""
    text = "".join(parts)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
