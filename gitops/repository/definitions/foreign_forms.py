"""JSON that is no definition, but contains one or is one of another kind: what it is.

Files for `pulsar-admin`, answers of Pulsar's and Confluent's registries, JSON Schema.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from gitops.model.schema import AUTO_TYPES, SchemaInfo, SchemaType
from gitops.repository.definitions.file_extensions import DEFAULT_TYPE
from gitops.schemas.avro.json_text import Json, JsonTextError, read_json
from gitops.schemas.protobuf_native.wire_format import (
    DESCRIPTOR_SET,
    DESCRIPTOR_SET_HINT,
    is_descriptor_set,
)

UPLOAD_MEMBERS: Final = frozenset({"type", "schema", "properties"})
"""The members of what POST …/schema and `pulsar-admin schemas upload` take."""

_REST_MEMBERS: Final = frozenset({"version", "type", "timestamp", "data", "properties"})
_ADMIN_MEMBERS: Final = frozenset({"name", "schema", "type", "timestamp", "properties"})
_CONFLUENT_MEMBERS: Final = frozenset(
    (
        "subject",
        "version",
        "id",
        "guid",
        "schema",
        "schemaType",
        "references",
        "metadata",
        "ruleSet",
    )
)
_PULSAR_TYPES: Final = frozenset(kind.value for kind in SchemaType if kind not in AUTO_TYPES)
_JSON_SCHEMA_TYPES: Final = frozenset({"object", "integer", "number"})
_JSON_SCHEMA_MEMBERS: Final = frozenset(
    {"$schema", "$ref", "$defs", "allOf", "anyOf", "oneOf", "properties"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignForm:
    """What a JSON value is, and what to do with it in a manifest's place of a definition.

    `info` is the schema that it contains, None where Pulsar has no use for it as it is.
    """

    name: str
    hint: str
    info: SchemaInfo | None = None


def recognize_text(text: str) -> ForeignForm | None:
    """What a text is, None for a definition and for anything unknown."""
    if is_descriptor_set(text.encode("utf-8", "surrogatepass")):
        return ForeignForm(name=DESCRIPTOR_SET, hint=DESCRIPTOR_SET_HINT)
    try:
        return recognize(read_json(text))
    except (JsonTextError, RecursionError):
        return None


def recognize(content: Json) -> ForeignForm | None:
    """What a JSON value is, None for a definition and for anything unknown."""
    if not isinstance(content, dict):
        return None
    members = content.keys()
    if isinstance(content.get("schemaInfo"), dict) and members <= {"version", "schemaInfo"}:
        return _admin_answer(content["schemaInfo"])
    if {"type", "data", "version"} <= members <= _REST_MEMBERS and _is_pulsar_type(content):
        name = "the answer of a broker's REST API about a schema (GET …/schema)"
        return _with_definition(name, "data", content)
    if {"type", "data"} <= members <= _REST_MEMBERS and _is_pulsar_type(content):
        return ForeignForm(
            name="a file for pulsar-admin with `data` where it has to be `schema`",
            hint="rename `data` to `schema`: brokers answer 500 to `data`",
        )
    if {"type", "schema"} <= members <= UPLOAD_MEMBERS and _is_pulsar_type(content):
        return _with_definition("a file for `pulsar-admin schemas upload`", "schema", content)
    if {"name", "type", "schema"} <= members <= _ADMIN_MEMBERS and _is_pulsar_type(content):
        return _admin_answer(content)
    if "schema" in members and len(members) > 1 and members <= _CONFLUENT_MEMBERS:
        return _confluent_answer(content)
    if _is_json_schema(content):
        return ForeignForm(
            name="JSON Schema",
            hint="Pulsar's types AVRO and JSON need a definition in Avro's form: a record, as "
            '{"type": "record", "name": "Ping", "fields": [{"name": "id", "type": "long"}]}',
        )
    return None


def _is_pulsar_type(content: dict[str, Json]) -> bool:
    return isinstance(content["type"], str) and content["type"] in _PULSAR_TYPES


def _admin_answer(content: dict[str, Json]) -> ForeignForm | None:
    if not {"type", "schema"} <= content.keys() <= _ADMIN_MEMBERS or not _is_pulsar_type(content):
        return None
    return _with_definition("the output of `pulsar-admin schemas get`", "schema", content)


def _with_definition(name: str, member: str, content: dict[str, Json]) -> ForeignForm:
    """A form with the type, the definition under a member, as text or as JSON, and properties."""
    definition, properties = content[member], content.get("properties") or {}
    if not isinstance(properties, dict):
        return ForeignForm(name=name, hint="'properties' must be an object")
    if not isinstance(definition, str):
        definition = json.dumps(definition, ensure_ascii=False)
    texts = {key: _property_text(value) for key, value in properties.items()}
    hint = (
        f'write the value of "{member}" into the definition, without the quotes around it, and '
        f"type: {content['type']}{' and the properties' if properties else ''} into the manifest"
    )
    info = SchemaInfo(type=SchemaType(content["type"]), schema=definition, properties=texts)
    return ForeignForm(name=name, hint=hint, info=info)


def _property_text(value: Json) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _confluent_answer(content: dict[str, Json]) -> ForeignForm | None:
    definition, kind = content["schema"], content.get("schemaType", "AVRO")
    if not isinstance(definition, str) or not isinstance(kind, str):
        return None
    name = f"an answer of Confluent's schema registry, of type {kind}"
    if kind == "PROTOBUF":
        hint = 'save the value of "schema" as a .proto file, with type: PROTOBUF_NATIVE'
        return ForeignForm(name=name, hint=hint)
    if kind != "AVRO":
        hint = "its definition is JSON Schema; Pulsar's types AVRO and JSON need Avro's form"
        return ForeignForm(name=name, hint=hint)
    if content.get("references"):
        hint = 'save "schema" and each of its references as .avsc files of the repository'
        return ForeignForm(name=name, hint=hint)
    hint = 'write the value of "schema" into the definition, and type: AVRO into the manifest'
    info = SchemaInfo(type=DEFAULT_TYPE, schema=definition)
    return ForeignForm(name=name, hint=hint, info=info)


def _is_json_schema(content: dict[str, Json]) -> bool:
    if isinstance(content.get("$schema"), str) and "json-schema" in content["$schema"]:
        return True
    kind = content.get("type")
    if isinstance(kind, str) and kind in _JSON_SCHEMA_TYPES:
        return bool(content.keys() & _JSON_SCHEMA_MEMBERS) or kind == "object"
    return kind is None and bool(content.keys() & (_JSON_SCHEMA_MEMBERS - {"properties"}))
