"""Documents of JSON and YAML with values of the wrong type, at any position."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, Final

from hypothesis import strategies as st

from gitops.cli.exits import Exit
from tests.support.command_line import Outcome

EXAMPLES: Final = int(os.environ.get("WRONG_VALUES", "5"))
"""How many documents of each kind are tried."""

Path = tuple[str | int, ...]
Document = Any
"""None, bool, int, float, str, list, dict, Raw, Embedded or Twice."""


@dataclass(frozen=True, slots=True)
class Raw:
    """A value as its own text: what Python would not write, or not write so."""

    text: str


@dataclass(frozen=True, slots=True)
class Embedded:
    """A text that is JSON itself; positions lead into it."""

    value: Document


@dataclass(frozen=True, slots=True)
class Twice:
    """An object in which a member is there twice."""

    members: dict[str, Document]
    key: str
    second: Document


def _deep(depth: int, opening: str, closing: str, inner: str = "1") -> Raw:
    return Raw(opening * depth + inner + closing * depth)


WRONG: Final[tuple[Document, ...]] = (
    None,
    True,
    0,
    -1,
    1.5,
    "",
    "x",
    [],
    {},
    [None],
    [[]],
    ["null", "string"],
    [["null", "string"]],
    [{}],
    {"": None},
    {"x": {}},
    {"type": ["null", "string"]},
    {"type": {"type": "map"}},
    {"name": "x", "type": []},
    2**31,
    -(2**63) - 1,
    10**30,
    1e308,
    Raw("1e400"),
    Raw("NaN"),
    Raw("-Infinity"),
    Raw("9" * 400),
    Raw("9" * 5000),
    Raw("0." + "1" * 1200),
    Raw('"\\ud800"'),
    Raw('"\\u0000"'),
    "\u2028\x85\ufeff",
    "a: b\n- c",
    "../../etc/passwd",
    "/",
    "x/y/z",
    "${HOME}",
    "%s%(a)s{0}",
    "2026-02-30",
    "record",
    "AVRO",
    "KEY_VALUE",
    "PROTOBUF_NATIVE",
    "FULL",
    "9" * 30,
    "x" * 5000,
    _deep(60, "[", "]"),
    _deep(990, "[", "]"),
    _deep(990, '{"type":', "}"),
    _deep(400, '{"type":"array","items":', "}", '"int"'),
    _deep(5000, "[", "]"),
    _deep(100_000, "[", "]"),
    _deep(100_000, '{"a":', "}"),
)
"""Simple ones first: hypothesis shrinks to them."""

OF_YAML: Final[tuple[Document, ...]] = (
    Raw("~"),
    Raw(".nan"),
    Raw(".inf"),
    Raw("yes"),
    Raw("2026-01-01"),
    Raw("2026-01-01T00:00:00Z"),
    Raw("0x1F"),
    Raw("1_000"),
    Raw("1:30"),
    Raw("!!binary aGk="),
    Raw("!!set {a, b}"),
    Raw("!x y"),
    Raw("{? [a] : b}"),
    Raw("{1: a, null: b, 1.5: c, true: d}"),
    Raw("[a, *a]"),
    Raw("&a [*a]"),
    Raw("<<"),
    Raw("{<<: {a: b}}"),
    Raw(""),
    Raw("[,]"),
    Raw("'"),
)
"""What only YAML has."""


def text_of(document: Document) -> str:
    """The document as JSON text, a member a line, which YAML reads as well."""
    return _text(document, "\n") + "\n"


def one_line_of(document: Document) -> str:
    """The document as JSON text on one line."""
    return _text(document, " ")


def _text(value: Document, end: str) -> str:
    match value:
        case Raw():
            return value.text
        case Embedded():
            return json.dumps(_text(value.value, " "))
        case list():
            return f"[{end}{f',{end}'.join(_text(each, end) for each in value)}]"
        case dict():
            return _object([*value.items()], end)
        case Twice():
            return _object([*value.members.items(), (value.key, value.second)], end)
        case _:
            return json.dumps(value)


def _object(members: list[tuple[str, Document]], end: str) -> str:
    inner = f",{end}".join(f"{json.dumps(key)}: {_text(each, end)}" for key, each in members)
    return f"{{{end}{inner}}}" if members else "{}"


def positions(document: Document) -> Iterator[Path]:
    """Every place in a document, the root first, those of texts that are JSON too."""
    waiting: list[tuple[Path, Document]] = [((), document)]
    while waiting:
        at, value = waiting.pop(0)
        yield at
        waiting += [((*at, key), each) for key, each in _members(value)]


def _members(value: Document) -> list[tuple[str | int, Document]]:
    match value:
        case Embedded():
            return [("", value.value)]
        case dict():
            return list(value.items())
        case list():
            return list(enumerate(value))
        case _:
            return []


def at(document: Document, path: Path) -> Document:
    """The value at a place."""
    for key in path:
        document = dict(_members(document))[key]
    return document


def replaced(document: Document, path: Path, value: Document) -> Document:
    """The document with another value at a place."""
    if not path:
        return value
    key, *rest = path
    inner = replaced(at(document, (key,)), tuple(rest), value)
    match document:
        case Embedded():
            return Embedded(inner)
        case dict():
            return {**document, key: inner}
        case _:
            return [inner if index == key else each for index, each in enumerate(document)]


def without(document: Document, path: Path) -> Document:
    """The document without what is at a place, which is not the root."""
    *outer, key = path
    around = at(document, tuple(outer))
    if isinstance(around, Embedded):
        return replaced(document, tuple(outer), "")
    left = [(name, each) for name, each in _members(around) if name != key]
    inner = dict(left) if isinstance(around, dict) else [each for _, each in left]
    return replaced(document, tuple(outer), inner)


@st.composite
def wrong_documents(
    draw: st.DrawFn, document: Document, *, more: tuple[Document, ...] = ()
) -> Document:
    """The document with one or two places wrong; `more` are further wrong values."""
    for _ in range(draw(st.sampled_from((1, 1, 1, 2)))):
        places = list(positions(document))
        path = draw(st.sampled_from(places))
        elsewhere = at(document, draw(st.sampled_from(places)))
        value = draw(st.sampled_from((*WRONG, *more)) | st.just(elsewhere))
        document = _wrong(document, path, draw(st.sampled_from(_HOW)), value)
    return document


_HOW: Final = ("replace", "replace", "replace", "remove", "twice", "rename", "more")


def _wrong(document: Document, path: Path, how: str, value: Document) -> Document:
    here = at(document, path)
    outer = path[:-1]
    around = at(document, outer)
    if how == "remove" and path:
        return without(document, path)
    if how == "twice" and isinstance(around, dict) and path:
        return replaced(document, outer, Twice(around, str(path[-1]), value))
    if how == "rename" and isinstance(around, dict) and path:
        left = {key: each for key, each in around.items() if key != path[-1]}
        return replaced(document, outer, {**left, str(value)[:100]: here})
    if how == "more" and isinstance(here, dict):
        return replaced(document, path, {**here, "x": value})
    if how == "more" and isinstance(here, list):
        return replaced(document, path, [*here, value])
    return replaced(document, path, value)


def assert_no_bug(command: object, ended: Outcome) -> None:
    """The command ends as the contract says, without a traceback."""
    assert ended.code in {*Exit} - {Exit.BUG}, f"{command}: {ended.code}\n{ended.err}"
    assert "Traceback" not in ended.err + ended.out, f"{command}\n{ended.err}"


@contextmanager
def folder() -> Iterator[FilePath]:
    """A folder of a document's own, which goes with it."""
    with tempfile.TemporaryDirectory(prefix="wrong-") as made:
        yield FilePath(made)
