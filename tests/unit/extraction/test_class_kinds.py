"""Classes of `pulsar.schema` and of Protobuf have the schema that their own client sends."""

from __future__ import annotations

import importlib
import os
import secrets
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from gitops.extraction.extraction import Extraction, ExtractRequest
from gitops.extraction.python_classes import extract_python
from gitops.model.errors import UsageError
from gitops.model.schema import SchemaType
from tests.support.protos import native
from tests.support.random_records import HEAD, RandomRecords

RECORDS: Final = int(os.environ.get("EXTRACTED_CLASSES", "60"))


def extract(folder: Path, name: str, **options: Any) -> Extraction:  # noqa: ANN401 - any option
    return extract_python(ExtractRequest(name=name, folders=(folder,), **options))


@pytest.mark.slow
def test_random_records_have_the_text_of_their_own_client(tmp_path: Path) -> None:
    schema = pytest.importorskip("pulsar.schema", reason="the extra pulsar is not installed")
    seed = secrets.randbelow(10**9)
    random = RandomRecords(seed)
    module = f"records_{secrets.token_hex(8)}"
    sources = [random.source(f"C{number}") for number in range(RECORDS)]
    (tmp_path / f"{module}.py").write_text(HEAD + "".join(sources), "utf-8")

    for number in range(RECORDS):
        for kind, client in (("AVRO", schema.AvroSchema), ("JSON", schema.JsonSchema)):
            ours = extract(tmp_path, f"{module}:C{number}", schema_type=kind)
            theirs = client(vars(sys.modules[module])[f"C{number}"]).schema_info()
            assert ours.info.schema == theirs.schema(), f"seed {seed}: C{number}"
            assert ours.info.type is SchemaType(kind)


def test_a_record_says_itself_what_may_be_null(tmp_path: Path) -> None:
    pytest.importorskip("pulsar.schema", reason="the extra pulsar is not installed")
    (tmp_path / "null_record.py").write_text(f"{HEAD}class A(Record):\n    a = String()\n")
    with pytest.raises(UsageError, match=r"pulsar\.schema\.Record"):
        extract(tmp_path, "null_record:A", always_allow_null=True)


def test_a_definition_that_brokers_refuse_is_an_error(tmp_path: Path) -> None:
    pytest.importorskip("pulsar.schema", reason="the extra pulsar is not installed")
    source = "class E(Enum):\n    A = 1\n\n\nclass R(Record):\n    a = Array(CustomEnum(E))\n"
    (tmp_path / "enum_list.py").write_text(HEAD + source)
    with pytest.raises(UsageError, match="'enum' is not a defined type"):
        extract(tmp_path, "enum_list:R")


PROTOS: Final = {
    "money_of_test.proto": b'syntax = "proto3"; package shop; message Money { int64 units = 1; }',
    "order_of_test.proto": b'syntax = "proto3"; package shop; import "money_of_test.proto";'
    b' import "google/protobuf/timestamp.proto";'
    b" message Order { Money total_price = 1; google.protobuf.Timestamp at = 2;"
    b' message Line { string sku = 1 [json_name = "SKU"]; } repeated Line lines = 3; }',
}


@pytest.mark.parametrize("message", ["Order", "Order.Line"])
def test_a_generated_class_has_the_schema_of_its_proto_file(tmp_path: Path, message: str) -> None:
    protoc = importlib.import_module("grpc_tools.protoc")
    for name, text in PROTOS.items():
        (tmp_path / name).write_bytes(text)
    include = Path(str(protoc.__file__)).parent / "_proto"
    arguments = ["protoc", f"-I{tmp_path}", f"-I{include}", f"--python_out={tmp_path}", *PROTOS]
    assert protoc.main(arguments) == 0

    found = extract(tmp_path, f"order_of_test_pb2:{message}")

    ours, theirs = found.info, native(PROTOS, "order_of_test.proto", f"shop.{message}")
    assert ours == theirs
    with pytest.raises(UsageError, match="no schema of type AVRO"):
        extract(tmp_path, f"order_of_test_pb2:{message}", schema_type="AVRO")
