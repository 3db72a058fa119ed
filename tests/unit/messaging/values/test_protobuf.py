"""Protobuf classes and the definitions that are sent for them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf import timestamp_pb2
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from gitops.messaging.errors import InvalidValueError
from gitops.messaging.values.protobuf import protobuf_definition
from gitops.messaging.values.table import schema_of, value_schema
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.repository.definitions.protobuf import envelope, read_files
from tests.support.message_schemas import PARCEL

PROTO = """
syntax = "proto2";
package shop;
import "google/protobuf/timestamp.proto";
message Sale {
  required string sale_id = 1;
  optional google.protobuf.Timestamp sold_at = 2;
  optional string odd = 3 [json_name = "very-odd"];
  message Line_item { optional int32 count_of = 1; }
  repeated Line_item line_items = 4;
}
"""


@pytest.fixture
def compiled(tmp_path: Path) -> list[FileDescriptorProto]:
    """What protoc makes of the file and of what it imports."""
    (tmp_path / "sale.proto").write_text(PROTO)
    out = tmp_path / "out"
    command = [sys.executable, "-m", "grpc_tools.protoc", "-I.", "--include_imports"]
    subprocess.run(
        [*command, f"--descriptor_set_out={out}", "sale.proto"], cwd=tmp_path, check=True
    )
    return list(FileDescriptorSet.FromString(out.read_bytes()).file)


def sale_class(compiled: list[FileDescriptorProto]) -> type[Message]:
    """The class as generated code has it: with those JSON names alone that the file gives."""
    pool = DescriptorPool()
    pool.AddSerializedFile(timestamp_pb2.DESCRIPTOR.serialized_pb)
    sale = FileDescriptorProto.FromString(compiled[-1].SerializeToString())
    for message in (sale.message_type[0], sale.message_type[0].nested_type[0]):
        for field in message.field:
            if field.json_name != "very-odd":
                field.ClearField("json_name")
    pool.Add(sale)
    return GetMessageClass(pool.FindMessageTypeByName("shop.Sale"))


@pytest.mark.slow
def test_a_class_has_the_definition_of_its_proto_file(compiled: list[FileDescriptorProto]) -> None:
    files = read_files(tuple(file.SerializeToString() for file in compiled))
    text = envelope(files, "sale.proto", "shop.Sale")
    assert protobuf_definition(sale_class(compiled)) == text


@pytest.mark.slow
def test_messages_are_those_of_the_root(compiled: list[FileDescriptorProto]) -> None:
    schema = schema_of(sale_class(compiled))
    value = sale_class(compiled)(sale_id="a")
    assert schema.encode(value) == schema.encode({"saleId": "a"}) == b"\n\x01a"
    with pytest.raises(InvalidValueError, match=r"a shop\.Sale is expected, not a shop\.Parcel"):
        schema.encode(PARCEL(id="a"))
    with pytest.raises(InvalidValueError, match="missing"):
        schema.encode(sale_class(compiled)())
    with pytest.raises(InvalidValueError, match="required field"):
        schema.validate(b"")


def test_protobuf_takes_any_message() -> None:
    schema = value_schema(SchemaInfo(type=SchemaType.PROTOBUF, schema='{"type": "string"}'))
    assert schema.encode(PARCEL(id="a")) == b"\n\x01a"
    schema.validate(b"anything")
