"""Definitions: KEY_VALUE, PROTOBUF_NATIVE, positions in JSON."""

from __future__ import annotations

import base64
import importlib.util
import json
import sys

import pytest

from gitops.model.errors import extra_hint
from gitops.model.findings import Severity
from gitops.model.names import TopicName
from gitops.model.state import Repository
from gitops.repository.definitions.json_positions import JsonPositions
from gitops.repository.definitions.protobuf import java_order
from gitops.repository.definitions.schema_builder import compact, gson
from gitops.repository.loader import load
from gitops.schemas.avro.json_text import JsonTextError
from tests.support.trees import repository

needs_protoc = pytest.mark.skipif(
    importlib.util.find_spec("grpc_tools") is None, reason="the extra protobuf is not installed"
)
_ORDERS = "namespaces/shop/orders"
_MANIFEST = """\
apiVersion: pulsar-gitops/v1
kind: Topic
schema: {type: PROTOBUF_NATIVE, definition: o.proto, message: shop.Order}
"""
_ORDER = 'syntax = "proto3"; package shop; import "line.proto"; message Order { Line l = 1; }\n'
_LINE = 'syntax = "proto3"; package shop; message Line { string sku = 1; }\n'


def test_compact_takes_away_only_what_means_nothing() -> None:
    text = ' // a\n{ "a b" : [ 1.10 , /* c */ "\\u0041 // no" ] }\n'

    assert compact(text) == '{"a b":[1.10,"\\u0041 // no"]}'


@pytest.mark.parametrize("text", ["", "words", "{} {}", "NaN", "{} // behind", "[" * 5000])
def test_compact_refuses_what_is_not_json(text: str) -> None:
    with pytest.raises(JsonTextError):
        compact(text)


def test_properties_are_written_as_javas_client_does() -> None:
    # Written down from SchemaUtils.serializeSchemaProperties of Pulsar 4.0.7.
    properties = {"b": "b", "a": "a", "=": "=", "\n\t\b\f\r\\/": "<&>'", "é": "\u2028"}

    assert gson(properties) == (
        '{"\\n\\t\\b\\f\\r\\\\/":"\\u003c\\u0026\\u003e\\u0027","\\u003d":"\\u003d",'
        '"a":"a","b":"b","é":"\\u2028"}'
    )


def test_properties_are_in_the_order_of_utf_16() -> None:
    assert gson({"\uffff": "", "😀": "", "b": ""}) == '{"b":"","😀":"","\uffff":""}'


def test_keys_come_in_the_order_of_javas_hash_map() -> None:
    # Written down from java.util.HashMap with these thirty keys.
    order = "19 1 2 20 18 17 3 4 15 5 16 13 7 29 14 28 6 9 27 10 26 8 12 25 11 22 23 21 24 0"

    keys = [f"a/b{number}/x.proto" for number in range(30)]

    assert java_order(keys) == [f"a/b{number}/x.proto" for number in order.split()]


@pytest.mark.slow
@needs_protoc
def test_a_proto_file_becomes_the_envelope_of_javas_client() -> None:
    loaded = _load({"o.proto": _ORDER, "line.proto": _LINE})

    assert loaded.findings == ()
    topic = TopicName.parse("shop/orders/o")
    latest = loaded.desired.topics[topic].history.latest
    assert latest is not None
    envelope = json.loads(latest.info.schema)
    assert list(envelope) == ["fileDescriptorSet", "rootMessageTypeName", "rootFileDescriptorName"]
    assert envelope["rootMessageTypeName"] == "shop.Order"
    assert envelope["rootFileDescriptorName"] == "o.proto"
    assert _file_names(envelope["fileDescriptorSet"]) == ["o.proto", "line.proto"]
    assert loaded.topics[topic].definitions == (f"{_ORDERS}/o.proto",)


@pytest.mark.slow
@needs_protoc
def test_json_names_are_those_that_the_file_gives_as_in_javas_classes() -> None:
    proto = """
        syntax = "proto2"; package shop;
        message Order {
          optional int32 unit_price = 1;
          optional int32 a_b = 2 [json_name = "amount"];
          repeated group Line = 3 { optional int32 x_y = 1; }
        }
        """
    loaded = _load({"o.proto": proto})

    latest = loaded.desired.topics[TopicName.parse("shop/orders/o")].history.latest
    assert latest is not None
    found = base64.b64decode(json.loads(latest.info.schema)["fileDescriptorSet"])
    assert b"amount" in found
    assert b"unit_price" in found
    assert not any(name in found for name in (b"unitPrice", b"xY", b"aB"))


@pytest.mark.slow
@needs_protoc
def test_files_that_protobuf_java_brings_along_have_all_json_names_as_there() -> None:
    time = 'import "google/protobuf/duration.proto";'
    body = "message Order { google.protobuf.Duration within_days = 1; }"
    loaded = _load({"o.proto": f'syntax = "proto3"; package shop; {time} {body}'})

    latest = loaded.desired.topics[TopicName.parse("shop/orders/o")].history.latest
    assert latest is not None
    found = base64.b64decode(json.loads(latest.info.schema)["fileDescriptorSet"])
    assert found.count(b"seconds") == 2
    assert b"withinDays" not in found


@pytest.mark.slow
@needs_protoc
def test_a_broken_neighbour_does_no_harm() -> None:
    loaded = _load({"o.proto": _ORDER, "line.proto": _LINE, "broken.proto": "nonsense"})

    assert loaded.findings == ()


@pytest.mark.slow
@needs_protoc
def test_a_message_of_an_import_may_be_the_root() -> None:
    loaded = _load(
        {"o.proto": _ORDER, "line.proto": _LINE},
        _MANIFEST.replace("shop.Order", "shop.Line"),
    )

    latest = loaded.desired.topics[TopicName.parse("shop/orders/o")].history.latest
    assert latest is not None
    envelope = json.loads(latest.info.schema)
    assert envelope["rootFileDescriptorName"] == "line.proto"
    assert _file_names(envelope["fileDescriptorSet"]) == ["line.proto"]


def test_without_protoc_the_finding_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "grpc_tools", None)

    loaded = _load({"o.proto": _ORDER, "line.proto": _LINE})

    assert [(each.rule, each.hint) for each in loaded.findings] == [
        ("REPO-R020", extra_hint("protobuf"))
    ]


@pytest.mark.parametrize(
    ("end", "rule", "message"),
    [
        (b"\x12\x04shop", "REPO-R019", "this is a descriptor set of protoc"),
        (b"\x12\x80\x01\xff", "REPO-R018", f"'{_ORDERS}/a.desc' is a descriptor set of protoc"),
    ],
)
def test_a_file_of_protoc_is_no_definition(end: bytes, rule: str, message: str) -> None:
    """As text, and where its bytes are none."""
    manifest = _MANIFEST.replace("definition: o.proto, message: shop.Order", "definition: a.desc")
    files: dict[str, bytes | str] = {
        f"{_ORDERS}/a.yaml": manifest,
        f"{_ORDERS}/a.desc": b"\n\x20\n\x07o.proto" + end,
    }

    findings = [one for one in load(repository(files)).findings if one.rule == rule]

    assert [one.message for one in findings] == [message]
    assert "(`protoc --include_imports`)" in findings[0].hint


def test_an_envelope_is_taken_as_it_is() -> None:
    text = '{"fileDescriptorSet":"", "rootMessageTypeName":"A","rootFileDescriptorName":"a"}'
    manifest = _MANIFEST.replace(", message: shop.Order", "").replace("o.proto", "o.json")

    loaded = _load({"o.json": text}, manifest)

    latest = loaded.desired.topics[TopicName.parse("shop/orders/o")].history.latest
    assert latest is not None
    assert latest.info.schema == text


def test_places_in_json() -> None:
    text = '// é\n{"a": [1, {"b/c": "word"}],\r\n "d": {}}'
    places = JsonPositions("x.avsc", text)

    found = {
        pointer: (place.line, place.column, place.length)
        for pointer in ("", "/a/0", "/a/1/b~1c", "/a/1/none", "/d", "/e")
        for place in [places.at_pointer(pointer)]
    }

    assert found == {
        "": (2, 1, 1),
        "/a/0": (2, 8, 1),
        "/a/1/b~1c": (2, 19, 6),
        "/a/1/none": (2, 11, 1),
        "/d": (3, 7, 1),
        "/e": (2, 1, 1),
    }
    assert str(places.at_offset(6)) == "x.avsc:2:2"
    assert str(places.at_offset(999)) == "x.avsc:3:10"


def test_a_text_that_is_not_json_has_its_beginning() -> None:
    assert str(JsonPositions("x.avsc", "{").at_pointer("/a")) == "x.avsc:1:1"


def _load(files: dict[str, str], manifest: str = _MANIFEST) -> Repository:
    named = {f"{_ORDERS}/{name}": text for name, text in files.items()}
    return load(repository({f"{_ORDERS}/o.yaml": manifest, **named}))


def _file_names(descriptor_set: str) -> list[str]:
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

    read = FileDescriptorSet.FromString(base64.b64decode(descriptor_set))
    return [file.name for file in read.file]


_AVRO = "apiVersion: pulsar-gitops/v1\nkind: Topic\nschema: {type: AVRO, definition: %s.avsc}\n"


def _names_money(name: str) -> str:
    field = {"name": "m", "type": "shop.Money"}
    return json.dumps({"type": "record", "name": name, "fields": [field]})


@pytest.mark.parametrize("folder", ["types", "common/avro"])
def test_a_broken_shared_type_is_one_error_where_it_is_broken(folder: str) -> None:
    tree = repository(
        {
            f"{_ORDERS}/a.yaml": _AVRO % "a",
            f"{_ORDERS}/a.avsc": _names_money("A"),
            f"{_ORDERS}/b.yaml": _AVRO % "b",
            f"{_ORDERS}/b.avsc": _names_money("B"),
            f"{folder}/money.avsc": '{\n  "type": \n',
        }
    )
    loaded = load(tree)
    (found,) = [
        *loaded.findings,
        *(each for source in loaded.topics.values() for each in source.findings),
    ]
    assert found.rule == "AVRO-P001"
    assert found.message.startswith("not JSON")
    assert found.location is not None
    assert found.location.file == f"{folder}/money.avsc"
    assert found.location.line > 0


def test_a_broken_shared_type_that_nobody_lacks_is_a_warning() -> None:
    tree = repository(
        {
            f"{_ORDERS}/a.yaml": _AVRO % "a",
            f"{_ORDERS}/a.avsc": '{"type": "record", "name": "A", "fields": []}',
            "types/money.avsc": "{",
        }
    )
    assert [(each.rule, each.severity, str(each.location)) for each in load(tree).findings] == [
        ("REPO-R023", Severity.WARNING, "types/money.avsc"),
        ("AVRO-P001", Severity.WARNING, "types/money.avsc:1:2"),
    ]


def test_the_part_of_a_shared_file_that_nothing_uses_is_looked_at_too() -> None:
    shared = """[
      {"type": "record", "name": "Money", "namespace": "shop", "fields": []},
      {"type": ["null", "string"]}
    ]"""
    tree = repository(
        {
            f"{_ORDERS}/a.yaml": _AVRO % "a",
            f"{_ORDERS}/a.avsc": """{"type": "record", "name": "A", "namespace": "shop", "fields": [
              {"name": "money", "type": "Money"}]}""",
            "types/money.avsc": shared,
        }
    )
    assert [(each.rule, each.severity, str(each.location)) for each in load(tree).findings] == [
        ("AVRO-P001", Severity.WARNING, "types/money.avsc:3:16")
    ]


def test_what_nothing_uses_does_not_make_a_plan_stale() -> None:
    files = {
        f"{_ORDERS}/a.yaml": _AVRO % "a",
        f"{_ORDERS}/a.avsc": '{"type": "record", "name": "A", "fields": []}',
    }
    draft = '{"type": "record", "name": "Draft", "fields": [{"name": "a", "type": "Other"}]}'

    alone, with_draft = load(repository(files)), load(repository({**files, "types/d.avsc": draft}))

    assert alone.digest == with_draft.digest
