"""Random cases for a broker to decide: types, histories, strategies and modes mixed."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from random import Random
from typing import Any, Final

from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.schema import AUTO_TYPES, AVRO_DEFINED, DEFINED_TYPES, SchemaType
from tests.oracle.avro_schemas import AvroSchemas, Json
from tests.oracle.protobuf_native_cases import Envelopes

_STRATEGIES: Final = tuple(strategy.value for strategy in SchemaCompatibilityStrategy)
_MODES: Final = ("producer",) * 4 + ("compat", "consumer", "subscribe", "version", "lookup")
_PLAIN: Final = tuple(t.value for t in SchemaType if t not in DEFINED_TYPES | AUTO_TYPES)
_STRUCT: Final = tuple(sorted(t.value for t in AVRO_DEFINED))
_NATIVE: Final = "PROTOBUF_NATIVE"
_TYPES: Final = (
    *("AVRO",) * 6,
    *("JSON",) * 4,
    *(_NATIVE,) * 3,
    *("PROTOBUF", "KEY_VALUE", "KEY_VALUE", "plain"),
)
_HALVES: Final = (*_STRUCT, "AVRO", "AVRO", _NATIVE, _NATIVE, "STRING", "INT32", "BYTES", "NOPE")
_JACKSON: Final = (
    '{"type":"object","id":"x","properties":{"a":{"type":"string"}}}',
    '{"type":"object","id":"y"}',
    '{"type":"object","properties":{"a":{"type":"integer","required":true}}}',
    '{"id":"x","type":"any"}',
    '{"type":"array","items":{"type":"zzz"}}',
    '{"type":"any","required":["a"]}',
    '{"type":"Object"}',
    '["object",{"id":"x"}]',
    '["object"]',
    "null",
    "",
)
_SLIPS: Final = ("", "{}", '{"key":1}', "[]", '{key:"",value:""}', "{'key':'','value':''} ", "x")


class Cases:
    """An endless stream of cases, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = Random(seed)  # noqa: S311 - it is to be repeated, not to be secret
        self.schemas = AvroSchemas(self.random)
        self.envelopes = Envelopes(self.random)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        number = 0
        while True:
            yield self._case(f"{self.seed}-{number}")
            number += 1

    def _case(self, name: str) -> dict[str, Any]:
        random = self.random
        kind = self._type()
        self.envelopes.renew()
        base = self.schemas.record() if random.random() < 0.8 else self.schemas.schema()
        case: dict[str, Any] = {
            "id": name,
            "strategy": random.choice(_STRATEGIES),
            "mode": random.choice(_MODES),
            "existing": [self._entry(kind, base) for _ in range(self._length())],
            "candidate": self._definition(self._other_type(kind), base),
        }
        if random.random() < 0.1 and case["existing"]:
            again = random.choice(case["existing"])
            kept = "deleted" in again or "encoding" in again
            case["candidate"] = case["candidate"] if kept else dict(again)
        if case["mode"] == "subscribe":
            case["idle"] = random.random() < 0.5
        return case

    def _length(self) -> int:
        return self.random.choice((0, 1, 1, 1, 1, 2, 3, 4))

    def _type(self) -> str:
        kind = self.random.choice(_TYPES)
        return self.random.choice(_PLAIN) if kind == "plain" else kind

    def _other_type(self, kind: str) -> str:
        return self._type() if self.random.random() < 0.05 else kind

    def _entry(self, kind: str, base: Json) -> dict[str, Any]:
        if self.random.random() < 0.06:
            return {"deleted": True}
        kind = self._other_type(kind)
        if kind == _NATIVE and self.random.random() < 0.1:
            data = base64.b64encode(self.envelopes.data()).decode()
            return {"type": kind, "schema": data, "encoding": "b64", "properties": {}}
        return self._definition(kind, base)

    def _definition(self, kind: str, base: Json) -> dict[str, Any]:
        if kind == "KEY_VALUE":
            return self._pair(base)
        schema = self._text(kind, base)
        return {"type": kind, "schema": schema, "properties": self._properties()}

    def _text(self, kind: str, base: Json) -> str:
        random = self.random
        if kind == _NATIVE:
            return self.envelopes.text()
        if kind == "JSON" and random.random() < 0.12:
            return random.choice(_JACKSON)
        if kind in _STRUCT:
            return self.schemas.text(self.schemas.changed(base))
        return random.choice(("", "", "", "", "null", "x"))

    def _properties(self) -> dict[str, str]:
        return {"owner": self.random.choice("ab")} if self.random.random() < 0.2 else {}

    def _pair(self, base: Json) -> dict[str, Any]:
        random = self.random
        properties = self._properties()
        halves = {}
        for half in ("key", "value"):
            kind = random.choice(_HALVES)
            if random.random() < 0.95:
                properties[f"{half}.schema.type"] = kind
            if random.random() < 0.1:
                properties[f"{half}.schema.properties"] = random.choice(("{}", '{"a":"b"}', "x"))
            halves[half] = self._half(kind, base)
        if random.random() < 0.5:
            properties["kv.encoding.type"] = random.choice(("INLINE", "SEPARATED", "nope"))
        text = json.dumps(halves) if random.random() < 0.95 else random.choice(_SLIPS)
        return {"type": "KEY_VALUE", "schema": text, "properties": properties}

    def _half(self, kind: str, base: Json) -> Json:
        if kind == _NATIVE:
            return self.envelopes.value()
        return self.schemas.changed(base) if kind in _STRUCT else ""
