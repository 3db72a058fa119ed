"""Branches that are looked up are those that Avro for Java finds by trying each in its order."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from random import Random
from types import FrameType
from typing import Any, Final

import pytest

from gitops.schemas.avro import resolution
from gitops.schemas.avro.compatibility import Readability, can_read
from gitops.schemas.avro.default_values import UnusableDefaultError
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.avro.parser import AVRO_1_11
from gitops.schemas.avro.resolution import (
    Action,
    Adjust,
    Branches,
    Error,
    Items,
    ReaderUnion,
    Resolver,
)
from gitops.schemas.avro.schema import Schema

_NAMES: Final = ("a.R", "b.R", "c.R", "a.S", "b.S", "c.Q", "a.T", "b.T")


class _Drawing:
    """One definition: a record is defined where it is met first, and named from then on."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._defined: set[str] = set()

    def top(self) -> Any:  # noqa: ANN401 - JSON
        fields = [{"name": name, "type": self._union(2)} for name in ("u", "v")]
        return {"type": "record", "name": "Top", "namespace": "top", "fields": fields}

    def _union(self, depth: int) -> Any:  # noqa: ANN401
        random = self._random
        names = random.sample(_NAMES, random.randrange(1, len(_NAMES)))
        names += [kind for kind in ("null", "int", "string") if random.random() < 0.3]
        random.shuffle(names)
        return [self._record(name, depth - 1) if name in _NAMES else name for name in names]

    def _record(self, name: str, depth: int) -> Any:  # noqa: ANN401
        if name in self._defined:
            return name
        self._defined.add(name)
        names = self._random.sample(["x", "y", "z"], self._random.randrange(1, 3))
        return {
            "type": "record",
            "name": name,
            "namespace": "",
            "fields": [self._field(field, depth) for field in names],
        }

    def _field(self, name: str, depth: int) -> Any:  # noqa: ANN401
        random = self._random
        kinds: list[Any] = ["int", "long", "string"]
        if depth > 0 and random.random() < 0.4:
            kinds = [self._union(depth)]
        elif self._defined and random.random() < 0.3:
            known = random.choice(sorted(self._defined))
            kinds = [{"type": "array", "items": known}, ["null", known], known]
        kind = random.choice(kinds)
        first = kind[0] if isinstance(kind, list) else kind
        defaults: dict[str, Any] = {"null": None, "int": 1, "long": 2, "string": "s"}
        is_simple = isinstance(first, str) and first in defaults
        if random.random() < (0.5 if is_simple else 0.1):
            return {"name": name, "type": kind, "default": defaults[first] if is_simple else {}}
        return {"name": name, "type": kind}


def _outline(action: Action, seen: set[int]) -> Any:  # noqa: ANN401
    """What a resolution comes to, without the identity of its nodes."""
    if id(action) in seen:
        return "again"
    match action:
        case Adjust():
            seen.add(id(action))
            fields = [
                (one.name, other and other.name, _outline(step, seen))
                for one, other, step in action.fields
            ]
            defaults = [one.name for one in action.defaults]
            return (action.writer.name, action.reader.name, fields, defaults)
        case Error():
            return (action.mismatch, [field.name for field in action.missing])
        case Items():
            return _outline(action.action, seen)
        case ReaderUnion():
            return (action.index, _outline(action.action, seen))
        case Branches():
            return [_outline(branch, seen) for branch in action.actions]
        case _:
            return type(action).__name__


def _answers(
    texts: tuple[str, str], few: int, monkeypatch: pytest.MonkeyPatch
) -> tuple[Readability, object]:
    monkeypatch.setattr(resolution, "_FEW", few)
    AVRO_1_11.forget()  # a pair that was compared before would be known
    writer, reader = map(AVRO_1_11.parse, texts)
    return can_read(writer, reader), _resolved(writer, reader)


def _resolved(writer: Schema, reader: Schema) -> object:
    try:
        return _outline(Resolver(whole=True).resolve(writer, reader), set())
    except UnusableDefaultError as error:
        return str(error)


def _definitions(random: Random) -> tuple[str, str] | None:
    texts = (json.dumps(_Drawing(random).top()), json.dumps(_Drawing(random).top()))
    try:
        for text in texts:
            AVRO_1_11.parse(text)
    except AvroParseError:
        return None
    return texts


@pytest.mark.slow
def test_a_branch_that_is_looked_up_is_the_one_that_trials_find(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    random = Random(31)  # noqa: S311 - the same each time
    compared = 0
    for _ in range(400):
        if texts := _definitions(random):
            tried = _answers(texts, 1_000, monkeypatch)
            assert _answers(texts, 0, monkeypatch) == tried, texts
            assert _answers(texts, 3, monkeypatch) == tried, texts
            compared += 1
    assert compared > 200


def _events(count: int, name: str, *, is_required: bool = True) -> Schema:
    """A union of records, each with a field of its own."""
    default = {} if is_required else {"default": 0}
    records = [
        {
            "type": "record",
            "name": f"{name}{number}",
            "fields": [{"name": f"{name}{number}", "type": "int", **default}],
        }
        for number in range(count)
    ]
    return AVRO_1_11.parse(json.dumps(records))


_X: Final[Any] = {"name": "x", "type": "int"}
_NEW: Final[dict[str, list[Any]]] = {"o": [], "n": [{"name": "y", "type": "int", "default": 0}]}
_EVENTS: Final[dict[str, Callable[[str, int], Any]]] = {
    "of one name": lambda side, number: {"name": f"R{number}", "fields": [_X, *_NEW[side]]},
    "that are all renamed": lambda side, number: {"name": f"{side}{number}", "fields": [_X]},
    "that contain themselves": lambda side, number: {
        "name": f"R{number}",
        "fields": [_X, {"name": "next", "type": ["null", f"R{number}"]}, *_NEW[side]],
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", _EVENTS)
def test_twice_as_many_branches_take_twice_the_steps(kind: str) -> None:
    def steps(count: int) -> int:
        writer, reader = (
            AVRO_1_11.parse(
                json.dumps([{"type": "record", **_EVENTS[kind](side, n)} for n in range(count)])
            )
            for side in ("o", "n")
        )
        calls = 0

        def profile(_frame: FrameType, event: str, _argument: object) -> None:
            nonlocal calls
            calls += event in ("call", "c_call")

        before = sys.getprofile()
        sys.setprofile(profile)
        try:
            assert can_read(writer, reader).reasons == ()
        finally:
            sys.setprofile(before)
        return calls

    steps(10)  # loads modules
    assert steps(300) / steps(150) < 2.3


def test_too_many_records_of_other_names_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolution, "_MOST_STEPS", 200)

    assert can_read(_events(20, "A"), _events(20, "A", is_required=False)).reasons == ()
    (reason,) = can_read(_events(20, "A"), _events(20, "B")).reasons

    assert "too many records of other names" in reason.message
    assert "keep the full names" in reason.hint
