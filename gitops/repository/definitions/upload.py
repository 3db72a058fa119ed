"""A schema as somebody hands it over by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from gitops.model.errors import UsageError
from gitops.model.findings import Finding, Location
from gitops.model.schema import AUTO_TYPES, SchemaInfo, SchemaType
from gitops.repository.definitions.avro_ignored_members import repeated_member_findings
from gitops.repository.definitions.foreign_forms import (
    UPLOAD_MEMBERS,
    recognize,
    recognize_text,
)
from gitops.repository.definitions.json_positions import JsonPositions
from gitops.repository.definitions.text import DefinitionText
from gitops.repository.folder import read_definition
from gitops.repository.suggestions import did_you_mean_or_list
from gitops.schemas.types import AVRO_DEFINED, DEFINED_TYPES

WITHOUT_DEFINITION: Final = {
    kind.value: kind for kind in SchemaType if kind not in DEFINED_TYPES | AUTO_TYPES
}
"""The types that are a whole schema, by their names."""


def read_upload(schema: str, schema_type: str | None, properties: Sequence[str]) -> SchemaInfo:
    """The schema of a file, or a type that needs no definition, and properties.

    Without a type the file is what `pulsar-admin schemas upload` takes: a JSON object of `type`,
    `schema` and `properties`. Raises UsageError.
    """
    given = dict(_property(member) for member in properties)
    if schema in WITHOUT_DEFINITION:
        if schema_type not in (None, schema):
            raise UsageError(f"{schema} is not {schema_type}", hint="--type is the type of a file")
        return SchemaInfo(type=WITHOUT_DEFINITION[schema], properties=given)
    kind = None if schema_type is None else parse_type(schema_type)
    file = existing_file(schema, WITHOUT_DEFINITION)
    text = read_definition(file)
    if kind is None:
        return read_payload(text, file, given)
    form = recognize_text(text)
    if form and form.info and form.info.type is kind:
        return replace(form.info, properties={**form.info.properties, **given})
    return SchemaInfo(type=kind, schema=text, properties=given)


def repeated_members_of_upload(info: SchemaInfo, file: str, *, whole: bool) -> Iterator[Finding]:
    """The members that a definition gives twice; `whole`: it is all that the file holds."""
    if info.type not in AVRO_DEFINED:
        return
    given = DefinitionText(text=info.schema, places=JsonPositions(file, info.schema))
    for finding in repeated_member_findings(given, file):
        yield (finding if whole else replace(finding, location=Location(file=file)))


def existing_file(schema: str, words: Iterable[str]) -> Path:
    """The file that is named in place of one of `words`; raises UsageError where there is none."""
    path = Path(schema)
    with suppress(OSError):  # such as a name that is too long for a file
        if path.exists():
            return path
    if schema in {kind.value for kind in DEFINED_TYPES}:
        hint = f"name the file of the definition; --type {schema} is its type"
        raise UsageError(f"{schema} needs a definition", hint=hint)
    if "." in schema or "/" in schema:
        raise UsageError(f"there is no file '{schema}'", hint="it is looked for from here")
    hint = did_you_mean_or_list(schema, list(words))
    raise UsageError(f"'{schema}' is neither a file nor a schema type", hint=hint)


def parse_type(name: str) -> SchemaType:
    """The SchemaType of that name; raises UsageError."""
    try:
        return SchemaType(name)
    except ValueError:
        known = [kind.value for kind in SchemaType]
        hint = did_you_mean_or_list(name, known)
        raise UsageError(f"'{name}' is not a schema type", hint=hint) from None


def read_payload(text: str, file: Path, properties: dict[str, str]) -> SchemaInfo:
    """The schema of a file that says its type, as for pulsar-admin; raises UsageError.

    Also of what registries answer about a schema.
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or not {"type", "schema"} <= set(content) <= UPLOAD_MEMBERS:
        form = recognize(content)
        if form and form.info:
            return replace(form.info, properties={**form.info.properties, **properties})
        if form:
            raise UsageError(f"{file} is {form.name}", hint=form.hint)
        raise UsageError(
            f"{file} contains no type",
            hint="name it with --type, or give a JSON file of type, schema and properties, as for "
            "pulsar-admin",
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
