"""A column of JSON and its rows one by one: the same verdicts, reasons and counts."""

from __future__ import annotations

import gc
import json
from collections import Counter
from random import Random
from typing import Any

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.replay.kernel.json.kernel import FEW, JsonKernel
from gitops.replay.kernel.json.rows import read
from gitops.replay.kernel.json.schema_pair import pair
from gitops.replay.kernel.protocol import READ, CountKey, CountKind, Reason, Unreadable, Walk
from gitops.schemas.avro.parser import AVRO_1_11
from tests.support.json_rows import Definitions, Values, payload

parse = AVRO_1_11.parse


def _plan(writer: Any, reader: Any) -> Any:  # noqa: ANN401 - JSON
    return pair(parse(json.dumps(writer)), parse(json.dumps(reader)))


def _one_by_one(plan: Any, payloads: list[bytes]) -> tuple[list[Reason | None], Counter[CountKey]]:  # noqa: ANN401 - a Node
    reasons: list[Reason | None] = []
    counts: Counter[CountKey] = Counter()
    for one in payloads:
        try:
            counts.update(read(plan, one)[1])
        except Unreadable as unreadable:
            reasons.append(unreadable.reason)
        else:
            reasons.append(None)
    return reasons, counts


def _reasons(walk: Walk) -> list[Reason | None]:
    return [None if v == READ else walk.reasons[v - 1] for v in walk.verdicts.tolist()]


def _walk(writer: Any, reader: Any, *payloads: bytes) -> Walk:  # noqa: ANN401 - JSON
    return JsonKernel(_plan(writer, reader)).walk(pyarrow.array(payloads, pyarrow.binary()))


def _record(**fields: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    return {
        "type": "record",
        "name": "R",
        "fields": [{"name": name, "type": kind} for name, kind in fields.items()],
    }


@pytest.mark.slow
@given(st.randoms(use_true_random=False), st.sampled_from([0.0, 0.02, 0.3]))
def test_a_column_is_what_its_rows_are(random: Random, odd: float) -> None:
    definitions = Definitions(random)
    writer = definitions.record() if random.random() < 0.8 else definitions.any()
    reader = definitions.changed(writer) if random.random() < 0.8 else definitions.any()
    values = Values(random, writer, odd=odd)
    payloads = [payload(random, values.value(), broken=odd) for _ in range(random.randint(0, 60))]
    plan = _plan(writer, reader)
    kernel = JsonKernel(plan, few=random.choice([1, FEW]))
    reasons, counts = _one_by_one(plan, payloads)
    sliced = pyarrow.array([b"{}", *payloads], pyarrow.binary()).slice(1)
    walk = kernel.walk(sliced)
    assert _reasons(walk) == reasons
    assert walk.counts == counts


@pytest.mark.parametrize(
    ("payload", "path", "reason"),
    [
        (b"", "", "the message is empty"),
        (b" ", "", "the message is empty"),
        (b"{", "", "not JSON"),
        (b'{"id":1}x', "", "text left over after the JSON value"),
        (b'{"id":1}{"id":1}', "", "text left over after the JSON value"),
        (b'{"id":1,"id":1}', "", "a member occurs twice in the object"),
        (b"{}", "id", "it is missing, and the reader has no default for it"),
        (b'{"id":null}', "id", "expected int, found null"),
        (b'{"id":"1"}', "id", "expected int, found text"),
        (b'{"id":1.0}', "id", "expected int, found a fraction"),
        (b'{"id":true}', "id", "expected int, found a boolean"),
        (b'{"id":2147483648}', "id", "the number is out of the range of int"),
        (b"[]", "", "expected an object, found an array"),
        (b"null", "", "expected an object, found null"),
        (b'{"id":NaN}', "", "NaN is not JSON"),
        (b'{"id":01}', "", "not JSON"),
        (b"{'id':1}", "", "not JSON"),
        (b'{"id":1,"note":"\xff"}', "", "not UTF-8"),
        (b'{"id":1,"note":"a\tb"}', "", "not JSON"),
        (b'{"id":1,"q":' + b"[" * 1000 + b"]" * 1000 + b"}", "", "nested deeper than 1000 levels"),
        (b'{"id":1,"q":' + b"1" * 1001 + b"}", "", "a number of more than 1000 digits"),
        (b'{"id":' + b"1" * 5000 + b"}", "", "a number of more than 1000 digits"),
        (b'{"id":1,"currency":"OLD"}', "currency", "the reader's enum does not have OLD"),
        (
            b'{"id":1,"currency":"XXX"}',
            "currency",
            "the reader's enum does not have a symbol that the writer's lacks too",
        ),
        (b'{"id":1,"data":"AQI"}', "data", "the text is not base64"),
        (b'{"id":1,"day":[2024,2,30]}', "day", "the list is no date or time"),
        (b'{"id":1,"ratio":1e39}', "ratio", "the number is out of the range of float"),
        (b'{"id":1,"lines":[{"price":"x"}]}', "lines[].price", "expected double, found text"),
        (b'{"id":1,"attrs":{"a":1}}', "attrs{}", "expected string, found an integer"),
    ],
)
def test_a_row_that_fails_says_why(payload: bytes, path: str, reason: str) -> None:
    reader = _record(
        id="int",
        note=["null", "string"],
        currency=["null", {"type": "enum", "name": "C", "symbols": ["EUR"]}],
        data=["null", "bytes"],
        day=["null", {"type": "int", "logicalType": "date"}],
        ratio=["null", "float"],
        lines=["null", {"type": "array", "items": {**_record(price="double"), "name": "Line"}}],
        attrs=["null", {"type": "map", "values": "string"}],
    )
    writer = json.loads(json.dumps(reader).replace('["EUR"]', '["EUR", "OLD"]'))
    walk = _walk(writer, reader, b'{"id":1}', payload)
    assert _reasons(walk) == [None, Reason(path, reason)]


@pytest.mark.parametrize("payload", [b":", b":a", b" :", b"::", b' : "'])
def test_a_column_of_a_few_bytes(payload: bytes) -> None:
    walk = _walk(_record(id="int"), _record(id="int"), payload)
    assert _reasons(walk) == [Reason("", "not JSON")]


def test_a_reason_holds_no_value_and_a_message_does() -> None:
    kernel = JsonKernel(_plan(_record(id="int"), _record(id="int")))
    with pytest.raises(Unreadable) as caught:
        kernel.read(b'{"id":"secret"}')
    assert caught.value.message == "id: expected int, found text: 'secret'"
    assert caught.value.value == {"id": "secret"}
    assert "secret" not in caught.value.reason.reason


def test_what_java_leaves_out_is_null_if_the_writer_could_write_null() -> None:
    walk = _walk(_record(a=["null", "int"]), _record(a=["null", "int"], b=["null", "int"]), b"{}")
    assert walk.counts == {
        CountKey("", CountKind.READ): 1,
        CountKey("a", CountKind.READ): 1,
        CountKey("a", CountKind.NULLS): 1,
        CountKey("a", CountKind.BRANCH, "null"): 1,
        CountKey("b", CountKind.DEFAULTED): 1,
    }


def test_jackson_knows_no_aliases() -> None:
    reader = _record(a="int")
    reader["fields"][0] |= {"name": "b", "aliases": ["a"], "default": 5}
    walk = _walk(_record(a="int"), reader, b'{"a":1}')
    assert walk.counts[CountKey("a", CountKind.DROPPED)] == 1
    assert walk.counts[CountKey("b", CountKind.DEFAULTED)] == 1
    assert JsonKernel(_plan(_record(a="int"), reader)).read(b'{"a":1}') == {"b": 5}


def test_promotions_and_digits_that_get_lost() -> None:
    writer, reader = (
        _record(a="long", b="int", c="double"),
        _record(a="double", b="long", c="float"),
    )
    walk = _walk(writer, reader, b'{"a":9007199254740993,"b":1,"c":0.1}', b'{"a":1,"b":1,"c":0.5}')
    counted = [(path, walk.counts[CountKey(path, CountKind.PROMOTED)]) for path in "abc"]
    assert counted == [("a", 2), ("b", 2), ("c", 0)]
    assert [walk.counts[CountKey(path, CountKind.CHANGED)] for path in "abc"] == [1, 0, 1]


def test_a_number_beyond_a_double_is_out_of_range_however_it_is_written() -> None:
    rows = [b'{"a":%s}' % number for number in (b"1" * 400, b"1e400", b"-" + b"9" * 309, b"1")]
    for writer in ("long", "double"):
        walk = _walk(_record(a=writer), _record(a="double"), *rows)
        assert walk.verdicts.tolist() == [1, 1, 1, READ]
        assert walk.reasons == (Reason("a", "the number is out of the range of double"),)


def test_members_that_neither_schema_knows_are_counted_under_a_star() -> None:
    walk = _walk(_record(a="int"), _record(a="int"), b'{"a":1,"b":{"c":1}}', b'{"a":2}')
    assert walk.counts[CountKey("*", CountKind.DROPPED)] == 1


def test_a_record_within_itself_keeps_its_paths() -> None:
    node = _record(value="int", next=["null", "R"])
    walk = _walk(node, node, b'{"value":1,"next":{"value":2,"next":{"value":3}}}')
    assert walk.counts[CountKey("value", CountKind.READ)] == 3
    assert walk.counts[CountKey("next", CountKind.READ)] == 3


def test_as_deep_as_jackson_goes_and_no_deeper() -> None:
    node = _record(next=["null", "R"])
    deep = b'{"next":' * 999 + b"{}" + b"}" * 999
    walk = _walk(node, node, deep, b'{"next":' + deep + b"}")
    assert _reasons(walk) == [None, Reason("", "nested deeper than 1000 levels")]


def test_half_a_character_stands_in_no_message() -> None:
    schema = parse('{"type":"record","name":"R","fields":[]}')
    with pytest.raises(Unreadable) as found:
        JsonKernel(pair(schema, schema)).read(rb'{"\ud800":1,"\ud800":2}')
    assert found.value.message == r"the object has '\ud800' twice"


@pytest.mark.slow
def test_records_that_hold_each_other_twice_have_a_plan() -> None:
    kind: Any = "int"
    for number in range(40):
        kind = {
            "type": "record",
            "name": f"L{number}",
            "fields": [
                {"name": "a", "type": kind},
                {"name": "b", "type": ["null", f"L{number - 1}" if number else "int"]},
            ],
        }
    value: Any = 1
    for _ in range(40):
        value = {"a": value}
    assert _reasons(_walk(kind, kind, json.dumps(value).encode())) == [None]


def test_a_union_takes_the_first_branch_that_fits() -> None:
    kind = _record(u=["int", "string", {**_record(x="int"), "name": "X"}])
    rows = (b'{"u":1}', b'{"u":"a"}', b'{"u":{"x":1}}', b'{"u":{"x":""}}', b'{"u":{}}')
    walk = _walk(kind, kind, *rows)
    none = Reason("u", "no branch of the reader's union accepts it")
    inner = Reason("u.x", "expected int, found text")
    assert _reasons(walk) == [None, None, None, inner, none]
    branches = [CountKey("u", CountKind.BRANCH, name) for name in ("int", "string", "X")]
    assert [walk.counts[branch] for branch in branches] == [1, 1, 1]


def test_a_deep_value_of_a_union_of_records_is_read_once() -> None:
    one: dict[str, Any] = {"type": "record", "name": "A", "fields": []}
    other: dict[str, Any] = {"type": "record", "name": "B", "fields": []}
    one["fields"] = [{"name": "u", "type": ["null", "A", other]}, {"name": "x", "type": "int"}]
    other["fields"] = [{"name": "u", "type": ["null", "A", "B"]}, {"name": "y", "type": "int"}]
    deep = b'{"u":' * 300 + b'{"x":""}' + b',"x":1,"y":1}' * 300
    assert _reasons(_walk(one, one, deep))[0] is not None


_UUID = {"type": "string", "logicalType": "uuid"}
_MICROS = {"type": "long", "logicalType": "timestamp-micros"}
_LOCAL = {"type": "long", "logicalType": "local-timestamp-millis"}
_CHARACTERS = {"type": "int", "java-class": "java.lang.Character"}


def _java(name: str) -> dict[str, str]:
    return {"type": "string", "java-class": name}


@pytest.mark.parametrize(
    ("kind", "value", "reason"),
    [
        ("bytes", '"AQID"', None),
        ("bytes", '"AQID="', "the text is not base64"),
        ("bytes", '"AQID===="', "the text is not base64"),
        (_UUID, '"00000000-0000-0001-0000-000000000002"', None),
        (_UUID, '"0-0-0-0-2"', "the text is not a UUID"),
        (_java("java.net.URI"), '"urn:x:[y]"', None),
        (_java("java.net.URI"), '"a b"', "the text is not a URI"),
        (_java("java.net.URL"), '"https://a/b c"', None),
        (_java("java.net.URL"), '"//a"', "the text is not a URL"),
        (_java("java.io.File"), '"anything"', None),
        (_java("java.math.BigInteger"), "1" * 1000, None),
        (_java("java.math.BigInteger"), '"+01"', None),
        (_java("java.math.BigInteger"), "1.0", "expected a whole number, found a fraction"),
        (_java("java.math.BigInteger"), '"1e5"', "the text is not a whole number"),
        (_java("java.math.BigInteger"), '"1."', "the text is not a whole number"),
        (
            _java("java.math.BigInteger"),
            f'"{"1" * 1001}"',
            "a number of more than 1000 digits",
        ),
        (_java("java.math.BigDecimal"), "1" * 400, None),
        (_java("java.math.BigDecimal"), '".5"', None),
        (_java("java.math.BigDecimal"), "1e-2147483647", None),
        (_java("java.math.BigDecimal"), "1e-2147483648", "the exponent is too large"),
        (_java("java.math.BigDecimal"), "1e2147483648", "the exponent is too large"),
        (
            _java("java.math.BigDecimal"),
            "1e1000000000000000000000",
            "the exponent is too large",
        ),
        (_java("java.math.BigDecimal"), '"1e2147483648"', "the text is not a number"),
        (
            _java("java.math.BigDecimal"),
            f'"0.{"1" * 999}"',
            "a number of more than 1000 digits",
        ),
        (_CHARACTERS, '"\uffff"', None),
        (_CHARACTERS, "65535", None),
        (_CHARACTERS, '"\U0001f600"', "the text is not one char of Java"),
        (_CHARACTERS, '""', "the text is not one char of Java"),
        (_CHARACTERS, "-1", "the number is out of the range of int"),
        (_CHARACTERS, "65536", "the number is out of the range of int"),
        ({"type": "array", "items": _CHARACTERS, "java-class": "[C"}, '"ab"', None),
        (
            {"type": "array", "items": _CHARACTERS, "java-class": "[C"},
            "[97]",
            "expected string, found an array",
        ),
        ({"type": "array", "items": _CHARACTERS}, '["a",97]', None),
        (_MICROS, "-31557014167219200.000000000", None),
        (_MICROS, "31556889864403199.999999999", None),
        (_MICROS, "31556889864403200.0", "the number is no point in time"),
        (_MICROS, "-31557014167219200.1", "the number is no point in time"),
        (_MICROS, "1e-2147483648", "the number is no point in time"),
        (_MICROS, '"2024-01-01"', "the text is no date or time as Java writes it"),
        (_LOCAL, "[-999999999,1,1,0,0]", None),
        (_LOCAL, "[2024,1,1]", "the list is no date or time"),
        ({"type": "record", "name": "java.util.Date", "fields": []}, "[1]", None),
        (
            {"type": "record", "name": "com.fasterxml.jackson.databind.JsonNode", "fields": []},
            "[1]",
            None,
        ),
        ({"type": "record", "name": "shop.Empty", "fields": []}, "[1]", "expected an object"),
    ],
)
@pytest.mark.parametrize("few", [1, FEW])
def test_forms_of_java_classes(kind: Any, value: str, reason: str | None, few: int) -> None:  # noqa: ANN401
    plan = _plan(_record(a=kind), _record(a=kind))
    payload = f'{{"a":{value}}}'.encode()
    walk = JsonKernel(plan, few=few).walk(pyarrow.array([payload], pyarrow.binary()))
    found = _reasons(walk)
    assert found == _one_by_one(plan, [payload])[0]
    assert [one and one.reason.startswith(reason or "?") for one in found] == [reason and True]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (f'{{"{"a" * 50_000}":1}}', None),
        (f'{{"x":[{{"{"a" * 50_001}":1}}]}}', "a name of more than 50,000 bytes"),
        (f'{{"{"ü" * 25_001}":1}}', "a name of more than 50,000 bytes"),
        (f'{{"x":0.{"1" * 999}}}', None),
        (f'{{"x":0.{"1" * 1000}}}', "a number of more than 1000 digits"),
        (f'{{"x":1e+{"0" * 998}1}}', None),
        (f'{{"x":1e+{"0" * 999}1}}', "a number of more than 1000 digits"),
        (f'{{"s":"{"a" * 20_000_000}"}}', None),
        (f'{{"s":"{"a" * 20_000_001}"}}', "text of more than 20,000,000 characters"),
        (f'{{"s":"{"😀" * 10_000_001}"}}', "text of more than 20,000,000 characters"),
        (f'{{"x":"{"a" * 20_000_001}"}}', None),
        (f'{{"b":"{"A" * 20_000_004}"}}', None),
    ],
    ids=range(12),
)
@pytest.mark.parametrize("few", [1, FEW])
def test_limits_of_jackson(payload: str, reason: str | None, few: int) -> None:
    kind = _record(s=["null", "string"], b=["null", "bytes"])
    column = pyarrow.array([payload.encode()], pyarrow.binary())
    found = _reasons(JsonKernel(_plan(kind, kind), few=few).walk(column))
    assert [one and one.reason for one in found] == [reason]


@pytest.mark.parametrize("enabled", [True, False])
def test_the_search_for_garbage_is_as_it_was_afterwards(*, enabled: bool) -> None:
    was_enabled, definition = gc.isenabled(), _record(a={"type": "map", "values": "string"})
    try:
        (gc.enable if enabled else gc.disable)()
        assert _walk(definition, definition, b'{"a":{"b":"c"}}', b"{").verdicts.tolist() == [0, 1]
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if was_enabled else gc.disable)()
