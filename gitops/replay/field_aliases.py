"""Under which other names the schemas of a topic have a field."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.kernel.definition import DefinitionError
from gitops.replay.kernel.key_value.definition import halves_of
from gitops.replay.kernel.schema_types import described_message
from gitops.schemas.protobuf_native.schema import Field, Message


class FieldAliases(NamedTuple):
    """Who says one of `names` means each of `others`."""

    names: frozenset[str]
    others: frozenset[str]


def find_aliases(schemas: Iterable[SchemaInfo]) -> list[FieldAliases]:
    """Names of one field: those that an alias says, and those of one number in Protobuf.

    JSON's name of a Protobuf field is one, and a oneof's is one of each of its fields.
    """
    schemas = list(schemas)
    halves = [pair for pair in map(_halves, schemas) if pair is not None]
    aliases: list[FieldAliases] = []
    for part in (schemas, *map(list, zip(*halves, strict=True))):
        same = [names for value in part for names in _aliases(value.schema)]
        for level in _levels([message for message in map(described_message, part) if message]):
            same += _names_by_number(level)
            aliases += _oneofs(level)
        aliases += [FieldAliases(frozenset(names), frozenset(names)) for names in same]
    return [alias for alias in aliases if len(alias.names | alias.others) > 1]


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
            yield {name for name in names if isinstance(name, str)}


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _halves(schema: SchemaInfo) -> tuple[SchemaInfo, SchemaInfo] | None:
    try:
        return halves_of(schema) if schema.type is SchemaType.KEY_VALUE else None
    except DefinitionError:
        return None


def _levels(messages: list[Message]) -> Iterator[list[Message]]:
    """The outermost messages, then those that fields of one number hold."""
    waiting, seen = [messages], set[frozenset[int]]()
    while waiting:
        members = waiting.pop()
        if (known := frozenset(map(id, members))) in seen:
            continue
        seen.add(known)
        yield members
        for same in _by_number(members):
            inner = {id(field.message): field.message for field in same if field.message}
            waiting.append(list(inner.values()))


def _by_number(messages: list[Message]) -> Iterable[list[Field]]:
    fields: dict[int, list[Field]] = {}
    for field in (field for message in messages for field in message.fields):
        fields.setdefault(field.number, []).append(field)
    return fields.values()


def _names_by_number(messages: list[Message]) -> Iterator[set[str]]:
    for same in _by_number(messages):
        yield {name for field in same for name in (field.name, field.json_name) if name}


def _oneofs(messages: list[Message]) -> Iterator[FieldAliases]:
    for message in messages:
        for index, name in enumerate(message.oneofs):
            texts = frozenset(field.name for field in message.fields if field.oneof == index)
            yield FieldAliases(frozenset({name}), texts)
