"""Random cases for a broker to decide: types, histories, strategies and modes mixed."""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Iterator
from typing import Any, Final

from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.schema import SchemaType
from gitops.schemas.types import AVRO_DEFINED, DEFINED_TYPES
from tests.oracle.avro_changes import AvroChanges
from tests.oracle.avro_schemas import AvroSchemas, Json
from tests.oracle.jackson_schemas import JacksonSchemas
from tests.oracle.json_texts import JsonTexts
from tests.oracle.json_trees import spoilt
from tests.oracle.key_values import KeyValues
from tests.oracle.protobuf_native_cases import Envelopes
from tests.oracle.random_source import Chance
from tests.oracle.recorded_cases import recorded_cases

STRATEGIES: Final = tuple(strategy.value for strategy in SchemaCompatibilityStrategy)
MODES: Final = ("producer",) * 4 + ("compat", "consumer", "subscribe", "version", "lookup")
_PLAIN: Final = tuple(t.value for t in SchemaType if t not in DEFINED_TYPES)
_STRUCT: Final = frozenset(t.value for t in AVRO_DEFINED)
_NATIVE: Final = "PROTOBUF_NATIVE"
_TYPES: Final = (
    *("AVRO",) * 12,
    *("JSON",) * 6,
    *(_NATIVE,) * 5,
    *("KEY_VALUE",) * 5,
    *("PROTOBUF", "PROTOBUF", "plain"),
)
_ODDITIES: Final = (0.0, 0.0, 0.0, 0.0, 0.0, 0.1, 0.3, 1.0)
_PLAIN_TEXTS: Final = ("", "", "", "", "", "null", "null", "x", '""', " ", "NULL", "{}", "null ")
_RAW: Final = (
    *(b"\xff", b"\xed\xa0\x80", b"\xed\xa0", b"\xf0\x9f", b"\xc0\x80", b"\x00", b"\xe2\x82"),
    *(b"\xef\xbb\xbf", b"\xc3"),
)
_RECORDED_SHARE: Final = 0.25
_MANY_BRACKETS: Final = 300


class Cases:
    """An endless stream of cases, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.chance = Chance(seed)
        self.schemas = AvroSchemas(self.chance)
        self.changes = AvroChanges(self.schemas)
        self.envelopes = Envelopes(self.chance)
        self.jackson = JacksonSchemas(self.chance)
        self.texts = JsonTexts(self.chance)
        self.pairs = KeyValues(self.chance, self._value)
        self.odd = 0.0
        self.bases: dict[str, Json] = {}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        number = 0
        while True:
            yield self._case(f"{self.seed}-{number}")
            number += 1

    def _case(self, name: str) -> dict[str, Any]:
        chance = self.chance
        self.odd = chance.choice(_ODDITIES)
        self.schemas.renew(self.odd)
        self.envelopes.renew()
        self.pairs.renew()
        self.bases = {}
        kind, schemas = self._schemas()
        case: dict[str, Any] = {
            "id": name,
            "tag": f"random:{kind.lower()}",
            "mode": chance.choice(MODES),
            "strategy": chance.choice(STRATEGIES),
            "existing": schemas[:-1],
            "candidate": schemas[-1],
        }
        if case["mode"] == "subscribe":
            case["idle"] = chance.maybe(0.5)
        return case

    def _schemas(self) -> tuple[str, list[dict[str, Any]]]:
        """The history with the candidate behind it, and the type of most of it."""
        chance = self.chance
        if chance.maybe(_RECORDED_SHARE):
            entries = self._recorded()
            kind = entries[-1]["type"]
        else:
            kind = self._type()
            entries = [self._entry(kind) for _ in range(self._length() + 1)]
        if len(entries) > 1 and chance.maybe(0.1):
            entries[-1] = copy.deepcopy(chance.choice(entries[:-1]))
            if chance.maybe(0.5):
                entries[-1] = self._touched(entries[-1])
        *existing, candidate = entries
        return kind, [*map(self._kept, existing), candidate]

    def _length(self) -> int:
        return self.chance.choice((0, 1, 1, 1, 1, 1, 2, 2, 3, 4, 5, 6))

    def _type(self) -> str:
        kind = self.chance.choice(_TYPES)
        return self.chance.choice(_PLAIN) if kind == "plain" else kind

    def _kept(self, entry: dict[str, Any]) -> dict[str, Any]:
        """An entry of the history: at times a tombstone, or bytes that no text stands for."""
        chance = self.chance
        if chance.maybe(0.05):
            return {"deleted": True}
        if not chance.maybe(self.odd * 0.15):
            return entry
        if entry["type"] == "KEY_VALUE":
            return self.pairs.raw(entry)
        native = entry["type"] == _NATIVE and chance.maybe(0.7)
        data = self.envelopes.data() if native else self._bytes(entry["schema"])
        return {**entry, "schema": base64.b64encode(data).decode(), "encoding": "b64"}

    def _bytes(self, text: str) -> bytes:
        data = text.encode("utf-8", "replace")
        at = self.chance.randrange(len(data) + 1)
        return data[:at] + self.chance.choice(_RAW) + data[at + self.chance.randrange(2) :]

    def _entry(self, usual: str) -> dict[str, Any]:
        chance = self.chance
        kind = self._type() if chance.maybe(0.03) else usual
        if kind == "KEY_VALUE":
            return self.pairs.entry(self.odd)
        properties = {"owner": chance.choice("ab")} if chance.maybe(0.15) else {}
        return {"type": kind, "schema": self._text(kind), "properties": properties}

    def _text(self, kind: str) -> str:
        chance = self.chance
        if kind == _NATIVE:
            return self.envelopes.text()
        if kind not in _STRUCT:
            return chance.choice(_PLAIN_TEXTS)
        value = self._value(kind)
        if chance.maybe(self.odd * 0.03):
            return self.texts.deep(value)
        return self.texts.written(value, self.odd)

    def _value(self, kind: str) -> Json:
        """A definition that needs one: the next step from what was there before."""
        chance = self.chance
        if kind == _NATIVE:
            return self.envelopes.value()
        if kind == "JSON" and chance.maybe(0.15):
            return self.jackson.schema(self.odd)
        if "avro" not in self.bases:
            self.bases["avro"] = self._first()
        value = self.changes.changed(self.bases["avro"])
        if chance.maybe(0.7):
            self.bases["avro"] = value
        return value

    def _first(self) -> Json:
        return self.schemas.record() if self.chance.maybe(0.85) else self.schemas.schema()

    # ------------------------------------------------------------ recorded ones, changed

    def _recorded(self) -> list[dict[str, Any]]:
        """A recorded case, with a change or two."""
        chance = self.chance
        case = chance.choice(recorded_cases())
        entries = [*case["existing"], case["candidate"]]
        kept = [dict(one) for one in entries if "deleted" not in one and "encoding" not in one]
        for _ in range(chance.choice((0, 1, 1, 1, 2))):
            at = chance.randrange(len(kept))
            kept[at] = self._touched(kept[at])
        if chance.maybe(0.2):
            chance.shuffle(kept)
        return kept

    def _touched(self, entry: dict[str, Any]) -> dict[str, Any]:
        """The entry with a change that people make, or one that nobody would."""
        chance = self.chance
        if chance.maybe(0.04):
            return {**entry, "type": self._type()}
        value = None if chance.maybe(0.05) else _read(entry["schema"])
        if value is None:
            return {**entry, "schema": self.texts.slipped(entry["schema"])}
        if entry["type"] in _STRUCT and chance.maybe(0.85):
            value = self.changes.changed(value)
        elif chance.maybe(0.6):
            value = spoilt(chance, value)
        return {**entry, "schema": self.texts.written(value, self.odd)}


def _read(text: str) -> Json:
    """The value, None where there is none that could be changed."""
    if text.count("[") + text.count("{") > _MANY_BRACKETS:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None
