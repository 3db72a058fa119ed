"""Which kernel reads what: types that read each other, and definitions that are none."""

from __future__ import annotations

import json

import pyarrow
import pytest

from gitops.model.schema import AUTO_TYPES, SchemaInfo, SchemaType
from gitops.replay.kernel.definition import DefinitionError
from gitops.replay.kernel.primitive import FORMS, KERNELS
from gitops.replay.kernel.protocol import Reason, Unreadable
from gitops.replay.kernel.schema_types import (
    OPAQUE,
    PAYLOAD_TYPES,
    kernel_for,
    row_reader_for,
    row_writer_for,
)

RECORD = json.dumps({"type": "record", "name": "R", "fields": [{"name": "id", "type": "int"}]})
INFOS = {
    "AVRO": SchemaInfo(type=SchemaType.AVRO, schema=RECORD),
    "JSON": SchemaInfo(type=SchemaType.JSON, schema=RECORD),
    "STRING": SchemaInfo(type=SchemaType.STRING),
    "INT64": SchemaInfo(type=SchemaType.INT64),
    "NONE": SchemaInfo(type=SchemaType.NONE),
    "BYTES": SchemaInfo(type=SchemaType.BYTES),
}


@pytest.mark.parametrize(
    ("writer", "reader", "payload", "value"),
    [
        ("AVRO", "AVRO", b"\x02", {"id": 1}),
        ("JSON", "JSON", b'{"id":1}', {"id": 1}),
        ("STRING", "JSON", b'{"id":1}', {"id": 1}),
        ("JSON", "STRING", b'{"id":1}', '{"id":1}'),
        ("NONE", "AVRO", b"\x02", {"id": 1}),
        ("BYTES", "INT64", b"\0\0\0\0\0\0\0\1", 1),
        ("AVRO", "BYTES", b"\x02", b"\x02"),
        ("JSON", "NONE", b"x", b"x"),
    ],
)
def test_types_that_read_each_other(
    writer: str, reader: str, payload: bytes, value: object
) -> None:
    pair = INFOS[writer], INFOS[reader]
    assert row_reader_for(*pair).read(payload) == value
    assert kernel_for(*pair).walk(pyarrow.array([payload])).verdicts.tolist() == [0]


@pytest.mark.parametrize(
    ("writer", "reader"),
    [("AVRO", "JSON"), ("JSON", "AVRO"), ("STRING", "AVRO"), ("AVRO", "STRING"), ("INT64", "JSON")],
)
def test_types_that_do_not_are_one_reason_for_all_rows(writer: str, reader: str) -> None:
    pair = INFOS[writer], INFOS[reader]
    reason = Reason("", f"the reader expects {reader}, and the message is {writer}")
    walk = kernel_for(*pair).walk(pyarrow.array([b"a", b"b"]))
    assert (walk.verdicts.tolist(), walk.reasons) == ([1, 1], (reason,))
    assert not kernel_for(*pair).walk(pyarrow.array([], pyarrow.binary())).reasons
    with pytest.raises(Unreadable) as caught:
        row_reader_for(*pair).read(b"a")
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    "info",
    [
        SchemaInfo(type=SchemaType.AVRO, schema="{"),
        SchemaInfo(type=SchemaType.JSON, schema="{"),
        SchemaInfo(type=SchemaType.JSON, schema='{"type":"record"}'),
        SchemaInfo(type=SchemaType.PROTOBUF, schema="{"),
        SchemaInfo(type=SchemaType.PROTOBUF_NATIVE, schema="{}"),
        SchemaInfo(type=SchemaType.KEY_VALUE, schema="{}"),
        SchemaInfo(type=SchemaType.AUTO_CONSUME),
    ],
)
def test_a_definition_that_cannot_be_parsed_says_so(info: SchemaInfo) -> None:
    with pytest.raises(DefinitionError):
        kernel_for(info, info)
    with pytest.raises(DefinitionError):
        row_reader_for(info, info)
    with pytest.raises(DefinitionError):
        row_writer_for(info)


@pytest.mark.parametrize("kind", [SchemaType.JSON, SchemaType.STRING, SchemaType.INT32])
def test_an_empty_column_has_nothing_to_say(kind: SchemaType) -> None:
    info = SchemaInfo(type=kind, schema=RECORD if kind is SchemaType.JSON else "")
    for type_ in (pyarrow.binary(), pyarrow.large_binary()):
        walk = kernel_for(info, info).walk(pyarrow.array([], type_))
        assert (len(walk.verdicts), walk.reasons, walk.counts) == (0, (), {})


@pytest.mark.parametrize(
    "kind",
    [
        {"type": "string", "logicalType": "uuid"},
        {"type": "string", "java-class": "java.math.BigDecimal"},
        {"type": "string", "java-class": "java.net.URI"},
    ],
)
def test_json_for_readers_without_logical_types_takes_any_text(kind: dict[str, str]) -> None:
    record = {"type": "record", "name": "R", "fields": [{"name": "id", "type": kind}]}
    info = SchemaInfo(type=SchemaType.JSON, schema=json.dumps(record))
    rows = pyarrow.array([b'{"id":"a b"}', b'{"id":1}'])
    assert kernel_for(info, info, "java").walk(rows).verdicts[0] != 0
    assert kernel_for(info, info, "none").walk(rows).verdicts.tolist() == [0, 1]
    assert row_reader_for(info, info, "none").read(b'{"id":"a b"}') == {"id": "a b"}


def test_a_row_for_each_type_that_messages_have() -> None:
    assert set(PAYLOAD_TYPES) == set(SchemaType) - AUTO_TYPES
    fixed = {SchemaType.STRING, SchemaType.EXTERNAL, *OPAQUE, *FORMS}
    assert {kind for kind, row in PAYLOAD_TYPES.items() if row.kernels() is KERNELS} == fixed


def test_types_that_read_each_other_do_so_in_both_directions() -> None:
    opaque = OPAQUE
    for kind, row in PAYLOAD_TYPES.items():
        for other in row.reads - {kind} if kind not in opaque else ():
            assert kind in PAYLOAD_TYPES[other].reads, (kind, other)
