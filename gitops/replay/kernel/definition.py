"""What every kind of schema asks of its definition."""

from __future__ import annotations

from gitops.compatibility.avro.errors import AvroParseError
from gitops.compatibility.avro.parser import parse
from gitops.compatibility.avro.schema import Schema
from gitops.model.schema import SchemaInfo


class DefinitionError(ValueError):
    """No kernel can be made: a definition cannot be parsed, or does not say how to read."""


def avro_form(info: SchemaInfo) -> Schema:
    """The Avro schema that an AVRO, JSON or PROTOBUF definition is; raises DefinitionError."""
    try:
        return parse(info.schema)
    except (AvroParseError, RecursionError) as error:
        raise DefinitionError(f"the {info.type.value} definition is not valid: {error}") from None
