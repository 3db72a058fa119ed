"""A schema as somebody hands it over by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gitops.model.errors import UsageError
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.repository.folder import read_definition
from gitops.repository.suggestions import did_you_mean_or_list

POST_MEMBERS: Final = frozenset({"type", "schema", "properties"})
"""The members of what POST …/schema and `pulsar-admin schemas upload` take."""


def read_upload(
    definition: Path | None, schema_type: str | None, properties: Sequence[str]
) -> SchemaInfo:
    """The schema of a file, a type and properties.

    Without a type the file is what `pulsar-admin schemas upload` takes: a JSON object of `type`,
    `schema` and `properties`. Raises UsageError.
    """
    text = "" if definition is None else read_definition(definition)
    if schema_type is not None:
        given = dict(_property(one) for one in properties)
        return SchemaInfo(type=parse_type(schema_type), schema=text, properties=given)
    if definition is None:
        raise UsageError("name a type or a file", hint="--type INT64, or --definition FILE")
    return read_payload(text, definition, dict(_property(one) for one in properties))


def parse_type(name: str) -> SchemaType:
    """The SchemaType of that name; raises UsageError."""
    try:
        return SchemaType(name)
    except ValueError:
        known = [kind.value for kind in SchemaType]
        hint = did_you_mean_or_list(name, known)
        raise UsageError(f"'{name}' is not a schema type", hint=hint) from None


def read_payload(text: str, file: Path, properties: dict[str, str]) -> SchemaInfo:
    """The schema of a file of `type`, `schema` and `properties`; raises UsageError."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or not {"type", "schema"} <= set(content) <= POST_MEMBERS:
        raise UsageError(
            f"{file} says no type",
            hint="give --type, or a file {type, schema, properties} as pulsar-admin takes it",
        )
    schema, given = content["schema"], content.get("properties") or {}
    if not isinstance(schema, str) or not isinstance(given, dict):
        raise UsageError(f"'schema' in {file} must be text, 'properties' an object")
    both = {**{str(k): str(v) for k, v in given.items()}, **properties}
    return SchemaInfo(type=parse_type(str(content["type"])), schema=schema, properties=both)


def _property(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"'{text}' is not a property", hint="write --property KEY=VALUE")
    return name, value
