"""A schema as somebody hands it over by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.model.errors import UsageError
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.repository.definitions.foreign_forms import recognize
from gitops.repository.definitions.upload import parse_type, read_upload
from tests.support.random_avro import definitions
from tests.support.states import STRING


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "schema"


def _written(file: Path, content: object) -> str:
    text = content if isinstance(content, str) else json.dumps(content)
    file.write_text(text, encoding="utf-8")
    return str(file)


def test_a_type_alone() -> None:
    assert read_upload("STRING", None, []) == STRING
    assert read_upload("STRING", "STRING", []) == STRING


def test_a_type_a_definition_and_properties(file: Path) -> None:
    found = read_upload(_written(file, '"int"'), "AVRO", ["a=1", "b=x=y", "c="])

    assert found == SchemaInfo(
        type=SchemaType.AVRO, schema='"int"', properties={"a": "1", "b": "x=y", "c": ""}
    )


def test_a_payload_as_pulsar_admin_takes_it(file: Path) -> None:
    payload = {"type": "AVRO", "schema": '"int"', "properties": {"a": "1", "b": "2"}}

    found = read_upload(_written(file, payload), None, ["b=3"])

    assert found == SchemaInfo(
        type=SchemaType.AVRO, schema='"int"', properties={"a": "1", "b": "3"}
    )


_DEFINITION: Final = '{"type": "record", "name": "A", "fields": []}'


@pytest.mark.parametrize("schema_type", [None, "AVRO"])
@pytest.mark.parametrize(
    "content",
    [
        {"version": 3, "type": "AVRO", "timestamp": 1, "data": _DEFINITION, "properties": {}},
        {
            "version": 0,
            "schemaInfo": {"name": "t", "schema": json.loads(_DEFINITION), "type": "AVRO"},
        },
        {"name": "t", "schema": json.loads(_DEFINITION), "type": "AVRO", "properties": {}},
        {"subject": "t-value", "version": 1, "id": 3, "schema": _DEFINITION},
        {"schema": _DEFINITION, "schemaType": "AVRO", "references": []},
    ],
)
def test_what_registries_answer_is_converted(
    file: Path, content: object, schema_type: str | None
) -> None:
    found = read_upload(_written(file, content), schema_type, ["a=1"])

    assert (found.type, found.properties) == (SchemaType.AVRO, {"a": "1"})
    assert json.loads(found.schema) == json.loads(_DEFINITION)


def test_properties_that_pulsar_admin_prints_as_objects_are_text(file: Path) -> None:
    info = {
        "name": "t",
        "type": "KEY_VALUE",
        "schema": {"key": "", "value": ""},
        "properties": {"key.schema.type": "STRING", "key.schema.properties": {"a": "b"}},
    }

    found = read_upload(_written(file, {"version": 0, "schemaInfo": info}), None, [])

    assert found.properties == {"key.schema.type": "STRING", "key.schema.properties": '{"a":"b"}'}


@given(definition=definitions())
def test_no_definition_is_of_another_form(definition: Any) -> None:  # noqa: ANN401 - JSON
    assert recognize(definition) is None


@pytest.mark.parametrize("properties", [None, {}])
def test_a_payload_without_properties(file: Path, properties: object) -> None:
    payload = {"type": "STRING", "schema": "", "properties": properties}

    assert read_upload(_written(file, payload), None, []) == STRING


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("", "contains no type"),
        ("[]", "contains no type"),
        ('"int"', "contains no type"),
        ("[" * 5000, "contains no type"),
        ({"type": "AVRO"}, "contains no type"),
        ({"schema": "x"}, "contains no type"),
        ({"type": "AVRO", "schema": "x", "more": 1}, "contains no type"),
        ({"type": "AVRO", "data": '"int"'}, "`data` where it has to be `schema`"),
        ({"type": "object", "properties": {}}, "is JSON Schema"),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, "is JSON Schema"),
        ({"schema": "{}", "schemaType": "JSON"}, "Confluent's schema registry, of type JSON"),
        ({"schema": "message A {}", "schemaType": "PROTOBUF"}, "of type PROTOBUF"),
        ({"schema": '"a.B"', "references": [{"name": "a.B"}]}, "of type AVRO"),
        ({"type": "record", "name": "A", "fields": []}, "contains no type"),
        ({"type": "AVRO", "schema": {}}, "must be text"),
        ({"type": "AVRO", "schema": "x", "properties": ["a"]}, "must be text"),
        ({"type": "AVROO", "schema": "x"}, "not a schema type"),
        ({"type": ["AVRO"], "schema": "x"}, "not a schema type"),
    ],
)
def test_what_is_no_payload(file: Path, content: object, what: str) -> None:
    with pytest.raises(UsageError, match=what):
        read_upload(_written(file, content), None, [])


@pytest.mark.parametrize(
    ("schema", "kind", "what", "hint"),
    [
        ("STRNG", None, "neither a file nor a schema type", "did you mean STRING?"),
        ("AVRO", None, "AVRO needs a definition", "--type AVRO is its type"),
        ("x.avsc", "AVRO", "there is no file 'x.avsc'", "looked for from here"),
        ("x" * 300, "AVRO", "neither a file nor", "INT64"),
        ("INT64", "AVRO", "INT64 is not AVRO", "--type is the type of a file"),
    ],
)
def test_neither_a_type_nor_a_file(schema: str, kind: str | None, what: str, hint: str) -> None:
    with pytest.raises(UsageError, match=what) as raised:
        read_upload(schema, kind, [])

    assert hint in raised.value.hint


@pytest.mark.parametrize("text", ["", "a", "=", "=b"])
def test_what_is_no_property(text: str) -> None:
    with pytest.raises(UsageError, match="is not a property"):
        read_upload("STRING", None, [text])


def test_files_that_cannot_be_read(tmp_path: Path, file: Path) -> None:
    file.write_bytes(b"\xff")

    with pytest.raises(UsageError, match="not UTF-8"):
        read_upload(str(file), "AVRO", [])
    with pytest.raises(UsageError, match="there is no file"):
        read_upload(str(tmp_path / "none"), "AVRO", [])
    with pytest.raises(UsageError, match="cannot read"):
        read_upload(str(tmp_path), "AVRO", [])


def test_a_misspelt_type_has_a_hint() -> None:
    with pytest.raises(UsageError) as raised:
        parse_type("AVROO")

    assert "AVRO" in raised.value.hint


@given(
    st.dictionaries(
        st.sampled_from(["type", "schema", "properties"]),
        st.none() | st.text() | st.integers() | st.dictionaries(st.text(), st.none() | st.text()),
    )
)
def test_no_payload_makes_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, payload: dict[str, Any]
) -> None:
    file = tmp_path_factory.getbasetemp() / "payload.json"
    try:
        found = read_upload(_written(file, payload), None, [])
    except UsageError:
        return
    assert found.schema == payload["schema"]
