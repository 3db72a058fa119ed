"""Pairs: a column and its rows one by one, whatever their lengths say."""

from __future__ import annotations

import json
import struct
from collections import Counter

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.kernel.definition import DefinitionError
from gitops.replay.kernel.key_value.definition import is_separated
from gitops.replay.kernel.key_value.wire_format import join, join_one
from gitops.replay.kernel.protocol import (
    READ,
    ChangeReader,
    CountKey,
    CountKind,
    NumberReader,
    Reason,
    Unreadable,
    ValueChange,
)
from gitops.replay.kernel.schema_types import kernel_for, row_reader_for, row_writer_for

RECORD = {"type": "record", "name": "V", "fields": [{"name": "n", "type": "int"}]}


def _pair(key: str = "STRING", value: str = "JSON", encoding: str = "INLINE") -> SchemaInfo:
    definition = {"key": "", "value": RECORD if value in {"JSON", "AVRO"} else ""}
    return SchemaInfo(
        type=SchemaType.KEY_VALUE,
        schema=json.dumps(definition),
        properties={
            "key.schema.type": key,
            "value.schema.type": value,
            "kv.encoding.type": encoding,
        },
    )


_HALF = st.none() | st.sampled_from([b"", b"k", b"\xff", b'{"n":1}', b'{"n":""}', b"\0\0\0\1"])


@pytest.mark.slow
@given(
    st.sampled_from(["STRING", "INT32", "JSON"]),
    st.lists(
        st.builds(join_one, _HALF, _HALF)
        | st.binary(max_size=20)
        | st.builds(
            lambda key, value, junk: (
                struct.pack(">i", key) + b"k" + struct.pack(">i", value) + junk
            ),
            st.sampled_from([1, 0, -1, -2, 2**31 - 1, -(2**31)]),
            st.sampled_from([1, 0, -1, -2, 2**31 - 1]),
            st.binary(max_size=3),
        ),
        max_size=30,
    ),
)
def test_a_column_is_what_its_rows_are(value: str, payloads: list[bytes]) -> None:
    info = SchemaInfo(
        type=SchemaType.KEY_VALUE,
        schema=json.dumps({"key": RECORD, "value": RECORD if value == "JSON" else ""}),
        properties={"key.schema.type": "JSON", "value.schema.type": value},
    )
    kernel, reader = kernel_for(info, info), row_reader_for(info, info)
    walk = kernel.walk(pyarrow.array([b"", *payloads], pyarrow.binary()).slice(1))
    counts: Counter[CountKey] = Counter()
    for payload, verdict in zip(payloads, walk.verdicts.tolist(), strict=True):
        if verdict != READ:
            with pytest.raises(Unreadable) as caught:
                reader.read(payload)
            assert walk.reasons[verdict - 1] == caught.value.reason
        else:
            reader.read(payload)
            counts.update(kernel.walk(pyarrow.array([payload])).counts)
    assert walk.counts == counts


@pytest.mark.parametrize(
    ("payload", "path", "reason"),
    [
        (b"", "key", "it ends before its length"),
        (b"\0\0\0", "key", "it ends before its length"),
        (b"\xff\xff\xff\xfe", "key", "its length is negative"),
        (b"\x7f\xff\xff\xff", "key", "it is shorter than its length"),
        (b"\0\0\0\1k", "value", "it ends before its length"),
        (b"\0\0\0\1k\0\0\0\1", "value", "it is shorter than its length"),
        (b"\0\0\0\1k\0\0\0\0x", "", "bytes are left over after the value"),
        (b"\0\0\0\1k\0\0\0\2{}", "value.n", "it is missing, and the reader has no default for it"),
        (b"\0\0\0\1k\0\0\0\2[]", "value", "expected an object, found an array"),
    ],
)
def test_a_broken_pair_says_where(payload: bytes, path: str, reason: str) -> None:
    walk = kernel_for(_pair(), _pair()).walk(pyarrow.array([payload]))
    assert walk.reasons == (Reason(path, reason),)


def test_what_was_read_of_a_half_is_kept() -> None:
    with pytest.raises(Unreadable, match="value: n: expected int, found text: 'x'") as caught:
        row_reader_for(_pair(), _pair()).read(join_one(b"k", b'{"n":"x"}'))
    assert caught.value.value == {"value": {"n": "x"}}


def test_what_is_counted_of_a_pair() -> None:
    payloads = [join_one(b"k", b'{"n":1}'), join_one(None, None), join_one(b"\xff", b"x")]
    walk = kernel_for(_pair(), _pair()).walk(pyarrow.array(payloads))
    assert walk.verdicts.tolist() == [READ, READ, 1]
    assert walk.counts == {
        CountKey("key", CountKind.READ): 2,
        CountKey("key", CountKind.NULLS): 1,
        CountKey("value", CountKind.READ): 2,
        CountKey("value", CountKind.NULLS): 1,
        CountKey("value.n", CountKind.READ): 1,
    }


def test_separated_messages_are_joined_to_pairs() -> None:
    keys = pyarrow.array([None, b"k", b"", b"kk"], pyarrow.binary()).slice(1)
    values = pyarrow.array([b"v", None, b"vv"], pyarrow.binary())
    joined = join(keys, values)
    assert joined.to_pylist() == [
        join_one(b"k", b"v"),
        join_one(b"", None),
        join_one(b"kk", b"vv"),
    ]
    assert join(keys.slice(0, 0), values.slice(0, 0)).to_pylist() == []
    assert is_separated(_pair(encoding="SEPARATED"))
    assert not is_separated(_pair())


def test_a_pair_is_read_and_written() -> None:
    payload = join_one(b"k", b'{"n":1}')
    value = row_reader_for(_pair(), _pair()).read(payload)
    assert value == {"key": "k", "value": {"n": 1}}
    assert row_writer_for(_pair()).write(value) == payload
    assert row_writer_for(_pair()).write({"key": None, "value": None}) == join_one(None, None)


def test_a_reader_of_another_encoding_reads_nothing() -> None:
    walk = kernel_for(_pair(encoding="SEPARATED"), _pair()).walk(pyarrow.array([b"x", b"y"]))
    reason = "the reader expects INLINE pairs, and the message is SEPARATED"
    assert walk.verdicts.tolist() == [1, 1]
    assert walk.reasons == (Reason("", reason),)


def test_a_half_of_another_type_fails_at_its_half() -> None:
    walk = kernel_for(_pair(value="AVRO"), _pair()).walk(pyarrow.array([join_one(b"k", b"\2")]))
    reason = Reason("value", "the reader expects JSON, and the message is AVRO")
    assert walk.reasons == (reason,)


@pytest.mark.parametrize(
    "info",
    [
        SchemaInfo(type=SchemaType.KEY_VALUE, schema="[]"),
        _pair(key="KEY_VALUE"),
        _pair(value="NOTHING"),
        _pair(key="AUTO_CONSUME"),
        _pair(key="AVRO"),
    ],
)
def test_a_definition_that_is_none_says_so(info: SchemaInfo) -> None:
    with pytest.raises(DefinitionError):
        kernel_for(info, info)


def test_halves_of_avro_are_read_by_their_kernel() -> None:
    info = _pair(value="AVRO")
    walk = kernel_for(info, info).walk(pyarrow.array([join_one(b"k", b"\2"), join_one(b"", b"")]))
    assert walk.verdicts.tolist() == [READ, 1]
    assert walk.counts[CountKey("value.n", CountKind.READ)] == 1


def test_what_is_changed_in_a_half_is_changed_in_the_pair() -> None:
    """In the value, of the pairs that can be read."""
    millis, micros = (_timed(f"timestamp-{unit}") for unit in ("millis", "micros"))
    kernel = kernel_for(millis, micros)
    payloads = [join_one(b"k", b"\x02"), b"\0", join_one(None, None), join_one(b"", b"\x04")]
    walk = kernel.walk(pyarrow.array(payloads, pyarrow.binary()))
    assert {path: rows.tolist() for path, rows in walk.changed.items()} == {"value.at": [0, 3]}
    assert isinstance(kernel, ChangeReader)
    assert [kernel.changes(payloads[row]) for row in (2, 3)] == [
        {},
        {
            "value.at": ValueChange(
                "timestamp-millis is read as timestamp-micros",
                "1970-01-01T00:00:00.002Z",
                "1970-01-01T00:00:00.000002Z",
            )
        },
    ]
    assert not kernel_for(millis, micros, "none").walk(pyarrow.array(payloads)).changed


def _timed(logical: str) -> SchemaInfo:
    at = {"name": "at", "type": {"type": "long", "logicalType": logical}}
    definition = {"key": "", "value": {"type": "record", "name": "V", "fields": [at]}}
    properties = {"key.schema.type": "STRING", "value.schema.type": "AVRO"}
    return SchemaInfo(
        type=SchemaType.KEY_VALUE, schema=json.dumps(definition), properties=properties
    )


def test_the_numbers_of_halves_stand_below_their_names() -> None:
    found: dict[tuple[str, str], list[float]] = {}
    kernel = kernel_for(_pair("INT32"), _pair("INT32"))
    assert isinstance(kernel, NumberReader)
    payloads = [join_one(struct.pack(">i", 7), b'{"n":1}'), join_one(None, None)]
    kernel.numbers(
        pyarrow.array(payloads, pyarrow.binary()),
        lambda path, unit, its: found.update({(path, unit): its.tolist()}),
    )
    assert found == {("key", "integer"): [7], ("value.n", "integer"): [1]}
