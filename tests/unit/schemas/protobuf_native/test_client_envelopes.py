"""What other clients than Java's send for a message, beside pulsar-client for Python."""

from __future__ import annotations

import base64
import importlib
import json
from pathlib import Path

import pytest
from grpc_tools import protoc

from gitops.schemas.protobuf_native.client_envelopes import (
    cpp_envelope,
    go_envelope,
    python_envelope,
)
from gitops.schemas.protobuf_native.wire_format import read_files
from tests.support.protos import native

_WELL_KNOWN = Path(protoc.__file__).parent / "_proto"
_FILES = {
    "envelope_root.proto": """
        syntax = "proto3";
        package envelopes;
        import "envelope_left.proto";
        import "envelope_right.proto";
        import "google/protobuf/timestamp.proto";
        message Root {
          Left left_side = 1;
          Right right = 2 [json_name = "other"];
          google.protobuf.Timestamp at = 3;
        }
    """,
    "envelope_left.proto": """
        syntax = "proto2";
        package envelopes;
        import "envelope_base.proto";
        message Left { optional Base base = 1; extensions 5 to 9; }
        extend Left { optional int32 number_of_it = 5; }
    """,
    "envelope_right.proto": """
        syntax = "proto3";
        package envelopes;
        import "envelope_base.proto";
        message Right { Base base = 1; map<string, Base> bases = 2; }
    """,
    "envelope_base.proto": """
        syntax = "proto3";
        package envelopes;
        message Base { repeated int32 some_numbers = 1; }
    """,
}
_JAVA = native(_FILES, "envelope_root.proto", "envelopes.Root").schema


def test_python_sends_what_pulsar_client_makes_of_the_generated_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pulsar_schema = pytest.importorskip("pulsar.schema", reason="no extra 'pulsar'")
    for name, text in _FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    options = [f"-I{tmp_path}", f"-I{_WELL_KNOWN}", f"--python_out={tmp_path}"]
    assert protoc.main(["", *options, *_FILES]) == 0
    monkeypatch.syspath_prepend(str(tmp_path))
    root = importlib.import_module("envelope_root_pb2").Root

    sent = pulsar_schema.ProtobufNativeSchema(root).schema_info().schema()

    assert python_envelope(_JAVA) == sent
    assert python_envelope(sent) == sent


def test_cpp_repeats_imports_and_puts_them_last() -> None:
    """As its source does it: no C++ client was run."""
    envelope = json.loads(cpp_envelope(_JAVA))

    files = read_files(base64.b64decode(envelope["fileDescriptorSet"]))
    assert [file.name.removeprefix("envelope_") for file in files] == [
        "root.proto",
        "left.proto",
        "base.proto",
        "right.proto",
        "base.proto",
        "google/protobuf/timestamp.proto",
    ]


def test_one_file_is_the_same_to_cpp_and_java() -> None:
    one = native({"base.proto": _FILES["envelope_base.proto"]}, "base.proto", "envelopes.Base")

    assert cpp_envelope(one.schema) == one.schema


def test_go_sends_another_text_with_the_same_descriptors() -> None:
    """As its source does it: no Go client was run."""
    sent = go_envelope(_JAVA)

    assert sent != _JAVA
    assert json.loads(sent) == json.loads(_JAVA)
    assert go_envelope(sent) == sent


def test_descriptors_with_all_json_names_may_be_those_of_go() -> None:
    named = _FILES["envelope_base.proto"].replace("= 1", '= 1 [json_name = "n"]')
    base = native({"base.proto": named}, "base.proto", "envelopes.Base")

    assert go_envelope(base.schema) == base.schema


@pytest.mark.parametrize("text", ["", "{}", "null", _JAVA.replace("envelope_root", "gone")])
def test_what_is_no_envelope_stays_as_it_is(text: str) -> None:
    assert python_envelope(text) == text
    assert cpp_envelope(text) == text
    assert go_envelope(text) == text
