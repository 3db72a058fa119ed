"""Messages whose field `secret` holds a canary, in every form and of every type."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

import fastavro

from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.kernel.key_value.wire_format import join_one
from tests.support.proto_rows import message_class
from tests.support.protos import order
from tests.support.states import field, info, pair, record

CANARY: Final = "Qx7ZkW9vJ"
DIGITS: Final = 918273645546
_WINDOW: Final = 5

Definition = Any
"""JSON of a definition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Canaries:
    """`written` wrote `payloads`; `proposed` and `other` refuse some that can be read."""

    written: SchemaInfo
    proposed: SchemaInfo
    other: SchemaInfo
    payloads: tuple[bytes, ...]


def traces() -> frozenset[str]:
    """What a text holds if it holds a piece of the canary in whatever form."""
    found = {str(DIGITS)[:-2], f"{DIGITS:x}", f"{DIGITS * 100:x}"}
    for at in range(len(CANARY) - _WINDOW + 1):
        piece = CANARY[at : at + _WINDOW]
        data = piece.encode()
        found |= {piece, data.hex(), data.hex().upper(), data.hex(" ")}
        found |= {"".join(f"\\u{ord(one):04x}" for one in piece)}
        found |= {"".join(f"\\x{ord(one):02x}" for one in piece)}
    for before in range(3):
        coded = base64.b64encode(b"\0" * before + CANARY.encode()).decode()
        found.add(coded[4 if before else 0 :][:8])
    return frozenset(found)


_DECIMAL: Final = {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 2}
TYPES: Final[Mapping[str, tuple[Definition, Any]]] = {
    "string": ("string", CANARY),
    "bytes": ("bytes", CANARY.encode()),
    "fixed": ({"type": "fixed", "name": "F", "size": len(CANARY)}, CANARY.encode()),
    "enum": ({"type": "enum", "name": "E", "symbols": ["OTHER", CANARY]}, CANARY),
    "array": ({"type": "array", "items": "string"}, [CANARY]),
    "map": ({"type": "map", "values": "string"}, {CANARY: CANARY}),
    "record": (record(field("deep"), name="Deep"), {"deep": CANARY}),
    "nullable": (["null", "string"], CANARY),
    "union": (["bytes", "string"], CANARY),
    "long": ("long", DIGITS),
    "double": ("double", DIGITS + 0.5),
    "timestamp": ({"type": "long", "logicalType": "local-timestamp-millis"}, DIGITS),
    "decimal": (_DECIMAL, Decimal(DIGITS)),
}
"""Of Avro, and a value of each."""


def _definition(kind: Definition, *kinds: str, secret: bool = True) -> dict[str, Any]:
    """With a secret at every kind of place."""
    again = kind["name"] if isinstance(kind, dict) and "name" in kind else kind
    names = [field("secret", kind)] if secret else []
    customer = record(field("name"), field("secret", again if secret else kind), name="Customer")
    return record(
        field("id"),
        *names,
        field("customer", customer),
        field("attrs", {"type": "map", "values": "Customer"}),
        field("list", {"type": "array", "items": "Customer"}),
        field("either", ["null", "Customer", "string"]),
        field("parent", ["null", "Order"], default=None),
        field("kind", {"type": "enum", "name": "Kind", "symbols": list(kinds)}),
    )


def _value(secret: Any, kind: str, *, deep: bool = True) -> dict[str, Any]:  # noqa: ANN401
    customer = {"name": "somebody", "secret": secret}
    return {
        "id": "1",
        "secret": secret,
        "customer": customer,
        "attrs": {"k": customer},
        "list": [customer, customer],
        "either": customer,
        "parent": _value(secret, "A", deep=False) if deep else None,
        "kind": kind,
    }


def of_avro(name: str) -> Canaries:
    """AVRO: broken messages too, whose bytes may come to stand in any field."""
    kind, secret = TYPES[name]
    definition = _definition(kind, "A", "B")
    whole = [_encoded(definition, _value(secret, one)) for one in "AB"]
    whole.append(_encoded("string", CANARY))  # of another schema, which has the secret first
    return Canaries(
        written=info(definition),
        proposed=info(_definition(_fewer(kind), "A")),
        other=info(_definition(_fewer(kind), "C", secret=False)),
        payloads=tuple(_broken(whole)),
    )


def of_json(name: str) -> Canaries:
    """JSON: values of other types, and members that nobody knows, too."""
    kind, secret = TYPES[name]
    plain = _plain(secret)
    good = _value(plain, "B")
    del good["either"]
    return Canaries(
        written=info(_definition(kind, "A", "B"), SchemaType.JSON),
        proposed=info(_definition(_fewer(kind), "A"), SchemaType.JSON),
        other=info(_definition(_fewer(kind), "C", secret=False), SchemaType.JSON),
        payloads=tuple(_texts(good, plain)),
    )


def of_old_json(name: str) -> Canaries:
    """The same in the old form of JSON's definitions."""
    texts = of_json(name)
    kind = _SIMPLE.get(name, {"type": "any"})
    schemas = (_old_form(kind, symbols) for symbols in (["A", "B"], ["A"], ["C"]))
    written, proposed, other = (info(one, SchemaType.JSON) for one in schemas)
    return replace(texts, written=written, proposed=proposed, other=other)


def of_text() -> Canaries:
    """JSON that a STRING schema wrote: it says nothing of fields."""
    texts = of_json("string")
    return replace(texts, written=SchemaInfo(type=SchemaType.STRING))


def of_pairs(name: str, half: str) -> Canaries:
    """KEY_VALUE, INLINE: `half` has the secrets."""
    value, kind = (of_json(name), "JSON") if half == "key" else (of_avro(name), "AVRO")

    def made(one: SchemaInfo) -> SchemaInfo:
        definition = json.loads(one.schema)
        other = record(field("secret"), field("id"), name="Key")
        if half == "key":
            return pair(definition, other, kind, "JSON")
        return pair(other, definition, "JSON", kind)

    other_half = json.dumps({"secret": CANARY, "id": "1"}).encode()
    payloads = [
        join_one(each, other_half) if half == "key" else join_one(other_half, each)
        for each in value.payloads
    ]
    return Canaries(
        written=made(value.written),
        proposed=made(value.proposed),
        other=made(value.other),
        payloads=(*payloads, *_broken(payloads[:1])),
    )


PROTO_TYPES: Final[Mapping[str, tuple[str, str, Any]]] = {
    "string": ("string secret = 2;", "", CANARY),
    "bytes": ("bytes secret = 2;", "", CANARY.encode()),
    "optional": ("optional string secret = 2;", "", CANARY),
    "oneof": ("oneof choice { string secret = 2; string other = 9; }", "", CANARY),
    "enum": ("Secret secret = 2;", f"enum Secret {{ NONE = 0; {CANARY} = 1; }}", 1),
    "repeated": ("repeated string secret = 2;", "", [CANARY]),
    "packed": ("repeated int64 secret = 2;", "", [DIGITS, DIGITS]),
    "map": ("map<string, string> secret = 2;", "", {CANARY: CANARY}),
    "int64": ("int64 secret = 2;", "", DIGITS),
    "sint64": ("sint64 secret = 2;", "", DIGITS),
    "fixed64": ("fixed64 secret = 2;", "", DIGITS),
    "double": ("double secret = 2;", "", DIGITS + 0.5),
}
"""Of Protobuf: a field, what is defined beside it, and a value."""


_UNKNOWN: Final = b"\xba\x06" + bytes([len(CANARY)]) + CANARY.encode()
"""A field of a number that no definition has."""


def _proto(name: str, last: str, *, customer: str = "Customer customer = 3;") -> SchemaInfo:
    secret, beside, _ = PROTO_TYPES[name]
    body = (
        f"string id = 1; {secret} {customer} map<string, Customer> attrs = 4;"
        f" repeated Customer list = 5; Order parent = 6; oneof either {{ Customer one = 7;"
        f" string text = 8; }} {last}"
    )
    return order(body, more=f"message Customer {{ string name = 1; {secret} }} {beside}")


def of_protobuf(name: str) -> Canaries:
    """PROTOBUF_NATIVE: the reader refuses text that is not UTF-8."""
    written = _proto(name, "bytes extra = 20;")
    return Canaries(
        written=written,
        proposed=_proto(name, "string extra = 20;"),
        other=_proto(name, "string extra = 20;", customer="bytes customer = 3;"),
        payloads=tuple(_proto_payloads(written, PROTO_TYPES[name][2])),
    )


def of_protobuf_as_bytes(name: str) -> Canaries:
    """A field whose bytes were no message to those who wrote it."""
    found = of_protobuf(name)
    written = _proto(name, "bytes extra = 20;", customer="bytes customer = 3;")
    return replace(found, written=written)


def of_protobuf_in_avro_form() -> Canaries:
    """PROTOBUF: messages within the message are bytes to those who read."""
    found = of_protobuf("string")
    kinds = {1: "STRING", 2: "STRING", 8: "STRING", 20: "BYTES"}
    names = ("id", "secret", "customer", "attrs", "list", "parent", "one", "text")
    needed = {"number": 21, "name": "needed", "type": "STRING", "label": "LABEL_REQUIRED"}
    parsed = [
        {
            "number": number,
            "name": name,
            "type": kinds.get(number, "MESSAGE"),
            "label": "LABEL_REPEATED" if number in {4, 5} else "LABEL_OPTIONAL",
        }
        for number, name in ({**dict(enumerate(names, 1)), 20: "extra"}).items()
    ]

    def told(*infos: object) -> SchemaInfo:
        properties = {"__PARSING_INFO__": json.dumps(infos)}
        return info(_definition("string", "A"), SchemaType.PROTOBUF, properties)

    refusing = told(*parsed, needed)
    return replace(found, written=told(*parsed), proposed=refusing, other=refusing)


def _proto_payloads(written: SchemaInfo, secret: Any) -> Iterator[bytes]:  # noqa: ANN401
    made: Any = message_class(written)()
    _fill(made, secret)
    _fill(made.parent, secret)
    for extra in (b"", b"\xff"):
        made.extra = extra
        whole = made.SerializeToString()
        yield from _broken([whole])
        yield whole + _UNKNOWN


def _fill(into: Any, secret: Any) -> None:  # noqa: ANN401
    into.id = "1"
    for message in (into, into.customer, into.attrs["k"], into.list.add(), into.one):
        if isinstance(secret, list):
            message.secret.extend(secret)
        elif isinstance(secret, dict):
            message.secret.update(secret)
        else:
            message.secret = secret


def _encoded(definition: Definition, value: Any) -> bytes:  # noqa: ANN401
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(definition), value)
    return out.getvalue()


def _broken(whole: Sequence[bytes]) -> Iterator[bytes]:
    """The messages, cut anywhere, or with more behind them."""
    for each in whole:
        yield each
        yield from (each[:end] for end in range(0, len(each), 3))
        yield each + b"\x01"
        yield each + each
        yield each[:-1] + b"\xff\xff"


def _texts(good: dict[str, Any], secret: Any) -> Iterator[bytes]:  # noqa: ANN401
    odd: list[Any] = [
        {**good, "kind": "A"},
        good,
        CANARY,
        [CANARY, DIGITS],
        DIGITS,
        {**good, "SECRET": CANARY},
        {**good, "customer": CANARY},
        {**good, "customer": [CANARY, {"secret": CANARY, "other": {"x": CANARY}}]},
        {**good, "attrs": CANARY},
        {**good, "attrs": {"k": [DIGITS]}},
        {**good, "list": [CANARY, [CANARY]]},
        {**good, "either": CANARY},
        {**good, "parent": CANARY},
        {**good, "parent": {"parent": [CANARY]}},
        {**good, "secret": {CANARY: [CANARY]}},
        {**good, "secret": [[CANARY], CANARY]},
        {**good, "unknown": {"x": [CANARY]}},
        {"id": "1", "secret": secret},
    ]
    for each in odd:
        yield json.dumps(each).encode()
    text = json.dumps(good)
    escaped = "".join(f"\\u{ord(one):04x}" for one in CANARY)
    yield text.replace(CANARY, escaped).encode()
    yield text.replace('"secret"', f'"secret": "{CANARY}", "secret"').encode()
    yield from (each.encode() for each in (f"{text} {CANARY}", text[:-1], f'"{CANARY}', CANARY))
    yield text.replace(CANARY, CANARY + "\x00").encode() + b"\xff"


def _plain(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return int(value) if isinstance(value, Decimal) else value


def _fewer(kind: Definition) -> Definition:
    """An enum without the canary."""
    if isinstance(kind, dict) and "symbols" in kind:
        return {**kind, "symbols": ["OTHER"]}
    return kind


_SIMPLE: Final = {
    "string": {"type": "string"},
    "long": {"type": "integer"},
    "double": {"type": "number"},
    "enum": {"type": "string", "enum": ["OTHER", CANARY]},
    "array": {"type": "array", "items": {"type": "string"}},
    "map": {"type": "object", "additionalProperties": {"type": "string"}},
    "record": {"type": "object", "properties": {"deep": {"type": "string"}}},
}


def _old_form(secret: Definition, kinds: list[str]) -> Definition:
    customer = {"type": "object", "properties": {"name": {"type": "string"}, "secret": secret}}
    return {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "secret": secret,
            "customer": customer,
            "attrs": {"type": "object", "additionalProperties": customer},
            "list": {"type": "array", "items": customer},
            "parent": {"type": "object", "properties": {"secret": secret}},
            "kind": {"type": "string", "enum": kinds},
        },
    }
