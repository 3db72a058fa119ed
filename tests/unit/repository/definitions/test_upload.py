"""A schema as somebody hands it over by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitops.model.errors import UsageError
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.repository.definitions.upload import parse_type, read_upload
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
