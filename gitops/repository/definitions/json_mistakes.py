"""What people do when a definition is not JSON, told from the place where that shows."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from gitops.repository.yaml.problems import CONFLICT, CONFLICT_HINT, conflict_marker
from gitops.schemas.avro.json_text import MAX_NUMBER_LENGTH, blank_comments


class JsonMistake(NamedTuple):
    """What is wrong, the character where it is, and what to do."""

    message: str
    offset: int
    hint: str = ""


class _Failure(NamedTuple):
    """The parser's words, and the character where it stopped; `blanked` has no comments."""

    text: str
    blanked: str
    message: str
    at: int

    @property
    def char(self) -> str:
        return self.text[self.at : self.at + 1]

    @property
    def at_end(self) -> bool:
        return not self.blanked[self.at :].strip()


_WORDS: Final = {"True": "true", "False": "false", "None": "null", "nil": "null", "NULL": "null"}
_NO_NUMBER: Final = re.compile(r"(NaN|-?Infinity) is not JSON")
_TOKEN: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"|-?\w+')
_LONG_NUMBER: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"|[-+.\deE]+')
_WORD: Final = re.compile(r"[A-Za-z_]+")
_BOM: Final = "\ufeff"
_TYPOGRAPHIC: Final = "\u201c\u201d\u201e\u2018\u2019\u00ab\u00bb"


def json_mistake(text: str, message: str, offset: int) -> JsonMistake:
    """The mistake that made the text no JSON, else the place with the parser's own words."""
    failure = _Failure(text, blank_comments(text), message, min(offset, len(text)))
    for look in _LOOKS:
        items = look(failure)
        if items is not None:
            return items
    return JsonMistake(message, offset)


def _conflict(failure: _Failure) -> JsonMistake | None:
    marker = conflict_marker(failure.text)
    return JsonMistake(CONFLICT, marker.start, CONFLICT_HINT) if marker else None


def _no_number(failure: _Failure) -> JsonMistake | None:
    match = _NO_NUMBER.match(failure.message)
    if match is None:
        return None
    places = (item.start() for item in _TOKEN.finditer(failure.blanked) if item[0] == match[1])
    return JsonMistake(
        failure.message, next(places, failure.at), "JSON has no such number: write another one"
    )


def _long_number(failure: _Failure) -> JsonMistake | None:
    if not failure.message.startswith("a number of more than"):
        return None
    numbers = (match for match in _LONG_NUMBER.finditer(failure.blanked) if match[0][0] != '"')
    places = (
        number.start() for number in numbers if sum(map(str.isdigit, number[0])) > MAX_NUMBER_LENGTH
    )
    return JsonMistake(
        failure.message, next(places, failure.at), "Pulsar's parser accepts no longer one"
    )


def _start(failure: _Failure) -> JsonMistake | None:
    if failure.text.startswith(_BOM):
        return JsonMistake("a byte order mark", 0, "save the file as UTF-8 without BOM")
    if not failure.blanked.strip():
        hint = 'write a definition, as {"type": "record", "name": …, "fields": […]}'
        return JsonMistake("there is nothing", 0, hint)
    return None


def _behind(failure: _Failure) -> JsonMistake | None:
    if "after the end" not in failure.message:
        return None
    at = len(failure.text) - len(failure.text[failure.at :].lstrip())
    if failure.at_end:
        hint = "Avro allows comments only before and inside a definition: move it up"
        return JsonMistake("a comment after the definition", at, hint)
    if failure.text[at] in "}]":
        return JsonMistake(f"a {failure.text[at]} too many", at, "remove it")
    return JsonMistake(failure.message, at, "a file contains one definition")


def _trailing_comma(failure: _Failure) -> JsonMistake | None:
    before = failure.blanked[: failure.at].rstrip()
    # The parser stops at the comma itself, or behind it, depending on its version.
    if failure.char == ",":
        before, after = failure.blanked[: failure.at + 1], failure.blanked[failure.at + 1 :]
    else:
        after = failure.blanked[failure.at :]
    if not before.endswith(",") or after.lstrip()[:1] not in ("}", "]"):
        return None
    closing = after.lstrip()[0]
    return JsonMistake(f"a comma before {closing}", len(before) - 1, "remove the comma")


def _quotes(failure: _Failure) -> JsonMistake | None:
    if failure.char and failure.char in "'`" + _TYPOGRAPHIC:
        return JsonMistake(
            f"{failure.char} is no quote of JSON", failure.at, 'use double quotes: "…"'
        )
    if failure.char == "#":
        return JsonMistake("a comment with #", failure.at, "write // … or /* … */")
    return None


def _word(failure: _Failure) -> JsonMistake | None:
    match = _WORD.match(failure.text, failure.at)
    if match is None or "Expecting" not in failure.message:
        return None
    if not failure.blanked[: failure.at].strip():
        hint = 'a definition begins with {, [ or a name in quotes, as "string"'
        return JsonMistake(f"it begins with '{match[0][:80]}'", failure.at, hint)
    if match[0] in _WORDS:
        return JsonMistake(f"unknown word {match[0]}", failure.at, f"write {_WORDS[match[0]]}")
    return JsonMistake(f"'{match[0][:80]}' without quotes", failure.at, "put it in double quotes")


def _missing_token(failure: _Failure) -> JsonMistake | None:
    if failure.at_end and "Expecting" in failure.message:
        hint = "close every { with } and every [ with ]"
        return JsonMistake("the text ends too early", failure.at, hint)
    if "delimiter" not in failure.message:
        return None
    missing = "comma" if "','" in failure.message else "colon"
    return JsonMistake(f"a {missing} is missing before this", failure.at, f"add the {missing}")


def _no_value(failure: _Failure) -> JsonMistake | None:
    if "Expecting property name" in failure.message:
        return JsonMistake(
            "a name in double quotes is missing before this", failure.at, 'write "name": value'
        )
    if "Expecting value" not in failure.message:
        return None
    if failure.char in ",:]}":
        return JsonMistake("a value is missing before this", failure.at, "write it, or null")
    hint = 'write "text", a number, true, false, null, […] or {…}'
    return JsonMistake(f"{failure.char} begins no value", failure.at, hint)


def _inside_text(failure: _Failure) -> JsonMistake | None:
    if "Unterminated" in failure.message:
        return JsonMistake("a text that is not closed", failure.at, 'close it with "')
    if "control character" in failure.message:
        return JsonMistake(
            "a text with a line break or tab in it", failure.at, r"write \n or \t, or close it"
        )
    if "escape" in failure.message:
        return JsonMistake("an unknown escape", failure.at, r"write \\ for a backslash")
    return None


_LOOKS: Final[tuple[Callable[[_Failure], JsonMistake | None], ...]] = (
    _conflict,
    _no_number,
    _long_number,
    _start,
    _behind,
    _inside_text,
    _trailing_comma,
    _quotes,
    _word,
    _missing_token,
    _no_value,
)
