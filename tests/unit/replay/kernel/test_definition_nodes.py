"""What may stand where, by definitions of every form."""

from __future__ import annotations

import pytest

from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.kernel.definition_nodes import OpaqueNode, nodes_below
from gitops.replay.kernel.schema_types import nodes_of
from tests.support.nested_schemas import (
    CARD,
    NATIVE,
    OLD_FORM,
    ORDER,
    PROTOBUF,
    UNTOLD,
    info,
    protobuf,
)
from tests.support.states import pair


def members(schema: SchemaInfo, *path: str) -> bool | None:
    """Whether there is anything below a path; None where no definition has it."""
    nodes = nodes_of(schema)
    for step in path:
        found = nodes_below(nodes, step)
        if found is None:
            return None
        nodes = found
    return bool(nodes)


@pytest.mark.parametrize(
    "schema",
    [info(ORDER), info(ORDER, SchemaType.AVRO), info(OLD_FORM), NATIVE, PROTOBUF],
    ids=["JSON", "AVRO", "JSON's old form", "PROTOBUF_NATIVE", "PROTOBUF"],
)
def test_fields_are_found_in_whatever_they_stand(schema: SchemaInfo) -> None:
    assert members(schema, "id") is False
    assert members(schema, "paid") is True
    assert members(schema, "paid", "pin") is False
    assert members(schema, "by", "pin") is False
    assert members(schema, "PAID") is None


@pytest.mark.slow
def test_a_record_within_itself_has_its_own_fields() -> None:
    for schema in (info(ORDER), NATIVE):
        assert members(schema, "parent", "parent", "paid", "pin") is False


def test_what_nobody_describes_is_told_apart() -> None:
    assert nodes_below(nodes_of(info(OLD_FORM)), "other") == (OpaqueNode.ANYTHING,)
    assert nodes_below(nodes_of(protobuf(UNTOLD)), "untold") == (OpaqueNode.OPAQUE,)
    assert nodes_below(nodes_of(NATIVE), "notes") == ()
    assert nodes_of(SchemaInfo(type=SchemaType.STRING)) == (OpaqueNode.OPAQUE,)
    assert nodes_of(info("string", SchemaType.AVRO)) == (OpaqueNode.OPAQUE,)


def test_halves_have_names() -> None:
    halves = pair("", CARD, "STRING", "JSON")
    assert nodes_below(nodes_of(halves), "key") == (OpaqueNode.ANYTHING,)
    assert members(halves, "value", "pin") is False


@pytest.mark.parametrize(
    "schema",
    [
        info({"type": "recrd"}),
        info(ORDER, SchemaType.PROTOBUF),
        info({"fileDescriptorSet": ""}, SchemaType.PROTOBUF_NATIVE),
        info({}, SchemaType.KEY_VALUE),
    ],
)
def test_definitions_that_cannot_be_parsed_say_nothing(schema: SchemaInfo) -> None:
    assert nodes_of(schema) == ()


def test_a_map_of_java_whose_keys_are_no_text_is_an_array_or_a_map() -> None:
    fields = [{"name": "key", "type": "int"}, {"name": "value", "type": CARD}]
    pair_of = {"type": "record", "name": "org.apache.avro.reflect.Pair1", "fields": fields}
    by = {"name": "by", "type": {"type": "array", "items": pair_of}}
    schema = info({"type": "record", "name": "Order", "fields": [by]})
    assert members(schema, "by", "pin") is False
    assert members(schema, "by", "value", "pin") is False
    assert members(schema, "by", "other") is None


@pytest.mark.parametrize("name", ["java.util.Date", "com.fasterxml.jackson.databind.JsonNode"])
def test_a_class_with_a_form_of_its_own_may_be_anything(name: str) -> None:
    kind = {"type": "record", "name": name, "fields": []}
    fields = [{"name": "any", "type": kind}]
    found = nodes_below(nodes_of(info({"type": "record", "name": "R", "fields": fields})), "any")
    assert found == (OpaqueNode.ANYTHING,)
