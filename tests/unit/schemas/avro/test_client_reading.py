"""What clients that are not Java misread, beside the real client of Python."""

from __future__ import annotations

import json
import logging
import os
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from gitops.schemas.avro.client_reading import find_misreadings
from gitops.schemas.avro.parser import AVRO_1_11
from gitops.schemas.client_profiles import Cause, Decoding, Misreading

pytest.importorskip("pulsar", reason="the extra 'pulsar' is not installed")

from tests.support.python_client import Pair, PythonConsumer, random_pair, random_union_pair

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.filterwarnings("ignore:The .warn. method is deprecated")

_PAIRS = 300
_MANY_PAIRS = int(os.environ.get("CLIENT_PAIRS", "600"))


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """The client warns of each message that it decodes with its own schema alone."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def _compare(pairs: int, make_pair: Callable[[int], Pair | None] = random_pair) -> None:
    """Nothing is misread without a finding, and few findings are never seen in a message."""
    compared = unseen = seed = 0
    while compared < pairs:
        assert seed < 20 * pairs, "chance makes too few pairs"
        pair = make_pair(seed)
        difference = pair.difference() if pair else None
        if pair is not None and difference is not None:
            found = _misreadings(pair.writer, pair.reader)
            message = f"seed {seed}: {pair.writer!r} read with {pair.reader!r}"
            assert found or not difference, message
            compared += 1
            unseen += bool(found) and not difference
        seed += 1
    assert unseen <= pairs // 100


@pytest.mark.slow
def test_the_profile_of_python_agrees_with_the_client() -> None:
    _compare(_PAIRS)


@pytest.mark.slow
def test_the_profile_of_python_agrees_with_the_client_on_unions() -> None:
    _compare(_PAIRS, random_union_pair)


@pytest.mark.slow
def test_the_profile_of_python_agrees_with_the_client_on_many_pairs() -> None:
    _compare(_MANY_PAIRS)


def _record(name: str, *fields: Any, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    named = [{"name": "abcdef"[index], "type": kind} for index, kind in enumerate(fields)]
    return {"type": "record", "name": name, "fields": named, **more}


def _field(name: str, kind: Any, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    return {"name": name, "type": kind, **more}


def _with(record: dict[str, Any], *fields: dict[str, Any]) -> dict[str, Any]:
    return {**record, "fields": [*record["fields"], *fields]}


_SYMBOLS = {"type": "enum", "name": "n.S", "symbols": ["X", "Y"]}
_FIXED = {"type": "fixed", "name": "m.S", "size": 1}
_DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 4}
_NOTHING = {"type": "fixed", "name": "Nothing", "size": 0}
_INNER = _record("Inner", "int")
_LONGER = _with(_INNER, _field("z", "null", default=None))
_RENAMED = _record("Other", "int")
_RIGHT: dict[str, tuple[Any, Any, bytes, Any]] = {
    "a record that is taken for an enum, and laid out alike": (
        _record("R", [_SYMBOLS, _record("m.S", "int")]),
        _record("R", [_SYMBOLS, _record("m.S", "int")], aliases=["Q"]),
        b"\x02\x08",
        {"a": {"a": 4}},
    ),
    "a fixed that is taken for an enum": (
        _record("R", [_SYMBOLS, _FIXED]),
        _with(_record("R", [_SYMBOLS, _FIXED]), _field("b", "int", default=1)),
        b"\x02\xff",
        {"a": b"\xff", "b": 1},
    ),
    "an enum that is taken for another one with its symbols": (
        _record("R", [{**_SYMBOLS, "name": "m.S", "symbols": ["Z", "X", "Y"]}, _SYMBOLS]),
        _record(
            "R", [{**_SYMBOLS, "name": "m.S", "symbols": ["Z", "X", "Y"]}, _SYMBOLS], aliases=["Q"]
        ),
        b"\x02\x02",
        {"a": "Y"},
    ),
    "a decimal that is taken for text": (
        _record("R", ["string", _DECIMAL]),
        _record("R", ["string", _DECIMAL], aliases=["Q"]),
        b"\x02\x02\xff",
        {"a": Decimal(-1)},
    ),
    "a dropped type of no bytes, after a definition that fastavro refuses": (
        _record("R", {**_NOTHING, "logicalType": "decimal", "precision": 4}, "int"),
        {**_record("R"), "fields": [_field("b", "int")]},
        b"\x08",
        {"b": 4},
    ),
    "a decimal without a precision that the reader dropped": (
        _record("R", {"type": "bytes", "logicalType": "decimal"}, "int"),
        {**_record("R"), "fields": [_field("b", "int")]},
        b"\x02\xff\x08",
        {"b": 4},
    ),
    "a name as the type of an object, which the reader dropped": (
        _record("R", _FIXED, "int", {"type": "m.S"}),
        _record("R", _FIXED, "int"),
        b"\xff\x08\xfe",
        {"a": b"\xff", "b": 4},
    ),
    "a decimal without a precision, which is laid out alike": (
        _record("R", {"type": "bytes", "logicalType": "decimal"}, "int"),
        _record("R", "bytes", aliases=["Q"]),
        b"\x02\xff\x08",
        {"a": b"\xff"},
    ),
}
"""The writer, the reader, a message, and what Java reads of it; the client reads the same."""


@pytest.mark.parametrize("name", _RIGHT)
def test_what_the_client_reads_as_java_has_no_finding(name: str) -> None:
    writer, reader, message, value = _RIGHT[name]

    assert PythonConsumer(writer, reader).decode(message) == value
    assert not _misreadings(writer, reader)


_WRONG: dict[str, tuple[Any, Any, bytes, Any, str, bool]] = {
    "a namespace that is a number": (
        _record("R", "int", ["null", "R"], namespace=7),
        _record("R", "int", ["null", "R"], namespace=7, aliases=["Q"]),
        b"\x08\x00",
        TypeError,
        "fastavro refuses the definition: a namespace is no text",
        False,
    ),
    "messages that are too short for the reader's schema": (
        _record("R", _INNER),
        _with(_record("R", _RENAMED), _field("b", "int", default=1)),
        b"\x08",
        EOFError,
        (
            "fastavro compares names and does not take record Inner for record Other, and messages "
            "are too short for its own schema"
        ),
        False,
    ),
    "a missing symbol, where the message is not too short": (
        _record("R", _SYMBOLS, ["null", _INNER]),
        _record("R", {**_SYMBOLS, "symbols": ["Y"]}, ["null", _LONGER]),
        b"\x00\x00",
        {"a": "Y", "b": None},
        "fastavro does not find 'X' in enum S, and the client decodes with its own schema alone",
        True,
    ),
    "a long beyond 2^53 that is taken for a double": (
        _record("R", ["int", "long"]),
        _record("R", ["double", "long"]),
        b"\x02\x82\x80\x80\x80\x80\x80\x80\x20",
        {"a": 2.0**53},
        (
            "fastavro reads long as double, the first branch that accepts it, and rounds numbers "
            "beyond 2^53"
        ),
        True,
    ),
    "two records of one short name": (
        _record("R", [_record("x.N", "int"), _with(_record("y.N", "int"), _field("b", "int"))]),
        _record(
            "R",
            [_record("x.N", "int"), _with(_record("y.N", "int"), _field("b", "int"))],
            aliases=["Q"],
        ),
        b"\x02\x08\x0a",
        {"a": {"a": 4}},
        (
            "fastavro reads record y.N as record x.N, the first branch that accepts it, and Java "
            "as record y.N"
        ),
        True,
    ),
}
"""The writer, the reader, a message, what the client returns or raises, the finding, and
whether it is silent."""


@pytest.mark.parametrize("name", _WRONG)
def test_what_the_client_reads_otherwise_has_a_finding(name: str) -> None:
    writer, reader, message, value, text, is_silent = _WRONG[name]

    if isinstance(value, type):
        with pytest.raises(value):
            PythonConsumer(writer, reader).decode(message)
    else:
        assert PythonConsumer(writer, reader).decode(message) == value
    found = [(one.message, one.is_silent) for one in _misreadings(writer, reader)]
    assert found == [(text, is_silent)]


def test_recursive_records_of_one_short_name_come_to_an_end() -> None:
    node = {**_record("x.N", ["null", "x.N"]), "name": "x.N"}
    other = {**_record("y.N", ["null", "y.N"], "int"), "name": "y.N"}
    more = _with(other, _field("c", "int", default=3))

    found = _misreadings(_record("R", [node, other]), _record("R", [node, more]))

    assert [one.cause for one in found] == [Cause.UNION]


def _misreadings(writer: Any, reader: Any) -> tuple[Misreading, ...]:  # noqa: ANN401 - JSON
    texts = (json.dumps(one).encode() for one in (writer, reader))
    return find_misreadings(AVRO_1_11, Decoding.FASTAVRO, *texts)
