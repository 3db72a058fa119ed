"""The table of schema types: each type has a row, and KEY_VALUE's is made of the others."""

from __future__ import annotations

import struct

import pytest

from gitops.model.decision import StoredSchema
from gitops.model.schema import AUTO_TYPES, SchemaType
from gitops.schemas.row import InvalidSchemaDataError
from gitops.schemas.rules import PULSAR_4_0
from gitops.schemas.types import AVRO_DEFINED, schema_types

TYPES = schema_types(PULSAR_4_0)


@pytest.mark.parametrize("schema_type", SchemaType)
def test_every_type_has_a_row(schema_type: SchemaType) -> None:
    row = TYPES.row_of(schema_type)
    assert (row.definition is not None) == (schema_type in AVRO_DEFINED)
    assert (schema_type in AUTO_TYPES) <= (row.kept_as is SchemaType.NONE and row.form is None)
    empty = StoredSchema(type=schema_type, data=b"")
    assert list(row.diff(empty, empty)) == [] or schema_type is SchemaType.KEY_VALUE


@pytest.mark.parametrize("schema_type", [each for each in SchemaType if each in AUTO_TYPES])
def test_what_only_clients_use_is_never_stored(schema_type: SchemaType) -> None:
    with pytest.raises(InvalidSchemaDataError, match="for clients"):
        TYPES.validate(StoredSchema(type=schema_type, data=b""))


@pytest.mark.parametrize(
    ("schema_type", "data", "why"),
    [
        ("AVRO", b"[]", "cannot be a union"),
        ("JSON", b"nothing", "not a valid JSON schema"),
        ("PROTOBUF", b"nothing", "not a valid Avro schema"),
        ("INT32", b"x", "has no definition"),
        ("STRING", b"x", "has no definition"),
        ("PROTOBUF_NATIVE", b"x", "PROTOBUF_NATIVE"),
    ],
)
def test_a_half_is_validated_by_the_row_of_its_type(
    schema_type: str, data: bytes, why: str
) -> None:
    pair = StoredSchema(
        type=SchemaType.KEY_VALUE,
        data=struct.pack(">i", 0) + struct.pack(">i", len(data)) + data,
        properties={"key.schema.type": "STRING", "value.schema.type": schema_type},
    )
    with pytest.raises(InvalidSchemaDataError, match=f"value: .*{why}"):
        TYPES.validate(pair)
    with pytest.raises(InvalidSchemaDataError, match=f"^(?!value).*{why}"):
        TYPES.validate(StoredSchema(type=SchemaType(schema_type), data=data))
