"""What the definitions of a topic say may stand where, whatever their form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.kernel.definition import DefinitionError, avro_form
from gitops.replay.kernel.json.definition import is_anything, schema_of
from gitops.replay.kernel.json.map_keys import entries_of
from gitops.replay.kernel.key_value.definition import halves_of
from gitops.replay.kernel.protobuf.definition import is_opaque, message_of
from gitops.schemas.avro.schema import Array, Map, Record, Schema, Union
from gitops.schemas.protobuf_native.schema import Field, Message


class Undescribed(Enum):
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


Node = Record | Message | Members | Undescribed
Nodes = tuple[Node, ...]
"""All that may stand somewhere and has members, or is not looked into."""


def nodes_of(schema: SchemaInfo) -> Nodes:
    """What a message of it is; nothing where the definition cannot be parsed."""
    try:
        if schema.type is SchemaType.KEY_VALUE:
            return _pair(schema)
        return _whole(schema) or (Undescribed.OPAQUE,)
    except DefinitionError:
        return ()


@lru_cache(maxsize=1024)
def members_of(node: Node) -> Mapping[str, Nodes]:
    """The fields that stand in it, and what each may be."""
    match node:
        case Record():
            return {field.name: _below(field.type) for field in node.all_fields}
        case Message():
            return {field.name: _of_field(field) for field in node.fields}
        case Members():
            return node.members
        case Undescribed():
            return {}


def nodes_below(nodes: Iterable[Node], name: str) -> Nodes | None:
    """What stands at a member; None where none of them has it."""
    found = [members[name] for members in map(members_of, nodes) if name in members]
    return tuple(each for its in found for each in its) if found else None


def _pair(schema: SchemaInfo) -> Nodes:
    halves = zip(("key", "value"), halves_of(schema), strict=True)
    return (Members({name: _half(half) for name, half in halves}),)


def _half(schema: SchemaInfo) -> Nodes:
    """A half that is one value is hidden only where a name begins with that half."""
    return _whole(schema) or (Undescribed.ANYTHING,)


def _whole(schema: SchemaInfo) -> Nodes:
    """Nothing for a message that is one value."""
    match schema.type:
        case SchemaType.AVRO:
            return _below(avro_form(schema))
        case SchemaType.JSON:
            return _below(schema_of(schema))
        case SchemaType.PROTOBUF:
            return _protobuf(schema)
        case SchemaType.PROTOBUF_NATIVE:
            return (message_of(schema),)
        case _:
            return ()


def _protobuf(schema: SchemaInfo) -> Nodes:
    """The Avro form names what messages within the message hold, whose values are bytes."""
    told = _below(avro_form(schema))
    untold = {
        field.name: (Undescribed.OPAQUE,)
        for field in message_of(schema).fields
        if is_opaque(field) and not nodes_below(told, field.name)
    }
    return (*told, Members(untold))


def _below(schema: Schema) -> Nodes:
    match schema:
        case Record() if is_anything(schema):
            return (Undescribed.ANYTHING,)
        case Record():
            return (schema,)
        case Array():
            entries = entries_of(schema)  # an object in JSON, whose values are those of a map
            return (*_below(schema.items), *(_below(entries.value) if entries else ()))
        case Map():
            return _below(schema.values)
        case Union():
            return tuple(node for branch in schema.branches for node in _below(branch))
        case _:
            return ()


def _of_field(field: Field) -> Nodes:
    """Of a map what its values are: its keys are no fields."""
    if field.entry is not None:
        values = (one for one in field.entry.fields if one.name == "value")
        return tuple(node for value in values for node in _of_field(value))
    if field.message is not None:
        return (field.message,)
    return (Undescribed.OPAQUE,) if is_opaque(field) else ()


# Under which other names the schemas of a topic know a field.


_MESSAGES = frozenset({SchemaType.PROTOBUF, SchemaType.PROTOBUF_NATIVE})


class FieldAliases(NamedTuple):
    """Who says one of `names` means each of `others`."""

    names: frozenset[str]
    others: frozenset[str]


def other_names(schemas: Iterable[SchemaInfo]) -> list[FieldAliases]:
    """Names of one field: those that an alias says, and those of one number in Protobuf.

    JSON's name of a Protobuf field is one, and a oneof's is one of each of its fields.
    """
    schemas = list(schemas)
    halves = [found for found in map(_halves, schemas) if found is not None]
    found: list[FieldAliases] = []
    for part in (schemas, *map(list, zip(*halves, strict=True))):
        same = [names for one in part for names in _aliases(one.schema)]
        for level in _levels([message for message in map(_message, part) if message]):
            same += _of_one_number(level)
            found += _oneofs(level)
        found += [FieldAliases(frozenset(names), frozenset(names)) for names in same]
    return [one for one in found if len(one.names | one.others) > 1]


def _aliases(definition: str) -> Iterator[set[str]]:
    try:
        tree = json.loads(definition)
    except (ValueError, RecursionError):
        return
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(node)
        elif isinstance(node, dict):
            waiting.extend(node.values())
            names = [node.get("name"), *_listed(node.get("aliases"))]
            yield {each for each in names if isinstance(each, str)}


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _halves(schema: SchemaInfo) -> tuple[SchemaInfo, SchemaInfo] | None:
    try:
        return halves_of(schema) if schema.type is SchemaType.KEY_VALUE else None
    except DefinitionError:
        return None


def _message(schema: SchemaInfo) -> Message | None:
    try:
        return message_of(schema) if schema.type in _MESSAGES else None
    except DefinitionError:
        return None


def _levels(messages: list[Message]) -> Iterator[list[Message]]:
    """The outermost messages, then those that fields of one number hold."""
    waiting, seen = [messages], set[frozenset[int]]()
    while waiting:
        its = waiting.pop()
        if (known := frozenset(map(id, its))) in seen:
            continue
        seen.add(known)
        yield its
        for same in _by_number(its):
            inner = {id(field.message): field.message for field in same if field.message}
            waiting.append(list(inner.values()))


def _by_number(messages: list[Message]) -> Iterable[list[Field]]:
    fields: dict[int, list[Field]] = {}
    for field in (field for message in messages for field in message.fields):
        fields.setdefault(field.number, []).append(field)
    return fields.values()


def _of_one_number(messages: list[Message]) -> Iterator[set[str]]:
    for same in _by_number(messages):
        yield {name for field in same for name in (field.name, field.json_name) if name}


def _oneofs(messages: list[Message]) -> Iterator[FieldAliases]:
    for message in messages:
        for index, name in enumerate(message.oneofs):
            its = frozenset(field.name for field in message.fields if field.oneof == index)
            yield FieldAliases(frozenset({name}), its)
