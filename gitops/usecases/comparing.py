"""One side of a comparison: a definition file and what is in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gitops.compatibility.decision import StoredSchema
from gitops.compatibility.payload import PayloadError, as_kept, to_stored
from gitops.model.findings import Finding, Location
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.repository.definitions.edits import Definition
from gitops.repository.definitions.json_positions import JsonPositions
from gitops.repository.folder import read_definition
from gitops.usecases.upload import POST_MEMBERS, parse_type, read_payload


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A file, the schema in it, and where a pointer into the schema's definition stands.

    `positions` is None where the file is not the definition itself, and so is `definition`, the
    text as one that can be edited. With `problems` there is no schema in it.
    """

    file: str
    text: str
    info: SchemaInfo
    locate: Callable[[str], Location]
    positions: JsonPositions | None = None
    definition: Definition | None = None
    problems: tuple[Finding, ...] = ()


def read_side(path: Path, schema_type: str | None) -> Side:
    """The schema of a file; raises UsageError.

    Without a type it is AVRO, unless the file is what `pulsar-admin schemas upload` takes, which
    says its type itself.
    """
    text = read_definition(path)
    if schema_type is None and _is_payload(text):
        info = read_payload(text, path, {})
        return Side(file=str(path), text=text, info=info, locate=_in_payload(str(path), text))
    kind = SchemaType.AVRO if schema_type is None else parse_type(schema_type)
    positions = JsonPositions(str(path), text)
    return Side(
        file=str(path),
        text=text,
        info=SchemaInfo(type=kind, schema=text),
        locate=positions.at_pointer,
        positions=positions,
        definition=Definition(str(path), text, positions),
    )


def _in_payload(file: str, text: str) -> Callable[[str], Location]:
    """The definition is one piece of text in there, beside the properties."""
    positions = JsonPositions(file, text)
    places = {
        "/encoding": "/properties/kv.encoding.type",
        "/properties/__PARSING_INFO__": "/properties/__PARSING_INFO__",
    }
    return lambda pointer: positions.at_pointer(places.get(pointer, "/schema"))


def stored(side: Side) -> StoredSchema:
    """What a registry would keep of it; of a pair that is none, the text as it is."""
    try:
        return as_kept(to_stored(side.info))
    except PayloadError:
        return StoredSchema(type=side.info.type, data=side.info.schema.encode())


def _is_payload(text: str) -> bool:
    """An Avro definition never has a member `schema` beside a type in capitals."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return (
        isinstance(content, dict)
        and {"type", "schema"} <= set(content) <= POST_MEMBERS
        and content["type"] in [kind.value for kind in SchemaType]
    )
