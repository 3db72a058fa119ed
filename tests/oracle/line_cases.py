"""Random cases, weighted to what one broker line decides otherwise than another."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any, Final

from tests.oracle.avro_changes import AvroChanges
from tests.oracle.avro_schemas import AvroSchemas
from tests.oracle.cases import MODES, STRATEGIES
from tests.oracle.jackson_schemas import JacksonSchemas
from tests.oracle.json_texts import JsonTexts
from tests.oracle.json_trees import spoilt
from tests.oracle.line_schemas import LineSchemas
from tests.oracle.protobuf_native_cases import Envelopes, Pair
from tests.oracle.random_source import Chance

Json = Any

_NATIVE: Final = "PROTOBUF_NATIVE"
_TYPES: Final = (
    *("AVRO",) * 14,
    *("JSON",) * 7,
    *("KEY_VALUE",) * 7,
    *("PROTOBUF", "PROTOBUF", _NATIVE, _NATIVE, _NATIVE, "EXTERNAL", "EXTERNAL"),
)
_HALVES: Final = (
    *("AVRO",) * 4,
    *("JSON", "JSON", "PROTOBUF", _NATIVE, "EXTERNAL", "STRING", "INT32", "BYTES", "nope"),
)
_OTHERS: Final = ("STRING", "BYTES", "NONE", "INT32", "EXTERNAL", "AVRO", "JSON")
_EDITIONS: Final = (
    *(0, 1, 2, 900, 997, 998, 999, 1000, 1001, 1002, 1003, 9999, 99997, 99998, 99999),
    *(2147483647, -1, 998, 999, 1000, 1001),
)
_PAIR_LEVELS: Final = (250, 251, 252, 253, 254, 255, 256, 257)
_LONG_DEPTHS: Final = (240, 250, 255, 300, 330, 390)
_EXTERNAL_TEXTS: Final = ("", "x", "{}", "\u00e9", "null", '"int"', "x ", "\ud800")
_JSON_TEXTS: Final = (
    *('{"type":"object"}', '{"type":"object","id":"a"}', "{}", "[]", '""', '"int"', '"nope"', "x"),
    *('{"type":"string"}', '{"type":"any"}', "null", "", " ", "1", '{"type":"object"} x', "{"),
    *('{"type":"record"}', '{"type":"record","name":"R"}', '["null","null"]', '{"type":"array"}'),
    *('{"type":"record","name":"R","fields":[{"name":"a","type":"nope"}]}', "true", "[[]]"),
    *('{"type":"object","id":"b","properties":{"a":{"type":"integer"}}}', '{"type":["null"]}'),
    '{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"a","type":"int"}]}',
)


class LineEnvelopes(Envelopes):
    """Descriptors with editions and message sets."""

    def _syntax(self) -> list[Pair]:
        random = self.random
        if random.random() < 0.3:
            return super()._syntax()
        syntax = random.choice((b"editions",) * 4 + (b"proto2", b"proto3"))
        pairs: list[Pair] = [(12, syntax)]
        if syntax == b"editions" and random.random() < 0.95:
            pairs.append((14, random.choice(_EDITIONS)))
        if random.random() < 0.3:
            pairs.append((8, [(50, [(random.randrange(1, 8), random.randrange(4))])]))
        return pairs

    def _message(self, name: str, scope: str, depth: int) -> list[Pair]:
        pairs = super()._message(name, scope, depth)
        if self.random.random() < 0.15:
            pairs.append((7, [(1, 1)]))
        return pairs


class LineCases:
    """An endless stream of cases, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.chance = Chance(seed)
        self.schemas = LineSchemas(self.chance)
        self.plain = AvroSchemas(self.chance)
        self.changes = AvroChanges(self.plain)
        self.jackson = JacksonSchemas(self.chance)
        self.envelopes = LineEnvelopes(self.chance)
        self.texts = JsonTexts(self.chance)
        self.halves = ("STRING", "STRING")
        self.bases: list[Json] = []

    def __iter__(self) -> Iterator[dict[str, Any]]:
        number = 0
        while True:
            yield self._case(f"lines-{self.seed}-{number}")
            number += 1

    def _case(self, name: str) -> dict[str, Any]:
        chance = self.chance
        self.schemas.renew()
        self.plain.renew(0.0)
        self.envelopes.renew()
        self.halves = (chance.choice(_HALVES), chance.choice(_HALVES))
        self.bases = []
        usual = chance.choice(_TYPES)
        count = chance.choice((0, 0, 1, 1, 1, 1, 2, 2, 3, 4))
        *existing, candidate = [self._entry(usual) for _ in range(count + 1)]
        if existing and chance.maybe(0.1):
            candidate = chance.choice(existing)
        case: dict[str, Any] = {
            "id": name,
            "tag": f"lines:{usual.lower()}",
            "mode": chance.choice(MODES),
            "strategy": chance.choice(STRATEGIES),
            "existing": [{"deleted": True} if chance.maybe(0.06) else one for one in existing],
            "candidate": candidate,
        }
        if case["mode"] == "subscribe":
            case["idle"] = chance.maybe(0.6)
        return case

    def _entry(self, usual: str) -> dict[str, Any]:
        chance = self.chance
        kind = chance.choice(_OTHERS) if chance.maybe(0.04) else usual
        if kind == "KEY_VALUE":
            return self._pair()
        properties = {"p": "q"} if chance.maybe(0.1) else {}
        return {"type": kind, "schema": self._text(kind), "properties": properties}

    def _text(self, kind: str) -> str:
        chance = self.chance
        if kind == _NATIVE:
            return self.envelopes.text()
        if kind == "EXTERNAL":
            return chance.choice(_EXTERNAL_TEXTS)
        if kind not in {"AVRO", "JSON", "PROTOBUF"}:
            return chance.choice(("", "", "", "x"))
        if kind == "JSON" and chance.maybe(0.25):
            return chance.choice(_JSON_TEXTS)
        value = self._value(kind)
        if chance.maybe(0.02):
            return self.texts.deep(value)
        if chance.maybe(0.01):
            return _nested(value, chance.choice(_LONG_DEPTHS))
        return self.texts.written(value, chance.choice((0.0, 0.0, 0.0, 0.1)))

    def _value(self, kind: str) -> Json:
        """A definition: the first, or a step from one before."""
        chance = self.chance
        if kind == _NATIVE:
            return self.envelopes.value()
        if kind == "EXTERNAL":
            return chance.choice(("", "x", {}, None, 1))
        if kind == "JSON" and chance.maybe(0.2):
            return self.jackson.schema(chance.choice((0.0, 0.3)))
        if not self.bases or chance.maybe(0.1):
            value = self.schemas.top()
        else:
            value = self._step(chance.choice(self.bases))
        self.bases.append(value)
        return value

    def _step(self, value: Json) -> Json:
        chance = self.chance
        if chance.maybe(0.25):
            return value
        if chance.maybe(0.1):
            return spoilt(chance, value)
        if chance.maybe(0.12):
            return self.changes.aliased(copy.deepcopy(value))
        if isinstance(value, dict) and isinstance(value.get("fields"), list) and chance.maybe(0.35):
            added = self.schemas.field(chance.choice("efgh"), 2, "")
            fields = list(value["fields"])
            fields.insert(chance.choice((0, len(fields))), added)
            return {**value, "fields": fields}
        return self.changes.changed(value)

    def _pair(self) -> dict[str, Any]:
        chance = self.chance
        properties: dict[str, str] = {}
        values: dict[str, Json] = {}
        for name, usual in zip(("key", "value"), self.halves, strict=True):
            kind = chance.choice(_HALVES) if chance.maybe(0.05) else usual
            properties[f"{name}.schema.type"] = kind
            values[name] = self._half(kind)
        return {"type": "KEY_VALUE", "schema": self._pair_text(values), "properties": properties}

    def _half(self, kind: str) -> Json:
        chance = self.chance
        if kind == "JSON" and chance.maybe(0.15):
            text = chance.choice(_JSON_TEXTS)
            try:
                return json.loads(text)
            except ValueError:
                return text
        if kind in {"AVRO", "JSON", "PROTOBUF", _NATIVE, "EXTERNAL"}:
            return self._value(kind)
        return ""

    def _pair_text(self, values: dict[str, Json]) -> str:
        chance = self.chance
        if chance.maybe(0.12):
            name = chance.choice(("key", "value"))
            deep = _EDGES[chance.randrange(len(_EDGES))](chance.choice(_PAIR_LEVELS))
            rest = {key: value for key, value in values.items() if key != name}
            return f'{{"{name}":{deep},{json.dumps(rest)[1:]}'
        return self.texts.written(values, chance.choice((0.0, 0.0, 0.0, 0.1, 0.5)), lenient=True)


def _nested(value: Json, levels: int) -> str:
    return '{"type":"array","items":' * levels + json.dumps(value) + "}" * levels


_EDGES: Final[tuple[Callable[[int], str], ...]] = (
    lambda levels: _nested("int", levels),
    lambda levels: "[" * levels + "]" * levels,
    lambda levels: (
        '{"type":"record","name":"R","fields":[],"x":' + "[" * levels + "]" * levels + "}"
    ),
    lambda levels: '{"a":' * levels + "1" + "}" * levels,
)
