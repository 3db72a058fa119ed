"""Random KEY_VALUE definitions: two halves, and the properties that say what they are."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Callable
from typing import Any, Final

from tests.oracle.json_texts import JsonTexts
from tests.oracle.random_source import Chance

Json = Any
Half = Callable[[str], Json]
"""A definition of a type, as a JSON value."""

_TYPES: Final = (
    *("AVRO",) * 5,
    *("JSON",) * 3,
    *("PROTOBUF", "PROTOBUF_NATIVE", "PROTOBUF_NATIVE"),
    *("STRING", "STRING", "INT32", "INT64", "BYTES", "NONE", "BOOLEAN", "DATE", "TIMESTAMP"),
)
_ODD_TYPES: Final = (
    *("NOPE", "", "avro", "AUTO_CONSUME", "AUTO", "AUTO_PUBLISH", " AVRO", "INT8", "LOCAL_TIME"),
)
_ODD_HALVES: Final[tuple[Json, ...]] = (
    *(None, "", "null", 1, 1.50, True, [], {}, "x", {"a": "<\u2028>'&"}, ["", {}], "\ud800", '"'),
    *("\U0001f600", 10**25, 1e400, -0.0, {"": None}, '{"type":"string"}', "string", '"string"'),
)
_SLIPS: Final = (
    *("", "{}", '{"key":1}', "[]", '{key:"",value:""}', "{'key':'','value':''} ", "x", "null", "{"),
    *('{"value":"","key":""}', '{"key":"","value":"","key":"x"}', '{"key":"";"value"=>""}'),
    *('{"key":,"value":}', '{"key":[1,,2],"value":[,]}', '{"Key":"","value":""}', '"', "{key}"),
)
_PROPERTIES: Final = (
    *("{}", '{"a":"b"}', "x", "", "null", "[]", '{"a":1}', '{"a":null}', '{"a":{}}', '{"a":true}'),
    *("{a:b}", "{'a':'b'}", '{"a":"b","a":"c"}', '{"a":"b"} x', " {} ", "1", '""', "{", "NULL x"),
    *('{"a":[1]}', '{"a":[[true]]}', '{"a":[1,2]}', '{"a":[]}', " ", "//", "/*", "[1]", "nullx"),
    *('{"a":"b",}', '{"a"="b"}', "//\n{}", "{} {}", '{"a":1.50}', "\ufeff{}", '{"a":b}', "true"),
)
_ENCODINGS: Final = ("INLINE", "SEPARATED", "nope", "")
_LENGTHS: Final = (-1, -2, 0, 1, 2, 3, 4, 7, 2**20, -(2**31))
"""No larger ones: what a broker then answers hangs on the size of its heap."""


class KeyValues:
    """Pairs drawn from `chance`; a half's own definition comes from `half`."""

    def __init__(self, chance: Chance, half: Half) -> None:
        self.chance = chance
        self.half = half
        self.texts = JsonTexts(chance)
        self.types = ("STRING", "STRING")

    def renew(self) -> None:
        """Begin with another pair of types."""
        self.types = (self.chance.choice(_TYPES), self.chance.choice(_TYPES))

    def entry(self, odd: float) -> dict[str, Any]:
        """A definition as admin REST takes it."""
        chance = self.chance
        properties: dict[str, str] = {}
        halves: dict[str, Json] = {}
        for name, usual in zip(("key", "value"), self.types, strict=True):
            kind = chance.choice(_TYPES) if chance.maybe(0.06) else usual
            kind = chance.choice(_ODD_TYPES) if chance.maybe(odd * 0.1) else kind
            if chance.maybe(0.97) or kind not in {"BYTES", "STRING"}:
                properties[f"{name}.schema.type"] = kind
            if chance.maybe(odd * 0.2):
                properties[f"{name}.schema.properties"] = chance.choice(_PROPERTIES)
            halves[name] = self._half(kind, odd)
        if chance.maybe(0.5):
            properties["kv.encoding.type"] = chance.choice(_ENCODINGS)
        if chance.maybe(odd * 0.1):
            properties[chance.choice(("key.schema.name", "value.schema.name", "x"))] = "n"
        return {"type": "KEY_VALUE", "schema": self._text(halves, odd), "properties": properties}

    def raw(self, entry: dict[str, Any]) -> dict[str, Any]:
        """The same as the bytes that a client sends, with lengths that need not fit."""
        chance = self.chance
        halves = [chance.choice((b"", b"null", b'"int"', b"\xff", b"{}")) for _ in range(2)]
        lengths = [len(half) for half in halves]
        if chance.maybe(0.6):
            lengths[chance.randrange(2)] = chance.choice(_LENGTHS)
        # Text in the place of a length would ask for more than a heap holds.
        halves = [half[: max(0, n)] for n, half in zip(lengths, halves, strict=True)]
        data = b"".join(struct.pack(">i", n) + h for n, h in zip(lengths, halves, strict=True))
        data = chance.choice((data, data, data + b"x", data[:-1], data[:3]))
        return {**entry, "schema": base64.b64encode(data).decode(), "encoding": "b64"}

    def _half(self, kind: str, odd: float) -> Json:
        chance = self.chance
        if chance.maybe(odd * 0.1):
            return chance.choice(_ODD_HALVES)
        if kind not in {"AVRO", "JSON", "PROTOBUF", "PROTOBUF_NATIVE"}:
            return ""
        value = self.half(kind)
        return json.dumps(value) if chance.maybe(odd * 0.05) else value

    def _text(self, halves: dict[str, Json], odd: float) -> str:
        chance = self.chance
        if chance.maybe(odd * 0.1):
            return chance.choice(_SLIPS)
        if chance.maybe(odd * 0.03):
            return self.texts.deep(halves)
        if chance.maybe(0.1):
            halves = {"x": 1, **halves}
        return self.texts.written(halves, odd, lenient=True)
