"""Under which other names the schemas of a topic know a field."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from gitops.compatibility.protobuf_native.schema import Field, Message
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.kernel.definition import DefinitionError
from gitops.replay.kernel.key_value.halves import halves_of
from gitops.replay.kernel.protobuf.definition import message_of

_MESSAGES = frozenset({SchemaType.PROTOBUF, SchemaType.PROTOBUF_NATIVE})


def other_names(schemas: Iterable[SchemaInfo]) -> list[set[str]]:
    """Names of one field: those that an alias says, and those of one number in Protobuf."""
    schemas = list(schemas)
    found = [names for schema in schemas for names in _aliases(schema.schema)]
    for part in _parts(schemas):
        found += _of_one_number(part)
    return [names for names in found if len(names) > 1]


def _aliases(definition: str) -> Iterator[set[str]]:
    try:
        tree = json.loads(definition)
    except ValueError:
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


def _parts(schemas: list[SchemaInfo]) -> Iterator[list[Message]]:
    """The messages of all schemas; those of keys and those of values apart."""
    halves = [found for schema in schemas if (found := _halves(schema))]
    for its in (schemas, *zip(*halves, strict=True)):
        yield [message for message in map(_message, its) if message is not None]


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


def _of_one_number(messages: list[Message]) -> Iterator[set[str]]:
    """From the outermost messages into those that fields of one number hold."""
    waiting, seen = [messages], set[frozenset[int]]()
    while waiting:
        its = waiting.pop()
        if (known := frozenset(map(id, its))) in seen:
            continue
        seen.add(known)
        fields: dict[int, list[Field]] = {}
        for field in (field for message in its for field in message.fields):
            fields.setdefault(field.number, []).append(field)
        for same in fields.values():
            yield {field.name for field in same}
            inner = {id(field.message): field.message for field in same if field.message}
            waiting.append(list(inner.values()))
