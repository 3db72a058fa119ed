"""Values back to JSON."""

from __future__ import annotations

import json
from random import Random

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.kernel.protocol import Unreadable
from gitops.replay.kernel.schema_types import kernel_for, row_reader_for, row_writer_for
from tests.support.json_rows import Definitions, Values, payload


def _info(definition: object) -> SchemaInfo:
    return SchemaInfo(type=SchemaType.JSON, schema=json.dumps(definition))


@pytest.mark.slow
@given(st.randoms(use_true_random=False))
def test_what_was_read_is_written_and_read_again(random: Random) -> None:
    definition = Definitions(random).record()
    info = _info(definition)
    written = payload(random, Values(random, definition, odd=0.02).value(), broken=0)
    rows = row_reader_for(info, info)
    try:
        value = rows.read(written)
        again = row_writer_for(info).write(value)
    except Unreadable:
        return
    assert rows.read(again) == value


def test_it_is_written_as_java_writes_it() -> None:
    definition = {
        "type": "record",
        "name": "R",
        "fields": [
            {"name": "a", "type": ["null", "int"]},
            {"name": "b", "type": "bytes"},
            {"name": "c", "type": {"type": "string", "java-class": "java.math.BigDecimal"}},
            {"name": "d", "type": "double"},
            {"name": "e", "type": {"type": "map", "values": ["null", "R"]}},
            {"name": "f", "type": "bytes", "default": "\u00ff"},
        ],
    }
    info = _info(definition)
    text = b'{"a":null,"b":"AQI=","c":12.340,"d":"NaN","e":{"k":null}}'
    value = row_reader_for(info, info).read(text)
    written = row_writer_for(info).write(value)
    assert written == b'{"b":"AQI=","c":12.340,"d":"NaN","e":{"k":null},"f":"/w=="}'
    assert not kernel_for(info, info).walk(_column(written)).verdicts.any()


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ({"type": "string", "java-class": "java.math.BigDecimal"}, b"1E-2147483647"),
        ({"type": "string", "java-class": "java.math.BigInteger"}, b"1" * 1000),
        ({"type": "long", "logicalType": "timestamp-micros"}, b"-31557014167219200.000000000"),
        ({"type": "int", "logicalType": "date"}, b"[-999999999,1,1]"),
        ({"type": "array", "items": "int", "java-class": "[C"}, b'"ab"'),
    ],
)
def test_values_of_java_classes_stay_what_they_are(kind: object, text: bytes) -> None:
    info = _info({"type": "record", "name": "R", "fields": [{"name": "a", "type": kind}]})
    payload = b'{"a":%s}' % text
    assert row_writer_for(info).write(row_reader_for(info, info).read(payload)) == payload


def test_text_without_utf8_is_not_written() -> None:
    info = _info("string")
    value = row_reader_for(info, info).read(b'"\\ud800"')
    with pytest.raises(Unreadable, match="cannot be written as JSON"):
        row_writer_for(info).write(value)


def _column(one: bytes) -> pyarrow.BinaryArray:
    return pyarrow.array([one])
