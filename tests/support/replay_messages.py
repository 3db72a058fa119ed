"""Messages of every form for replays: some are good, some are broken, some the reader refuses."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from random import Random
from typing import Any, Final

import fastavro

from gitops.model.schema import SchemaInfo, SchemaType
from tests.support.proto_rows import broken, fill, message_class
from tests.support.protos import order
from tests.support.states import info, record

_KIND: Final = {"type": "enum", "name": "Kind", "symbols": ["A", "B", "C"]}
_SIZE: Final = {"type": "record", "name": "Size", "fields": [{"name": "x", "type": "long"}]}
_LARGE: Final = 2**40 + 1
"""No float holds it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """Two versions of a schema, and messages that the older one wrote: pairs of key, payload."""

    written: SchemaInfo
    proposed: SchemaInfo
    messages: tuple[tuple[bytes | None, bytes | None], ...]


def forms(random: Random, rows: int) -> dict[str, Form]:
    """By name; a few payloads are missing, some are no payload of any schema."""
    return {
        "AVRO": _avro(random, rows),
        "JSON": _json(random, rows),
        "PROTOBUF_NATIVE": _protobuf(random, rows),
        "KEY_VALUE": _pairs(random, rows),
    }


def _definition(*symbols: str, number: str) -> dict[str, object]:
    sizes = [_SIZE, {"type": "map", "values": number}]
    return record(
        {"name": "id", "type": number},
        {"name": "kind", "type": {**_KIND, "symbols": list(symbols)}},
        {"name": "sizes", "type": {"type": "array", "items": sizes}},
    )


_OLD: Final = _definition("A", "B", "C", number="long")
_NEW: Final = _definition("A", "B", number="float")


def _value(random: Random) -> dict[str, Any]:
    sizes = [{"x": _LARGE}, {"x": 1}, {"a": _LARGE}, {"x": 2, "b": _LARGE}]
    return {
        "id": random.choice([1, 2, _LARGE]),
        "kind": random.choice("ABC"),
        "sizes": random.choices(sizes, k=random.randrange(3)),
    }


def _avro(random: Random, rows: int) -> Form:
    def payload() -> bytes:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, _OLD, _value(random))
        return out.getvalue()

    return _form(info(_OLD), info(_NEW), [broken(payload(), random) for _ in range(rows)], random)


def _json(random: Random, rows: int) -> Form:
    payloads = [broken(json.dumps(_value(random)).encode(), random) for _ in range(rows)]
    return _form(info(_OLD, SchemaType.JSON), info(_NEW, SchemaType.JSON), payloads, random)


def _protobuf(random: Random, rows: int) -> Form:
    body = "repeated {0} n = 1; map<string, Order> by = 2; optional Order more = 3; {1} s = 4;"
    old = order(body.format("int64", "string"))
    new = order(body.format("int32", "bytes") + "string kind = 5;")
    made = message_class(old)
    payloads = [broken(fill(made(), random).SerializeToString(), random) for _ in range(rows)]
    return _form(old, new, payloads, random)


def _pairs(random: Random, rows: int) -> Form:
    avro = _avro(random, rows)
    types = {"key.schema.type": "STRING", "value.schema.type": "AVRO"}
    halves = {**types, "kv.encoding.type": "SEPARATED"}
    old, new = (
        info({"key": "", "value": one}, SchemaType.KEY_VALUE, halves) for one in (_OLD, _NEW)
    )
    keys = [b"k", b"other", b"\xff", None]
    messages = tuple((random.choice(keys), payload) for _, payload in avro.messages)
    return Form(written=old, proposed=new, messages=messages)


def _form(old: SchemaInfo, new: SchemaInfo, payloads: list[bytes], random: Random) -> Form:
    messages = tuple((None, each if random.random() > 0.02 else None) for each in payloads)
    return Form(written=old, proposed=new, messages=messages)
