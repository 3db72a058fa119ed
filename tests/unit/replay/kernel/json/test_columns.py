"""Rows that are written alike are walked over side by side; what is odd is left to others."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from random import Random
from typing import Any, Final

import numpy
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.replay.kernel.json.aligned_rows import Orders
from gitops.replay.kernel.json.columns import covers, walk
from gitops.replay.kernel.json.kernel import JsonKernel
from gitops.replay.kernel.json.rows import read
from gitops.replay.kernel.json.schema_pair import pair
from gitops.replay.kernel.payload_column import column
from gitops.replay.kernel.protocol import READ, CountKey, CountKind, Reason, Unreadable
from gitops.schemas.avro.parser import AVRO_1_11
from tests.support.json_rows import Definitions, Values

parse = AVRO_1_11.parse

_LINE: Final = {
    "type": "record",
    "name": "Line",
    "fields": [{"name": "sku", "type": "string"}, {"name": "price", "type": "double"}],
}
_ORDER: Final = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "count", "type": "int"},
        {"name": "big", "type": "long"},
        {"name": "share", "type": ["null", "float"]},
        {"name": "note", "type": ["null", "string"]},
        {"name": "currency", "type": {"type": "enum", "name": "C", "symbols": ["EUR", "USD"]}},
        {"name": "lines", "type": {"type": "array", "items": _LINE}},
        {"name": "paid", "type": "boolean"},
        {"name": "gone", "type": "string"},
    ],
}
_READER: Final = {**_ORDER, "fields": _ORDER["fields"][:-1]}
_NUMBERS: Final = (
    *("0", "-0", "01", "-01", "1.", ".5", "-.5", "1.5", "-1.5", "1.5.5", "1-5", "-", "+1", "1_0"),
    *("1e5", "1.e5", "1E-3", "1e999", "0x1F", "NaN", "-Infinity", "nul", "null", "true", "tru"),
    *("999999999", "1234567890", "2147483648", "-2147483648", "123456789012345678"),
    *("1234567890123456789", "9223372036854775808", "16777217", "9007199254740993", "1" * 25),
    *("0.1", "0.30000000000000004", "0.1234567890123456789012345", "", " 1", "1 ", "1,2", "[1]"),
    *("{}", '"1"', '""', '"', "\\n", "123456789012345678901234.5"),
)


def _order(**members: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    lines = [{"sku": "a", "price": 1.5}, {"sku": "", "price": 7}]
    order = {"id": "ü", "count": -5, "big": 10**17, "share": None, "note": ":{}[],"}
    order |= {"currency": "USD", "lines": lines, "paid": True, "gone": "x"}
    return order | members


def _agree(plan: Any, payloads: list[bytes]) -> None:  # noqa: ANN401 - a Node
    answer = JsonKernel(plan, few=1).walk(pyarrow.array(payloads, pyarrow.binary()))
    counts: dict[CountKey, int] = {}
    reasons: list[Reason | None] = []
    for payload in payloads:
        try:
            counted = read(plan, payload)[1]
        except Unreadable as unreadable:
            reasons.append(unreadable.reason)
        else:
            reasons.append(None)
            for one in counted:
                counts[one] = counts.get(one, 0) + 1
    found = [None if v == READ else answer.reasons[v - 1] for v in answer.verdicts.tolist()]
    assert found == reasons
    assert answer.counts == counts


def _plan(writer: Any, reader: Any) -> Any:  # noqa: ANN401 - JSON in, a Node out
    return pair(parse(json.dumps(writer)), parse(json.dumps(reader)))


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_all_rows_that_are_written_alike_are_read(separators: tuple[str, str]) -> None:
    orders = [_order(), _order(share=0.5, lines=[]), _order(note=None, count=0, paid=False)]
    orders += [{name: value for name, value in one.items() if value is not None} for one in orders]
    orders.append(_order(gone=-1.5))
    payloads = [
        json.dumps(one, separators=separators, ensure_ascii=False).encode() for one in orders * 3
    ]
    plan = _plan(_ORDER, _READER)
    assert covers(plan)
    known = Orders()
    known.learn(plan, payloads[:1])
    rows = column(pyarrow.array([b"before", *payloads], pyarrow.binary()).slice(1))
    assert walk(rows, known, plan)[0].all()
    _agree(plan, payloads)


@pytest.mark.parametrize("number", _NUMBERS)
def test_numbers_are_what_they_are_alone(number: str) -> None:
    reader = json.loads(json.dumps(_READER).replace('"long"', '"double"'))
    whole = json.dumps(_order(share=0.5), separators=(",", ":"), ensure_ascii=False)
    payloads = [whole]
    for name in ("count", "big", "share", "price", "gone", "paid", "note"):
        payloads += [
            re.sub(
                f'"{name}":[^,}}]*', lambda found: f"{found[0].partition(':')[0]}:{number}", whole
            )
        ]
        payloads.append(whole)
    encoded = [each.encode() for each in payloads]
    _agree(_plan(_ORDER, _READER), encoded)
    _agree(_plan(_ORDER, reader), encoded)


_ODD: Final[dict[str, Callable[[str], str]]] = {
    "an escape": lambda text: text.replace(":{}[],", "\\u0041\\n"),
    "a line break within a text": lambda text: text.replace(":{}[],", "\n"),
    "another order": lambda text: json.dumps(dict(reversed(json.loads(text).items()))),
    "a member twice": lambda text: text.replace('"count"', '"id":"y","count"'),
    "a member that nobody knows": lambda text: text.replace('"count"', '"more":1,"count"'),
    "a member that is missing": lambda text: text.replace('"count":-5,', ""),
    "no comma": lambda text: text.replace(',"count"', '"count"'),
    "two commas": lambda text: text.replace(',"count"', ',,"count"'),
    "a comma at the end": lambda text: text.replace('"x"}', '"x",}'),
    "an unknown symbol": lambda text: text.replace('"USD"', '"XXX"'),
    "no end": lambda text: text[:-1],
    "no end of a text": lambda text: text[:-2],
    "two ends": lambda text: text + "}",
    "nothing": lambda _: "",
    "half": lambda text: text[: len(text) // 2],
    "the other half": lambda text: text[len(text) // 2 :],
    "only a brace": lambda _: "{",
    "an empty object": lambda _: "{}",
    "many items": lambda text: text.replace(
        '"lines":[', '"lines":[' + '{"sku":"","price":1},' * 99
    ),
}


@pytest.mark.parametrize("what", _ODD)
def test_odd_rows_among_others(what: str) -> None:
    whole = json.dumps(_order(), separators=(",", ":"), ensure_ascii=False)
    payloads = [whole, _ODD[what](whole), whole, _ODD[what](whole), _ODD[what](whole), whole]
    _agree(_plan(_ORDER, _READER), [each.encode() for each in payloads])


def test_a_message_that_goes_on_in_the_next_is_none() -> None:
    whole = json.dumps(_order(), separators=(",", ":"), ensure_ascii=False).encode()
    cut = [whole[:at] for at in range(len(whole))]
    rest = [whole[at:] for at in range(len(whole))]
    _agree(_plan(_ORDER, _READER), [half for both in zip(cut, rest, strict=True) for half in both])


def test_no_utf_8() -> None:
    whole = json.dumps(_order(), separators=(",", ":"), ensure_ascii=False).encode()
    _agree(_plan(_ORDER, _READER), [whole, whole.replace("ü".encode(), b"\xff"), whole])


def test_how_often_numbers_are_rounded() -> None:
    reader = json.loads(json.dumps(_READER).replace('"int"', '"float"'))
    payloads = [json.dumps(_order(count=one)).encode() for one in (1, 2**24, 2**24 + 1, 2**30 + 1)]
    answer = JsonKernel(_plan(_ORDER, reader), few=1).walk(
        pyarrow.array(payloads, pyarrow.binary())
    )
    assert answer.counts[CountKey("count", CountKind.CHANGED)] == 2
    assert not numpy.count_nonzero(answer.verdicts)


@pytest.mark.slow
@given(st.randoms(use_true_random=False))
def test_random_rows_that_are_written_alike(random: Random) -> None:
    definitions = Definitions(random)
    writer = definitions.record()
    plan = _plan(writer, definitions.changed(writer))
    values = Values(random, writer, odd=random.choice([0.0, 0.02]))
    separators = random.choice([(",", ":"), (", ", ": ")])
    payloads = []
    for _ in range(random.randint(1, 40)):
        text = json.dumps(values.value(), separators=separators, ensure_ascii=False)
        data = bytearray(text.encode("utf-8", "replace"))
        if random.random() < 0.1:
            data[random.randrange(len(data))] = random.choice(b'{}[],:"\\ 01.-e')
        payloads.append(bytes(data))
    _agree(plan, payloads)


_FORMED: Final = {
    "type": "record",
    "name": "Formed",
    "fields": [
        {"name": "id", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "uri", "type": ["null", {"type": "string", "java-class": "java.net.URI"}]},
        {"name": "url", "type": {"type": "string", "java-class": "java.net.URL"}},
    ],
}


def test_uuids_and_addresses_are_read_side_by_side_and_odd_ones_alone() -> None:
    usual = {"id": "00000000-0000-0001-0000-00000000000F", "uri": "a+b://c:8/d", "url": "http://e"}
    rows = [usual, usual | {"uri": None}, usual | {"url": "https://e.f/?g#h"}]
    odd: list[dict[str, Any]] = [{"id": "1"}, {"uri": "urn:x"}, {"uri": " "}, {"url": "ftp:"}]
    plan = _plan(_FORMED, _FORMED)
    assert covers(plan)
    payloads = [json.dumps(one, separators=(",", ":")).encode() for one in rows]
    known = Orders()
    known.learn(plan, payloads[:1])
    assert walk(column(pyarrow.array(payloads, pyarrow.binary())), known, plan)[0].all()
    mixed = [usual | each for each in [{}, *odd, {}]]
    _agree(plan, [json.dumps(one, separators=(",", ":")).encode() for one in mixed])


def test_no_row_of_characters_is_read_as_a_number_below_zero() -> None:
    kind = {"type": "int", "java-class": "java.lang.Character"}
    record = {"type": "record", "name": "R", "fields": [{"name": "c", "type": kind}]}
    _agree(_plan(record, record), [b'{"c":%s}' % one for one in (b"-1", b"97", b'"a"', b"65536")])
