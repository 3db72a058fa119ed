"""The definitions of AVRO schemas, and of others whose definition is an Avro schema."""

from __future__ import annotations

from gitops.model.schema import SchemaInfo
from gitops.replay.kernel.definition import DefinitionError
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.avro.parser import ANY_AVRO
from gitops.schemas.avro.schema import Schema


def schema_of(info: SchemaInfo) -> Schema:
    """The Avro schema that an AVRO, JSON or PROTOBUF definition is; raises DefinitionError."""
    try:
        return ANY_AVRO.parse(info.schema)
    except (AvroParseError, RecursionError) as error:
        raise DefinitionError(f"the {info.type.value} definition is not valid: {error}") from None
