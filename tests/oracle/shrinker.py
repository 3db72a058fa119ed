"""Makes a case smaller for as long as it shows what it was found for."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tests.oracle.json_trees import Json, places

Case = dict[str, Any]

_TEXT: Final = "schema"
_MANY_BRACKETS: Final = 300
_LONG: Final = 64
"""Of a longer text only pieces of an eighth and more are tried."""


def shrunk(case: Mapping[str, Any], shows: Callable[[Case], bool], *, most: int = 1500) -> Case:
    """The smallest case found with at most so many questions to `shows`."""
    found = copy.deepcopy(dict(case))
    questions = 0
    tried: set[str] = set()
    smaller = _smaller(found)
    while (one := next(smaller, None)) is not None and questions < most:
        name = json.dumps(one)
        if name in tried:
            continue
        tried.add(name)
        questions += 1
        if shows(one):
            found = one
            smaller = _smaller(found)
    return found


def _smaller(case: Case) -> Iterator[Case]:
    """Cases with a little less in them, the boldest first."""
    existing = case["existing"]
    for kept in _with_less(existing):
        yield {**case, "existing": kept}
    if case.get("strategy") != "FULL":
        yield {**case, "strategy": "FULL"}
    for at, entry in enumerate(existing):
        for less in _smaller_entry(entry):
            yield {**case, "existing": [*existing[:at], less, *existing[at + 1 :]]}
    for less in _smaller_entry(case["candidate"]):
        yield {**case, "candidate": less}
    for less in _both_smaller(case):
        yield less


def _both_smaller(case: Case) -> Iterator[Case]:
    """The same cut in the candidate and in the latest version, where they are one text."""
    if not case["existing"] or case["existing"][-1].get(_TEXT) != case["candidate"].get(_TEXT):
        return
    for less in _smaller_entry(case["candidate"]):
        latest = {**case["existing"][-1], _TEXT: less[_TEXT]}
        yield {**case, "existing": [*case["existing"][:-1], latest], "candidate": less}


def _smaller_entry(entry: Case) -> Iterator[Case]:
    properties = entry.get("properties") or {}
    for name in properties:
        yield {**entry, "properties": {k: v for k, v in properties.items() if k != name}}
    if "encoding" in entry or _TEXT not in entry:
        return
    for text in _smaller_texts(entry[_TEXT]):
        yield {**entry, _TEXT: text}


def _smaller_texts(text: str) -> Iterator[str]:
    value, tail = _read(text)
    if value is not None:
        plain = json.dumps(value)
        if len(plain + tail) < len(text):
            yield plain + tail
        for less in _smaller_values(value):
            yield json.dumps(less) + tail
    yield from _pieces(text)


def _read(text: str) -> tuple[Json, str]:
    """The value that the text begins with, if any, and what stands behind it."""
    if text.count("[") + text.count("{") > _MANY_BRACKETS:
        return None, text
    try:
        value, end = json.JSONDecoder().raw_decode(text)
    except ValueError:
        return None, text
    return value, text[end:]


def _smaller_values(value: Json) -> Iterator[Json]:
    """What is inside alone; one member or item less; a shorter text."""
    for holder, key in places(value):
        if isinstance(holder[key], dict | list):
            yield holder[key]
    count = len(list(places(value)))
    for change in (_without, _hoisted):
        for at in range(count):
            yield change(copy.deepcopy(value), at)
    for at in range(count):
        holder, key = list(places(value))[at]
        if isinstance(holder[key], str):
            for text in _pieces(holder[key]):
                yield _with(copy.deepcopy(value), at, text)


def _without(value: Json, at: int) -> Json:
    holder, key = list(places(value))[at]
    del holder[key]
    return value


def _hoisted(value: Json, at: int) -> Json:
    """What a member holds, by its own first part."""
    holder, key = list(places(value))[at]
    inner = holder[key]
    if isinstance(inner, dict | list) and inner:
        holder[key] = next(iter(inner.values() if isinstance(inner, dict) else inner))
    return value


def _with(value: Json, at: int, new: Json) -> Json:
    holder, key = list(places(value))[at]
    holder[key] = new
    return value


def _pieces(text: str) -> Iterator[str]:
    """The text without a part of it: halves, quarters, at last single characters."""
    size = len(text) // 2
    while size:
        for start in range(0, len(text), size):
            yield text[:start] + text[start + size :]
        size = size // 2 if len(text) <= _LONG or size > len(text) // 8 else 0


def _with_less(entries: list[Case]) -> Iterator[list[Case]]:
    if len(entries) > 1:
        yield entries[-1:]
    for at in range(len(entries)):
        yield [*entries[:at], *entries[at + 1 :]]
