"""What a definition describes, whatever its form: what may be where in a message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from gitops.model.schema import SchemaInfo
from gitops.replay.kernel.avro.definition import schema_of
from gitops.replay.kernel.json.definition import is_anything
from gitops.replay.kernel.json.map_keys import entries_of
from gitops.replay.kernel.protobuf.definition import is_opaque, message_of
from gitops.schemas.avro.schema import Array, Map, Record, Schema, Union
from gitops.schemas.protobuf_native.schema import Field, Message


class OpaqueNode(Enum):
    """What no definition looks into.

    ANYTHING has names of its own, as the JSON of a Java object has. OPAQUE has none: the bytes of
    a message that nobody describes, or a message that is one value.
    """

    ANYTHING = "anything"
    OPAQUE = "opaque"


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """What has members; of several definitions each has its own."""

    members: Mapping[str, Nodes]


Node = Record | Message | Members | OpaqueNode
Nodes = tuple[Node, ...]
"""All that may stand somewhere and has members, or is not looked into."""


@lru_cache(maxsize=1024)
def members_of(node: Node) -> Mapping[str, Nodes]:
    """The fields that stand in it, and what each may be."""
    match node:
        case Record():
            return {field.name: schema_nodes(field.type) for field in node.all_fields}
        case Message():
            return {field.name: _field_nodes(field) for field in node.fields}
        case Members():
            return node.members
        case OpaqueNode():
            return {}


def nodes_below(nodes: Iterable[Node], name: str) -> Nodes | None:
    """What stands at a member; None where none of them has it."""
    items = [members[name] for members in map(members_of, nodes) if name in members]
    return tuple(element for item in items for element in item) if items else None


def protobuf_nodes(schema: SchemaInfo) -> Nodes:
    """Those of PROTOBUF, whose Avro form names the fields of inner messages; they are bytes."""
    named = schema_nodes(schema_of(schema))
    unnamed = {
        field.name: (OpaqueNode.OPAQUE,)
        for field in message_of(schema).fields
        if is_opaque(field) and not nodes_below(named, field.name)
    }
    return (*named, Members(unnamed))


def schema_nodes(schema: Schema) -> Nodes:
    """What a value of an Avro schema is, of AVRO and of JSON."""
    match schema:
        case Record() if is_anything(schema):
            return (OpaqueNode.ANYTHING,)
        case Record():
            return (schema,)
        case Array():
            entries = entries_of(schema)  # an object in JSON, whose values are those of a map
            return (*schema_nodes(schema.items), *(schema_nodes(entries.value) if entries else ()))
        case Map():
            return schema_nodes(schema.values)
        case Union():
            return tuple(node for branch in schema.branches for node in schema_nodes(branch))
        case _:
            return ()


def _field_nodes(field: Field) -> Nodes:
    """Of a map what its values are: its keys are no fields."""
    if field.entry is not None:
        values = (item for item in field.entry.fields if item.name == "value")
        return tuple(node for value in values for node in _field_nodes(value))
    if field.message is not None:
        return (field.message,)
    return (OpaqueNode.OPAQUE,) if is_opaque(field) else ()
