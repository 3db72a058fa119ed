"""Hypothesis strategies: Avro definitions, schemas of every type, policies, whole states.

Vocabularies are small on purpose: two things that are drawn apart are then often nearly equal.
"""

from __future__ import annotations

import base64
import copy
import json
from typing import Any

from hypothesis import strategies as st

from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import (
    NamespacePolicies,
    SchemaAutoUpdateCompatibilityStrategy,
    SchemaCompatibilityStrategy,
    TopicPolicies,
)
from gitops.model.schema import AUTO_TYPES, SchemaEntry, SchemaHistory, SchemaInfo, SchemaType
from gitops.model.state import NamespaceState, RegistryState, TopicState

Json = Any

_PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
_OF_ONE_KIND = st.sampled_from(_PRIMITIVES[1:])
_MEMBERS: dict[str, st.SearchStrategy[Json]] = {
    "doc": st.sampled_from(["", "a", "b"]),
    "aliases": st.sampled_from([[], ["p"], ["p", "q"]]),
    "logicalType": st.sampled_from(["uuid", "decimal"]),
    "precision": st.sampled_from([4, 4.0, "4"]),
    "extra": st.sampled_from([None, {"a": 1, "b": [2]}, {"b": [2], "a": 1}, [1, 2], [2, 1]]),
}
_NAMED_MEMBERS = ("doc", "aliases", "extra")


@st.composite
def avro_definitions(draw: st.DrawFn, *, roots: tuple[str, ...] = ()) -> Json:
    """JSON of a valid Avro schema; `roots` are the kinds that may stand at the top."""
    return _Drawing(draw).schema(2, roots)


class _Drawing:
    """One definition being drawn: the names that it has so far."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw
        self._names: list[str] = []

    def schema(self, depth: int, kinds: tuple[str, ...] = ()) -> Json:
        everything = ("primitive", "record", "enum", "fixed", "array", "map", "union", "known")
        kind = self._draw(st.sampled_from(kinds or everything if depth else ("primitive", "known")))
        match kind:
            case "record":
                return self._record(depth)
            case "array" | "map":
                inside = "items" if kind == "array" else "values"
                return self._with({"type": kind, inside: self.schema(depth - 1)}, "extra")
            case "enum":
                symbols = self._draw(st.permutations(["X", "Y", "Z"]))[: self._draw(_SIZE)]
                default = {"default": symbols[0]} if self._draw(st.booleans()) else {}
                return self._named({"type": "enum", "symbols": symbols, **default})
            case "fixed":
                return self._named({"type": "fixed", "size": self._draw(_SIZE)})
            case "union":
                return self._union(depth)
            case "known" if self._names:
                return self._draw(st.sampled_from(self._names))
            case _:
                return self._primitive()

    def _primitive(self) -> Json:
        kind = self._draw(st.sampled_from(_PRIMITIVES))
        if self._draw(st.booleans()):
            return kind
        return self._with({"type": kind}, "logicalType", "precision", "extra")

    def _record(self, depth: int) -> Json:
        node = self._named({"type": self._draw(st.sampled_from(["record", "error"]))})
        names = self._draw(st.permutations(["x", "y", "z"]))[: self._draw(_SIZE)]
        return {**node, "fields": [self._field(name, depth) for name in names]}

    def _field(self, name: str, depth: int) -> Json:
        node: dict[str, Json] = {"name": name, "type": self.schema(depth - 1)}
        if self._draw(st.booleans()):
            order = self._draw(st.sampled_from(["ascending", "descending", "ignore"]))
            node["order"] = order
        return self._with(node, *_MEMBERS)

    def _union(self, depth: int) -> Json:
        branches = ["null", self._draw(_OF_ONE_KIND)]
        if depth > 1 and self._draw(st.booleans()):
            branches.append(self.schema(depth - 1, ("record", "enum", "fixed")))
        return self._draw(st.permutations(branches)) if self._draw(st.booleans()) else branches

    def _named(self, node: dict[str, Json]) -> dict[str, Json]:
        name = f"N{len(self._names)}"
        self._names.append(name)
        return self._with({**node, "name": name}, *_NAMED_MEMBERS)

    def _with(self, node: dict[str, Json], *members: str) -> dict[str, Json]:
        """With some of these members; most nodes have none."""
        chosen = self._draw(st.sets(st.sampled_from(members), max_size=2))
        return {**node, **{name: self._draw(_MEMBERS[name]) for name in sorted(chosen)}}


_SIZE = st.integers(min_value=1, max_value=3)
_DEFAULTS: st.SearchStrategy[Json] = st.sampled_from(
    [None, 0, 0.0, 1, 1.0, -0.0, True, "", "1", [], {}, {"a": 1, "b": 2}, {"b": 2, "a": 1}]
)


@st.composite
def definition_pairs(draw: st.DrawFn) -> tuple[Json, Json]:
    """A definition, and one that differs from it at a few places or not at all."""
    before = draw(avro_definitions())
    after = copy.deepcopy(before)
    for _ in range(draw(st.integers(min_value=0, max_value=3))):
        nodes = list(_objects(after))
        if nodes:
            _change(draw, draw(st.sampled_from(nodes)))
    return before, after


def _objects(node: Json) -> list[dict[str, Json]]:
    if isinstance(node, list):
        return [found for each in node for found in _objects(each)]
    if not isinstance(node, dict):
        return []
    inside = [node[key] for key in ("fields", "type", "items", "values") if key in node]
    return [node, *(found for each in inside for found in _objects(each))]


def _is_field(node: dict[str, Json]) -> bool:
    return "name" in node and node["type"] not in ("record", "error", "enum", "fixed")


def _change(draw: st.DrawFn, node: dict[str, Json]) -> None:
    """Change one node in place, so that the definition stays valid."""
    what = draw(st.sampled_from(["member", "drop", "default", "turn"]))
    if what == "member":
        name = draw(st.sampled_from(["doc", "extra"]))
        node[name] = draw(_MEMBERS[name])
    elif what == "drop":
        optional = sorted(set(node) & {*_MEMBERS, "default", "order"})
        if optional:
            node.pop(draw(st.sampled_from(optional)))
    elif what == "turn":
        _turn(node)
    elif _is_field(node):
        node["default"] = draw(_DEFAULTS)


def _turn(node: dict[str, Json]) -> None:
    """Turn round a list whose order is a choice; members of objects change places as well."""
    for key in ("symbols", "aliases"):
        if isinstance(node.get(key), list):
            node[key].reverse()
    for key, value in list(node.items()):
        if isinstance(value, dict) and key not in ("type", "items", "values"):
            node[key] = dict(reversed(value.items()))


def schema_infos() -> st.SearchStrategy[SchemaInfo]:
    """Schemas of every type that a registry takes, as people write them."""
    return st.one_of(
        st.builds(SchemaInfo, type=st.sampled_from(_PLAIN), properties=_properties()),
        st.builds(
            SchemaInfo,
            type=st.sampled_from([SchemaType.NONE, SchemaType.BYTES]),
            schema=st.sampled_from(["", "anything", "{}"]),
        ),
        st.builds(
            SchemaInfo,
            type=st.sampled_from([SchemaType.AVRO, SchemaType.JSON, SchemaType.PROTOBUF]),
            schema=_texts(roots=("record",)),
            properties=_properties(),
        ),
        key_values(),
        st.sampled_from(["a.A", "a.B"]).map(_native),
    )


def odd_infos() -> st.SearchStrategy[SchemaInfo]:
    """Schemas as a registry may hold them however they got there: valid, invalid, or none."""
    return schema_infos() | st.builds(
        SchemaInfo,
        type=st.sampled_from([each for each in SchemaType if each not in AUTO_TYPES]),
        schema=st.sampled_from(["", "{", "null", '"string"', '{"type":"nonsense"}', "\x00é\u2028"])
        | st.text(max_size=8),
        properties=_properties(),
    )


_PLAIN = [
    each
    for each in SchemaType
    if each
    not in (
        *AUTO_TYPES,
        SchemaType.AVRO,
        SchemaType.JSON,
        SchemaType.PROTOBUF,
        SchemaType.PROTOBUF_NATIVE,
        SchemaType.KEY_VALUE,
    )
]


def _properties() -> st.SearchStrategy[dict[str, str]]:
    return st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from(["1", "2"]), max_size=2)


def _texts(roots: tuple[str, ...] = ()) -> st.SearchStrategy[str]:
    indents = st.sampled_from([None, 2])
    return st.builds(
        lambda value, indent: json.dumps(value, indent=indent),
        avro_definitions(roots=roots),
        indents,
    )


@st.composite
def key_values(draw: st.DrawFn) -> SchemaInfo:
    """KEY_VALUE, each half of any kind, printed in any layout."""
    halves, properties = {}, {"kv.encoding.type": draw(st.sampled_from(["INLINE", "SEPARATED"]))}
    for half in ("key", "value"):
        defined = draw(st.booleans())
        halves[half] = draw(avro_definitions(roots=("record",))) if defined else ""
        properties[f"{half}.schema.type"] = "AVRO" if defined else draw(st.sampled_from(["STRING"]))
    text = json.dumps(halves, indent=draw(st.sampled_from([None, 4])))
    return SchemaInfo(type=SchemaType.KEY_VALUE, schema=text, properties=properties)


def _native(message: str) -> SchemaInfo:
    envelope = {
        "fileDescriptorSet": base64.b64encode(b"\x0a").decode(),
        "rootMessageTypeName": message,
        "rootFileDescriptorName": "a.proto",
    }
    return SchemaInfo(type=SchemaType.PROTOBUF_NATIVE, schema=json.dumps(envelope))


def namespace_policies() -> st.SearchStrategy[NamespacePolicies]:
    """Any combination."""
    return st.builds(
        NamespacePolicies,
        schema_compatibility_strategy=_maybe(SchemaCompatibilityStrategy),
        is_allow_auto_update_schema=st.none() | st.booleans(),
        schema_validation_enforced=st.none() | st.booleans(),
        schema_auto_update_compatibility_strategy=_maybe(SchemaAutoUpdateCompatibilityStrategy),
    )


def topic_policies() -> st.SearchStrategy[TopicPolicies]:
    """Any combination."""
    return st.builds(
        TopicPolicies,
        schema_compatibility_strategy=_maybe(SchemaCompatibilityStrategy),
        schema_validation_enforced=st.none() | st.booleans(),
    )


def _maybe(kind: Any) -> st.SearchStrategy[Any]:  # noqa: ANN401 - an Enum class
    return st.none() | st.sampled_from(kind)


_NAMESPACES = [NamespaceName("shop", "orders"), NamespaceName("shop", "payments")]
_TOPICS = [TopicName(namespace, name) for namespace in _NAMESPACES for name in ("a", "b")]


@st.composite
def registry_states(
    draw: st.DrawFn,
    infos: st.SearchStrategy[SchemaInfo] | None = None,
    *,
    max_versions: int = 3,
) -> RegistryState:
    """Two namespaces and up to four topics, each with up to `max_versions` live versions."""
    some = odd_infos() if infos is None else infos
    topics = draw(st.lists(st.sampled_from(_TOPICS), unique=True))
    return RegistryState(
        namespaces={
            name: NamespaceState(namespace=name, policies=draw(namespace_policies()))
            for name in draw(st.permutations(_NAMESPACES))
        },
        topics={topic: draw(_topic_states(topic, some, max_versions)) for topic in topics},
    )


@st.composite
def _topic_states(
    draw: st.DrawFn, topic: TopicName, infos: st.SearchStrategy[SchemaInfo], max_versions: int
) -> TopicState:
    first = draw(st.sampled_from([0, 2]))
    found = draw(st.lists(infos, max_size=max_versions))
    entries = tuple(SchemaEntry(version=i, info=one) for i, one in enumerate(found, first))
    return TopicState(
        topic=topic,
        history=SchemaHistory(entries=entries, next_version=first + len(entries)),
        policies=draw(topic_policies()),
    )
