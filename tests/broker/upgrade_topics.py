"""Topics for the rehearsal of an upgrade: ordinary ones, and all that lines judge otherwise."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.schemas.payload import to_info
from tests.oracle.cases import Cases
from tests.oracle.line_cases import LineCases
from tests.oracle.over_rest import is_for_rest
from tests.support.client_schemas import KNOWN, offers_of
from tests.support.protos import message_set, of_edition

Entry = Mapping[str, Any]
"""The body of a POST …/schema; `{"deleted": true}` stands for a DELETE."""

DELETED: Final[Entry] = {"deleted": True}
CLOSED: Final = "closed"
"""The namespace in which clients may not register schemas; others are called by strategy."""
NAMESPACES: Final = (*(s.value for s in Strategy if s is not Strategy.UNDEFINED), CLOSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A topic to be: its namespace, and what is posted to it under ALWAYS_COMPATIBLE."""

    name: str
    namespace: str
    entries: Sequence[Entry]


def entry(definition: str, kind: str = "AVRO", **properties: str) -> Entry:
    """A schema as it is posted."""
    return {"type": kind, "schema": definition, "properties": properties}


def record(*fields: object, **members: object) -> str:
    """An Avro record called A."""
    return json.dumps({"type": "record", "name": "A", "fields": list(fields), **members})


def field(kind: object, name: str = "b", **members: object) -> dict[str, object]:
    """A field of a record."""
    return {"name": name, "type": kind, **members}


def pair(key: str, value: str, *kinds: str, encoding: str = "INLINE") -> Entry:
    """A KEY_VALUE of these definitions and types."""
    key_type, value_type = kinds
    text = f'{{"key": {key}, "value": {value}}}'
    properties = {"key.schema.type": key_type, "value.schema.type": value_type}
    return entry(text, "KEY_VALUE", **properties, **{"kv.encoding.type": encoding})


def _nested(levels: int) -> str:
    return record(x=json.loads("[" * levels + "]" * levels))


def _native(info: SchemaInfo) -> Entry:
    return entry(info.schema, "PROTOBUF_NATIVE")


def _offers(kind: str, *names: str) -> list[Entry]:
    """Schemas that clients of a type come with, each the next version."""
    infos = [to_info(offers_of(SchemaType(kind))[name]) for name in names]
    return [{"type": kind, "schema": i.schema, "properties": dict(i.properties)} for i in infos]


PLAIN_NATIVE: Final = _offers("PROTOBUF_NATIVE", KNOWN)[0]
_GOOD: Final = entry(record())
_MORE: Final = entry(record(field(["null", "int"], default=None)))
_MY_CO: Final = record(namespace="com.my-co")
_DASH: Final = entry(record(namespace="a-b"))
_B: Final = {"type": "record", "name": "B", "fields": []}
_E: Final = {"type": "enum", "name": "E", "symbols": ["A"]}
_ONE: Final = field("int", default=1)
_EITHERS: Final = {"type": "array", "items": ["int", "string"]}
_BIG: Final = 2**63
_OBJECT: Final = '{"type": "object"}'
_OTHER_OBJECT: Final = '{"type":"object","id":"urn:a","properties":{"a":{"type":"integer"}}}'

ORDINARY: Final[Mapping[str, Sequence[Entry]]] = {
    "avro": [_GOOD],
    "avro-versions": _offers("AVRO", KNOWN, "both ways", "backward"),
    "avro-incompatible": _offers("AVRO", KNOWN, "neither"),
    "json": _offers("JSON", KNOWN, "both ways"),
    "protobuf": _offers("PROTOBUF", KNOWN, "both ways"),
    "native": _offers("PROTOBUF_NATIVE", KNOWN, "field"),
    "pair-inline": _offers("KEY_VALUE", KNOWN, "both ways"),
    "pair-separated": [pair(record(), record(), "AVRO", "JSON", encoding="SEPARATED")],
    "string": [entry("", "STRING")],
    "long": [entry("", "INT64")],
    "bytes": [entry("", "BYTES")],
    "mended": [_DASH, DELETED, _GOOD],
    "restored": [_GOOD, DELETED, _GOOD, _MORE],
    "other-type": [_GOOD, entry("", "STRING")],
    "alias": [entry(record(aliases=["a-b.Old"]))],
    "logical": [entry(record(field({"type": "long", "logicalType": "timestamp-millis"})))],
    "numbers": [entry(record(limit=1.5, least=-(2**63), list=[1, None, {"a": 1e300}]))],
}
HAZARDS: Final[Mapping[str, Sequence[Entry]]] = {
    "namespace-latest": [entry(_MY_CO)],
    "namespace-twice": [entry(_MY_CO), entry(record(_ONE, namespace="com.my-co"))],
    "namespace-older": [_DASH, _GOOD],
    "namespace-newer": [_GOOD, _DASH],
    "namespace-middle": [_GOOD, _DASH, _MORE],
    "namespace-nested": [entry(record(field({**_B, "namespace": "1x"})))],
    "namespace-enum": [entry(record(field(["null", {**_E, "namespace": "a..b"}])))],
    "namespace-full-name": [entry('{"type": "record", "name": "com.my-co.A", "fields": []}')],
    "namespace-end": [entry(record(namespace="a."))],
    "namespace-json": [entry(_MY_CO, "JSON")],
    "namespace-protobuf": [entry(_MY_CO, "PROTOBUF")],
    "number-record": [entry(record(limit=_BIG))],
    "number-older": [entry(record(limit=-_BIG - 1)), _MORE],
    "number-array": [entry(record(field({"type": "array", "items": "int", "limit": _BIG})))],
    "number-map": [entry(record(field({"type": "map", "values": "int", "limit": [_BIG]})))],
    "number-list": [entry(record(limit={"a": [1, {"b": _BIG}]}))],
    "number-field": [entry(record(field("int", limit=_BIG)))],
    "number-enum": [entry(record(field({**_E, "limit": _BIG})))],
    "reference": [entry(record(field(_B), field(".B", "c")))],
    "reference-object": [entry(record(field(_B), field({"type": ".B"}, "c")))],
    "default": [entry(record(field(["int", "null"], default=None)))],
    "default-newer": [_GOOD, entry(record(field(["int", "null"], default=None)))],
    "default-record": [entry(record(field([_B, "null"], default=None)))],
    "default-nested": [entry(record(field(_EITHERS, default=["a"])))],
    "json-object": [entry(_OBJECT, "JSON")],
    "json-objects": [entry(_OBJECT, "JSON"), entry(_OTHER_OBJECT, "JSON")],
    "json-newer": [entry(record(), "JSON"), entry(_OBJECT, "JSON")],
    "json-broken": [entry('{"type": "record", "name": "A"}', "JSON")],
    "json-union": [entry(f'["null", {record()}]', "JSON")],
    "pair-json-value": [pair('""', _OTHER_OBJECT, "STRING", "JSON")],
    "pair-json-key": [pair(_OBJECT, record(), "JSON", "AVRO", encoding="SEPARATED")],
    "pair-namespace": [pair(record(), _MY_CO, "AVRO", "AVRO")],
    "pair-number": [pair(record(limit=_BIG), '""', "AVRO", "STRING")],
    "pair-default": [pair('""', record(field(["int", "null"], default=None)), "INT32", "AVRO")],
    "pair-deep": [pair('""', _nested(254), "STRING", "AVRO")],
    "pair-deep-enough": [pair('""', _nested(252), "STRING", "AVRO")],
    "pair-older": [pair('""', _MY_CO, "STRING", "AVRO"), pair('""', record(), "STRING", "AVRO")],
    "edition-1": [_native(of_edition(1))],
    "edition-2024": [_native(of_edition(1001))],
    "edition-2026": [_native(of_edition(1002))],
    "edition-unstable": [_native(of_edition(9999))],
    "edition-older": [_native(of_edition(1002)), PLAIN_NATIVE],
    "edition-newer": [PLAIN_NATIVE, _native(of_edition(1002))],
}  # fmt: skip
"""What a broker of 4.0 has stored and one of 4.2 or 5.0 judges otherwise, and what is close."""

NEW: Final[Mapping[str, Sequence[Entry]]] = {
    "dollar": [entry(record().replace('"A"', '"$A"'))],
    "dollar-field": [entry(record(field("int", "a$b", default=1)))],
    "dollar-namespace": [entry(record(namespace="n.$"))],
    "dollar-older": [entry(record(namespace="a$b")), _GOOD],
    "dollar-newer": [_GOOD, entry(record(field("int", "$", default=1)))],
    "dollar-json": [entry(record(namespace="n.$"), "JSON")],
    "forward": [entry(record(field("B"), field(_B, "c")))],
    "forward-union": [entry(record(field(["null", "B"]), field(_B, "c")))],
    "object-reference": [entry(record(field(_B), field({"type": "B"}, "c"), namespace="n"))],
    "twice": [entry(record(field(_E), field(_E, "c")))],
    "default": [entry(record(field(["int", "null"], default=None)))],
    "default-older": [entry(record(field(["int", "null"], default=None))), _GOOD],
    "external": [entry("anything", "EXTERNAL")],
    "external-newer": [_GOOD, entry("x", "EXTERNAL")],
    "external-older": [entry("x", "EXTERNAL"), _GOOD],
    "external-half-older": [
        pair('""', '"x"', "STRING", "EXTERNAL"),
        pair('""', record(), "STRING", "AVRO"),
    ],
    "external-half-record": [pair('"x"', record(), "EXTERNAL", "AVRO")],
    "external-half": [pair('""', '"x"', "STRING", "EXTERNAL")],
    "pair-dollar": [pair('""', record(namespace="$"), "STRING", "AVRO")],
    "message-set": [_native(message_set())],
    "native": [PLAIN_NATIVE],
    "avro": [_GOOD, _MORE],
    "mended": [entry(record(namespace="n.$")), DELETED, _GOOD],
}
"""What only newer lines accept, beside ordinary definitions."""


def topics_of(
    histories: Mapping[str, Sequence[Entry]], *, times: int, first: int
) -> Iterator[Wanted]:
    """Each history in so many namespaces, which are taken in turn from the `first` on."""
    turn = itertools.islice(itertools.cycle(NAMESPACES), first % len(NAMESPACES), None)
    for name, entries in histories.items():
        for namespace in itertools.islice(turn, times):
            yield Wanted(name=name, namespace=namespace, entries=entries)


_HALVES: Final = ("key", "value")


def random_topics(seed: int, count: int) -> list[Wanted]:
    """Histories of random cases, two thirds of them made of what differs between lines."""
    streams = (iter(LineCases(seed)), iter(Cases(seed)), iter(LineCases(seed + 1)))
    found: list[Wanted] = []
    for case in itertools.chain.from_iterable(zip(*streams, strict=True)):
        if len(found) == count:
            break
        entries = [*case["existing"], case["candidate"]]
        if not is_for_rest(case) or any(map(_is_hidden, entries)):
            continue
        strategy = str(case["strategy"])
        namespace = strategy if strategy in NAMESPACES else CLOSED
        found.append(Wanted(name=f"random-{len(found)}", namespace=namespace, entries=entries))
    return found


def _is_hidden(one: Entry) -> bool:
    """Whether REST may show a half otherwise than it is stored (Pulsar 4.0.7).

    A half of EXTERNAL that is null looks as an empty one, and so does one of bytes, whatever is
    stored.
    """
    if one.get("type") != "KEY_VALUE":
        return False
    kinds = {
        half: one.get("properties", {}).get(f"{half}.schema.type", "BYTES") for half in _HALVES
    }
    has_null = "EXTERNAL" in kinds.values() and "null" in one["schema"]
    return has_null or any(
        kind in ("BYTES", "NONE") and not re.search(rf'"{half}"\s*:\s*""', one["schema"])
        for half, kind in kinds.items()
    )
