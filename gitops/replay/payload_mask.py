"""Messages without what sensitive fields contain, written again with their own schemas.

What is hidden keeps its type, its null and its union branch, so that the message can be read as
before. A message that cannot be read is not masked: the caller leaves it out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, final

from gitops.messaging.capture_topic import MaskedMessage
from gitops.model.errors import UsageError
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.kernel.avro.definition import schema_of as avro_schema_of
from gitops.replay.kernel.avro.values import UnionValue
from gitops.replay.kernel.definition import DefinitionError
from gitops.replay.kernel.definition_nodes import OpaqueNode
from gitops.replay.kernel.json.definition import schema_of as json_schema_of
from gitops.replay.kernel.key_value import wire_format
from gitops.replay.kernel.key_value.definition import halves_of, is_separated
from gitops.replay.kernel.key_value.kernel import split_one
from gitops.replay.kernel.protocol import Unreadable
from gitops.replay.kernel.schema_types import nodes_of, row_reader_for, row_writer_for
from gitops.replay.sensitive_fields import Name, advance, names_of_fields, unknown_names
from gitops.replay.substitutes import Substitutes, substitute
from gitops.schemas.avro.schema import Array, Enum, Map, Record, Schema, Union, branch_name
from gitops.schemas.key_value.parser import HALVES

MASKABLE: Final = frozenset({SchemaType.AVRO, SchemaType.JSON, SchemaType.KEY_VALUE})
"""Types whose fields can be masked; all others are refused where a field is sensitive."""

NO_VERSION: Final = "without a known schema version"
NOT_READ: Final = "not readable with their schema"


# Where in a value the sensitive fields are.

_Done = tuple[int, ...]
"""The steps of each name that lead to a place; None in their stead where all is hidden."""


@final
class _ValueMask:
    """Values of one definition; `start` are the steps that lead to its message."""

    def __init__(self, names: tuple[Name, ...], by: Substitutes, start: Name = ()) -> None:
        self._names = names
        self.by = by
        self.start = self._within(tuple(0 for _ in names), start)

    def _within(self, done: _Done | None, step: Name) -> _Done | None:
        if done is None:
            return None
        items = tuple(advance(name, at, step) for name, at in zip(self._names, done, strict=True))
        is_named = any(at == len(name) for name, at in zip(self._names, items, strict=True))
        return None if is_named else items

    def avro(self, schema: Schema, value: Any, done: _Done | None) -> Any:  # noqa: ANN401
        """A value as a RowReader without logical types answers it."""
        match schema:
            case Union():
                return self._union(schema, value, done)
            case Record():
                return {
                    field.name: self.avro(
                        field.type, value[field.name], self._within(done, (field.name,))
                    )
                    for field in schema.all_fields
                }
            case Array():
                return [self.avro(schema.items, item, done) for item in value]
            case Map():
                return self._map(value, done, lambda item, at: self.avro(schema.values, item, at))
        return substitute(schema, value, self.by) if done is None and value is not None else value

    def _union(self, union: Union, value: Any, done: _Done | None) -> Any:  # noqa: ANN401
        if value is None:
            return None
        if isinstance(value, UnionValue):
            branch = next(
                schema for schema in union.branches if branch_name(schema) == value.branch
            )
            return value._replace(value=self.avro(branch, value.value, done))
        branch = next(schema for schema in union.branches if schema.kind != "null")
        return self.avro(branch, value, done)

    def _map(
        self,
        value: Mapping[str, Any],
        done: _Done | None,
        inner: Callable[[Any, _Done | None], Any],
    ) -> dict[str, Any]:
        """The keys of a map are steps too, and hidden where the map is."""
        return {
            (self.by.text(name) if done is None else name): inner(item, self._within(done, (name,)))
            for name, item in value.items()
        }

    def json(self, nodes: tuple[Schema, ...], value: Any, done: _Done | None) -> Any:  # noqa: ANN401
        """A value of JSON, whose definition may be one of `nodes`; none for what nobody defines."""
        nodes = tuple(_branches(nodes))
        if isinstance(value, _Members):
            return self._members(nodes, value, done)
        if isinstance(value, list):
            items = tuple(node.items for node in nodes if isinstance(node, Array))
            return [self.json(items, item, done) for item in value]
        if done is not None or value is None:
            return value
        return _json_scalar(nodes, value, self.by)

    def _members(self, nodes: tuple[Schema, ...], value: _Members, done: _Done | None) -> _Members:
        texts = []
        for name, item in value.pairs:
            fields = [
                n.by_name[name].type for n in nodes if isinstance(n, Record) and name in n.by_name
            ]
            inner = (*fields, *(node.values for node in nodes if isinstance(node, Map)))
            hidden = done is None and not fields
            shown = self.by.text(name) if hidden else name
            texts.append((shown, self.json(inner, item, self._within(done, (name,)))))
        return _Members(texts)


def _branches(nodes: Iterable[Schema]) -> Iterable[Schema]:
    for node in nodes:
        if isinstance(node, Union):
            yield from node.branches
        else:
            yield node


def _json_scalar(nodes: tuple[Schema, ...], value: Any, by: Substitutes) -> Any:  # noqa: ANN401
    if isinstance(value, bool):
        return bool(by.number(value, 2))
    if isinstance(value, _Number):
        kinds = [schema for schema in nodes if schema.kind in ("int", "long")]
        return _Number(
            str(substitute(kinds[0], value.text, by) if kinds else by.number(value.text, 2**24))
        )
    for node in nodes:
        if isinstance(node, Enum) or node.kind in ("string", "bytes"):
            return _json_text(node, value, by)
    return by.text(value)


def _json_text(node: Schema, value: str, by: Substitutes) -> str:
    if isinstance(node, Enum) or (node.kind == "string" and node.props.get("logicalType")):
        return str(substitute(node, value, by))
    return by.text(value)


# JSON as it was written: numbers with all their digits, members in their order and all of them.


@dataclass(frozen=True, slots=True)
class _Number:
    text: str


@dataclass(frozen=True, slots=True)
class _Members:
    pairs: list[tuple[str, Any]]


def _read_json(payload: bytes) -> Any:  # noqa: ANN401
    return json.loads(
        payload,
        parse_float=_Number,
        parse_int=_Number,
        parse_constant=_Number,
        object_pairs_hook=_Members,
    )


def _write_json(value: Any) -> str:  # noqa: ANN401
    match value:
        case _Members(pairs):
            inner = (f"{json.dumps(n, ensure_ascii=False)}:{_write_json(v)}" for n, v in pairs)
            return f"{{{','.join(inner)}}}"
        case list():
            return f"[{','.join(map(_write_json, value))}]"
        case _Number(text):
            return text
    return json.dumps(value, ensure_ascii=False)


# Messages.

_Change = Callable[[bytes | None], bytes | None]
_PairChange = Callable[[bytes | None, bytes | None], MaskedMessage]


@final
class TopicMask:
    """Hides the sensitive fields of one topic's messages: a PayloadMask."""

    def __init__(
        self,
        versions: Mapping[int, SchemaInfo],
        sensitive: Iterable[str],
        by: Substitutes,
    ) -> None:
        self._versions = versions
        self._by = by
        self._names = names_of_fields(versions.values(), sensitive)
        self._masks: dict[int, _PairChange] = {}

    def mask(
        self, version: int | None, key: bytes | None, payload: bytes | None
    ) -> MaskedMessage | str:
        """The message without them, or why it is left out."""
        if version is None or version not in self._versions:
            return NO_VERSION
        if version not in self._masks:
            self._masks[version] = self._mask_of(self._versions[version])
        try:
            return self._masks[version](key, payload)
        except (Unreadable, ValueError, KeyError, StopIteration, RecursionError):
            return NOT_READ

    def _mask_of(self, info: SchemaInfo) -> _PairChange:
        if info.type is not SchemaType.KEY_VALUE:
            whole = self._half(info, ())
            return lambda key, payload: MaskedMessage(key, whole(payload))
        halves = zip(HALVES, halves_of(info), strict=True)
        of_key, of_value = (self._half(half, (name,)) for name, half in halves)
        if is_separated(info):
            return lambda key, payload: MaskedMessage(of_key(key), of_value(payload))

        def pair(key: bytes | None, payload: bytes | None) -> MaskedMessage:
            if payload is None:
                return MaskedMessage(key, None)
            inner = split_one(payload)
            items = (of_key(inner[HALVES[0]]), of_value(inner[HALVES[1]]))
            return MaskedMessage(key, wire_format.join_one(*items))

        return pair

    def _half(self, info: SchemaInfo, start: Name) -> _Change:
        mask = _ValueMask(self._names, self._by, start)
        change = _CHANGES.get(info.type, _change_of_scalar)(info, mask)
        return lambda data: None if data is None else change(data)


def _change_of_json(info: SchemaInfo, mask: _ValueMask) -> Callable[[bytes], bytes]:
    nodes = (json_schema_of(info),)

    def change(data: bytes) -> bytes:
        value = mask.json(nodes, _read_json(data), mask.start)
        return _write_json(value).encode("utf-8", "surrogatepass")

    return change


def _change_of_avro(info: SchemaInfo, mask: _ValueMask) -> Callable[[bytes], bytes]:
    schema = avro_schema_of(info)
    # Values of logical types as their bytes are: they are written again as they were.
    reader, writer = row_reader_for(info, info, "none"), row_writer_for(info)
    return lambda data: writer.write(mask.avro(schema, reader.read(data), mask.start))


def _change_of_scalar(_info: SchemaInfo, mask: _ValueMask) -> Callable[[bytes], bytes]:
    """A half of a pair that is one value, and no field of it: hidden where the half is named."""
    return lambda data: mask.by.data(data, len(data)) if mask.start is None else data


_CHANGES: Final = {SchemaType.AVRO: _change_of_avro, SchemaType.JSON: _change_of_json}


def topic_mask(
    topic: str, versions: Mapping[int, SchemaInfo], sensitive: Iterable[str], by: Substitutes
) -> TopicMask:
    """The mask of a topic's fields; raises UsageError where a message could be written unmasked."""
    sensitive = tuple(sorted(set(sensitive)))
    for number, info in versions.items():
        _require_maskable(topic, number, info)
    if unknown := unknown_names(versions.values(), sensitive):
        raise UsageError(
            f"no version of {topic} has the sensitive field '{unknown[0]}': what it means is not "
            "known, and so nothing is captured",
            hint="correct `sensitive` in the topic's manifest",
        )
    try:
        return TopicMask(versions, sensitive, by)
    except DefinitionError as error:
        raise UsageError(f"a schema of {topic} cannot be used to mask it: {error}") from error


def _require_maskable(topic: str, number: int, info: SchemaInfo) -> None:
    parts = [info]
    try:
        if info.type is SchemaType.KEY_VALUE:
            parts = list(halves_of(info))
    except DefinitionError as error:
        raise UsageError(f"v{number} of {topic} cannot be used to mask it: {error}") from error
    refused = [part.type for part in parts if not _is_maskable(part)]
    if info.type not in MASKABLE:
        refused = [info.type]
    if refused:
        raise UsageError(
            f"the sensitive fields of {topic} cannot be masked: v{number} is {refused[0].value}",
            hint="masked are fields of AVRO and JSON, also within KEY_VALUE; leave the topic out",
        )


def _is_maskable(half: SchemaInfo) -> bool:
    """Whether it has fields that can be masked, or is one value."""
    is_value = half.type is not SchemaType.EXTERNAL and nodes_of(half) == (OpaqueNode.OPAQUE,)
    return half.type in _CHANGES or is_value
