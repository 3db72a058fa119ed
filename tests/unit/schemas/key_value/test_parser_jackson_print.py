"""Numbers and texts as Jackson prints them, seen on a Pulsar 4.0.7 broker."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.model.schema import SchemaInfo, SchemaType
from gitops.schemas.key_value.parser import double_text, reprint
from gitops.schemas.payload import shown_schema, to_info


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("1.10", "1.1"),
        ("1e3", "1000.0"),
        ("1E+2", "100.0"),
        ("1e-2", "0.01"),
        ("1e30", "1.0E30"),
        ("-0", "0"),
        ("-0.0", "-0.0"),
        ("0e0", "0.0"),
        ("1e-400", "0.0"),
        ("1e400", '"Infinity"'),
        ("-1e400", '"-Infinity"'),
        ("0.0001", "1.0E-4"),
        ("0.001", "0.001"),
        ("9999999.0", "9999999.0"),
        ("12345678.5", "1.23456785E7"),
        ("-123456789.125", "-1.23456789125E8"),
        ("5e-324", "4.9E-324"),
        ("1.7976931348623157e308", "1.7976931348623157E308"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ('"\\u2028<\\u001f\\n\\/"', '"\u2028<\\u001F\\n/"'),
        ('{ "b" : [1, null, true], "a": 1, "b": 2 }', '{"b":2,"a":1}'),
    ],
)
def test_a_value_is_printed_as_the_broker_prints_it(written: str, shown: str) -> None:
    assert reprint(written) == shown


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_printed_number_is_the_same_number(number: float) -> None:
    assert float(double_text(number)) == number


def test_half_a_key_value_is_shown_so() -> None:
    key = '{"type":"record","name":"R","fields":[{"name":"a","type":"double","default":1e-4}]}'
    properties = {"key.schema.type": "AVRO", "value.schema.type": "STRING"}
    info = SchemaInfo(
        type=SchemaType.KEY_VALUE,
        schema=f'{{"key":{key},"value":""}}',
        properties=properties,
    )

    shown = to_info(shown_schema(info)).schema

    assert shown == f'{{"key":{key.replace("1e-4", "1.0E-4")},"value":""}}'
