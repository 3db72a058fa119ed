"""Descriptors written as `.proto` text compile to the same descriptors."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from contextlib import suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitops.model.schema import SchemaInfo, SchemaType

pytest.importorskip("grpc_tools", reason="the extra protobuf is not installed")

from google.protobuf import timestamp_pb2
from google.protobuf.descriptor_pb2 import (
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)
from google.protobuf.message import DecodeError
from grpc_tools import protoc

from gitops.repository.definitions.protobuf import envelope, read_files
from gitops.repository.writing.proto_files import proto_sources
from gitops.repository.writing.proto_text import UnwritableProtoError, proto_texts
from tests.support.examples import examples
from tests.support.proto_descriptors import random_files
from tests.support.protos import native

_WELL_KNOWN = Path(protoc.__file__).parent / "_proto"


def _compiled(texts: dict[str, str]) -> dict[str, bytes]:
    """What protoc makes of these files, by their names, as a client sends it."""
    with TemporaryDirectory() as folder:
        for name, text in texts.items():
            place = Path(folder, name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, "utf-8")
        made = Path(folder, "made")
        options = (f"-I{folder}", f"-I{_WELL_KNOWN}", "--include_imports")
        assert protoc.main(["", *options, f"--descriptor_set_out={made}", *texts]) == 0
        found = FileDescriptorSet.FromString(made.read_bytes())
    files = read_files(tuple(each.SerializeToString() for each in found.file))
    return {name: data for name, (_, data) in files.items()}


@pytest.mark.slow
@settings(max_examples=examples(400), deadline=None)
@given(st.integers(0, 1 << 64))
def test_random_descriptors_compile_to_themselves(seed: int) -> None:
    files = random_files(Random(seed))  # noqa: S311 - a test's descriptors
    time = FileDescriptorProto.FromString(timestamp_pb2.DESCRIPTOR.serialized_pb)

    texts = proto_texts([time, *files])

    compiled = _compiled({file.name: texts[file.name] for file in files})
    for file in files:
        text = texts[file.name]
        assert FileDescriptorProto.FromString(compiled[file.name]) == file, text
        assert compiled[file.name] == file.SerializeToString(deterministic=True), text


_EVERYTHING = """
syntax = "proto2";
package shop.v1;
import "google/protobuf/descriptor.proto";
import "google/protobuf/timestamp.proto";
option java_package = "shop";
option (owner) = {name: "the \\"team\\"", tags: ["a", "b"]};
message Owner { optional string name = 1; repeated string tags = 2; }
extend google.protobuf.FileOptions { optional Owner owner = 50001; }
extend google.protobuf.FieldOptions { repeated int32 limits = 50001; optional Kind kind = 50002; }
enum Kind { option allow_alias = true; NONE = 0; NO = 0 [deprecated = true]; SOME = -7; }
message Order {
  required string id = 1 [default = "\\001 \\"é\\" \\\\ '"];
  optional bytes raw = 2 [default = "\\377\\000", (limits) = 1, (limits) = -2, (kind) = SOME];
  optional double ratio = 3 [default = -inf, deprecated = true];
  optional Kind how = 4 [default = SOME, json_name = "way"];
  optional .google.protobuf.Timestamp at = 5;
  map<string, Line> lines = 6;
  message Line { optional Order Order = 1; optional shop.v1.Order other = 2; }
  repeated group Part = 7 { optional int32 number = 1; message Deep {} }
  oneof choice { string name = 8; group Address = 9 { optional string city = 1; } }
  extensions 100 to 199, 1000 to max;
  reserved 50, 60 to 70;
  reserved "gone";
  extend Order { repeated group Extra = 100 { optional int32 n = 1; } }
}
service Orders { rpc Watch(Order) returns (stream Owner) { option deprecated = true; } }
"""
_EDITION = """
edition = "2023";
package shop;
option features.field_presence = IMPLICIT;
message Order {
  reserved gone;
  int32 id = 1 [features.field_presence = LEGACY_REQUIRED];
  Line line = 2 [features.message_encoding = DELIMITED];
  Kind kind = 3 [features.field_presence = EXPLICIT];
  message Line {}
}
enum Kind { option features.enum_type = CLOSED; SOME = 1; }
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "message"), [(_EVERYTHING, "shop.v1.Order"), (_EDITION, "shop.Order")]
)
def test_everything_that_a_file_may_have_is_written(text: str, message: str) -> None:
    info = native({"t.proto": text}, "t.proto", message)

    made = proto_sources(info)

    written = {name: each for name, each in made.texts.items() if name == "t.proto"}
    assert native(written, made.file, made.message) == info


def test_a_file_reads_as_a_person_would_write_it() -> None:
    text = """\
syntax = "proto3";

package shop;

message Order {
  string id = 1;
  optional int64 cents = 2;

  message Line {
    string sku = 1;
  }

  repeated Line lines = 3;
  map<string, Line> by_sku = 4;
  State state = 5;
}

enum State {
  NEW = 0;
  PAID = 1;
}
"""
    info = native({"order.proto": text}, "order.proto", "shop.Order")
    moved = text.replace("  string id = 1;\n  optional int64 cents = 2;\n\n", "").replace(
        "  repeated Line", "  string id = 1;\n  optional int64 cents = 2;\n  repeated Line"
    )

    assert proto_sources(info).texts == {"order.proto": moved}


_ORDER = 'syntax = "proto3"; package shop; message Order { string unit_price = 1; }'


def _changed(info: SchemaInfo, **members: object) -> SchemaInfo:
    text = json.dumps({**json.loads(info.schema), **members}, separators=(",", ":"))
    return SchemaInfo(type=SchemaType.PROTOBUF_NATIVE, schema=text)


def _of_set(*files: FileDescriptorProto) -> str:
    return b64encode(FileDescriptorSet(file=files).SerializeToString()).decode()


def test_what_no_file_compiles_to_is_named() -> None:
    info = native({"o.proto": _ORDER}, "o.proto", "shop.Order")
    known = FileDescriptorSet.FromString(b64decode(json.loads(info.schema)["fileDescriptorSet"]))
    (file,) = known.file
    data = file.SerializeToString()
    named, missing, broken, elsewhere = (FileDescriptorProto.FromString(data) for _ in range(4))
    named.message_type[0].field[0].json_name = "unitPrice"
    missing.dependency.append("gone.proto")
    broken.message_type[0].field[0].type = FieldDescriptorProto.TYPE_MESSAGE
    broken.message_type[0].field[0].type_name = ".shop.Gone"
    elsewhere.name = "../o.proto"
    cases = {
        "JSON names": _changed(info, fileDescriptorSet=_of_set(named)),
        "an import is not in": _changed(info, fileDescriptorSet=_of_set(missing)),
        "not valid": _changed(info, fileDescriptorSet=_of_set(broken)),
        "'../o.proto' cannot be written": _changed(
            info, fileDescriptorSet=_of_set(elsewhere), rootFileDescriptorName="../o.proto"
        ),
        "order or the form": SchemaInfo(type=info.type, schema=info.schema.replace(",", ", ")),
        "no descriptors": _changed(info, fileDescriptorSet="/////w=="),
        "is not JSON": SchemaInfo(type=info.type, schema='{"'),
    }
    for reason, given_info in cases.items():
        with pytest.raises(UnwritableProtoError, match=reason):
            proto_sources(given_info)


@pytest.mark.slow
@settings(max_examples=examples(400), deadline=None)
@given(st.integers(0, 1 << 64), st.data())
def test_damaged_descriptors_are_written_or_refused(seed: int, data: st.DataObject) -> None:
    files = random_files(Random(seed))  # noqa: S311 - a test's descriptors
    damaged = bytearray(FileDescriptorSet(file=files).SerializeToString())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        damaged[at] = data.draw(st.sampled_from(b"\0\x01\x7f\x80\xff./") | st.integers(0, 255))
    info = _envelope_of(bytes(damaged), files[-1].name)

    with suppress(UnwritableProtoError):
        made = proto_sources(info)
        assert made.file in made.texts


def _envelope_of(damaged: bytes, file: str) -> SchemaInfo:
    """As a client would send it, if it had such descriptors; else as anybody may post it."""
    try:
        members = FileDescriptorSet.FromString(damaged).file
        found = read_files(tuple(each.SerializeToString() for each in members))
        text = envelope(found, file, "p.A")
    except (DecodeError, TypeError, ValueError, KeyError):
        text = json.dumps(
            {
                "fileDescriptorSet": b64encode(damaged).decode(),
                "rootMessageTypeName": "p.A",
                "rootFileDescriptorName": file,
            }
        )
    return SchemaInfo(type=SchemaType.PROTOBUF_NATIVE, schema=text)
