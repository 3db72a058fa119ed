"""Text, and payloads that are their own value."""

from __future__ import annotations

import pyarrow
import pytest

from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.kernel.protocol import CountKey, CountKind, Unreadable
from gitops.replay.kernel.schema_types import kernel_for, row_reader_for, row_writer_for

STRING = SchemaInfo(type=SchemaType.STRING)
BYTES = SchemaInfo(type=SchemaType.BYTES)


def test_text_that_is_not_utf8_is_read_changed() -> None:
    walk = kernel_for(STRING, STRING).walk(
        pyarrow.array([b"a", "ü".encode(), b"\xff", b"", b"x\xc3"], pyarrow.binary()).slice(1)
    )
    assert not walk.verdicts.any()
    assert walk.counts == {CountKey("", CountKind.READ): 4, CountKey("", CountKind.CHANGED): 2}
    assert row_reader_for(STRING, STRING).read(b"x\xff") == "x�"
    assert row_reader_for(STRING, STRING).read(b"\xed\xa0\x80") == "\ufffd"  # as Java has it
    assert row_writer_for(STRING).write("ü\ud800") == "ü?".encode()


def test_bytes_are_read_from_whatever_was_written() -> None:
    avro = SchemaInfo(type=SchemaType.AVRO, schema='"int"')
    walk = kernel_for(avro, BYTES).walk(pyarrow.array([b"\xff", b""], pyarrow.large_binary()))
    assert walk.counts == {CountKey("", CountKind.READ): 2}
    assert row_reader_for(avro, BYTES).read(b"\xff") == b"\xff"
    assert row_writer_for(BYTES).write(b"\xff") == b"\xff"


@pytest.mark.parametrize("schema", [STRING, BYTES])
def test_a_value_of_another_type_is_not_written(schema: SchemaInfo) -> None:
    with pytest.raises(Unreadable):
        row_writer_for(schema).write(5)
