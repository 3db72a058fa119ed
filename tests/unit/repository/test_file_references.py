"""What leads from a file to others."""

from __future__ import annotations

import json

import pytest

from gitops.repository.file_references import FileReferences, file_references


def avsc(node: object, path: str = "types/a.avsc") -> FileReferences:
    return file_references(path, json.dumps(node).encode())


def test_types_that_a_definition_names_and_those_that_it_defines() -> None:
    found = avsc(
        {
            "type": "record",
            "name": "Order",
            "namespace": "shop",
            "fields": [
                {"name": "own", "type": {"type": "enum", "name": "Kind", "symbols": ["A"]}},
                {"name": "again", "type": "Kind"},
                {"name": "shared", "type": "types.Money"},
                {"name": "union", "type": ["null", {"type": "array", "items": "Line"}]},
                {"name": "nested", "type": {"type": "map", "values": {"type": "Odd"}}},
                {"name": "itself", "type": ["null", "shop.Order"]},
            ],
        }
    )
    assert set(found.defines) == {"Order", "Kind"}
    assert found.types == {"Money", "Line", "Odd"}


def test_a_type_of_the_same_simple_name_elsewhere_is_another() -> None:
    own = {"type": "fixed", "name": "Money", "size": 1}
    fields = [{"name": "a", "type": own}, {"name": "b", "type": "types.Money"}]
    found = avsc({"type": "record", "name": "R", "namespace": "shop", "fields": fields})
    assert found.types == {"Money"}


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b'{"type": 5}', b"[" * 3000, b'"long"'])
def test_what_is_no_definition_mentions_nothing(data: bytes) -> None:
    assert file_references("a.avsc", data) == FileReferences()


def test_an_escape_hides_no_name() -> None:
    assert file_references("a.avsc", b'"shop.Mo\\u006eey"').types == {"Money"}


def test_imports_from_beside_and_from_the_root() -> None:
    text = b'import "a.proto";\nimport public "../b.proto";import weak "c/d.proto"; // "e.proto"'
    assert file_references("x/y/z.proto", text).files == {
        *("x/y/a.proto", "a.proto", "x/b.proto", "../b.proto", "x/y/c/d.proto", "c/d.proto"),
    }


def test_a_manifest_names_definitions_topics_and_types() -> None:
    text = (
        "topic: named\nschema:\n  type: KEY_VALUE\n"
        "  key: {type: AVRO, definition: ../../../types/key.avsc}\n"
        '  value: {type: AVRO, definition: "val\\u0075e.avsc"}\n'
        "more: {type: AVRO, definition: {type: array, items: shop.Money}}\n"
        'text: {definition: \'["null", "Line"]\'}\n'
        "out: {definition: ../../../../x.avsc}\nodd: {definition: 5}\n"
    )
    found = file_references("namespaces/shop/orders/a.yaml", text.encode())
    assert found.files == {"types/key.avsc", "namespaces/shop/orders/value.avsc"}
    assert found.types == {"Money", "Line"}
    assert found.topics == {"named"}


def test_a_client_names_itself_and_its_topics() -> None:
    text = "name: billing\nconsumes:\n- {topic: a/b/c, schema: {definition: x.avsc}}\n"
    found = file_references("clients/billing.yaml", text.encode())
    assert found == FileReferences(
        names=frozenset({"billing"}),
        topics=frozenset({"a/b/c"}),
        files=frozenset({"clients/x.avsc"}),
    )


@pytest.mark.parametrize("data", [b"", b"[", b"a: &a [*a]", b"\xff", b"- 1", b"a: " + b"[" * 500])
def test_what_is_no_manifest_mentions_nothing(data: bytes) -> None:
    assert file_references("clients/a.yaml", data) == FileReferences()


def test_other_files_mention_nothing() -> None:
    assert file_references("README.md", b"import 'a.proto'") == FileReferences()
