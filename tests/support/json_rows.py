"""Random pairs of definitions in Avro's form, and JSON that more or less fits them."""

from __future__ import annotations

import base64
import copy
import json
from random import Random
from typing import Any, Final

Definition = Any
"""JSON of a definition."""

_SCALARS: Final[tuple[Definition, ...]] = (
    "null",
    "boolean",
    "int",
    "long",
    "float",
    "double",
    "string",
    "bytes",
    {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
    {"type": "int", "logicalType": "date"},
    {"type": "long", "logicalType": "timestamp-millis"},
    {"type": "long", "logicalType": "local-timestamp-millis"},
    {"type": "int", "logicalType": "time-millis"},
    {"type": "string", "java-class": "java.math.BigDecimal"},
    {"type": "string", "java-class": "java.math.BigInteger"},
    {"type": "string", "java-class": "java.net.URI"},
    {"type": "string", "logicalType": "uuid"},
    {"type": "array", "items": {"type": "int"}, "java-class": "[C"},
    {"type": "int", "java-class": "java.lang.Short"},
    {"type": "int", "java-class": "java.lang.Character"},
)
_PAIR: Final = "org.apache.avro.reflect.Pair"
_KEYS: Final[dict[str, Definition]] = {
    "-1": "int",
    "1.0E10": "double",
    "true": "boolean",
    "2024-02-29": {"type": "int", "logicalType": "date"},
    "2024-01-02T03:04:05Z": {"type": "long", "logicalType": "timestamp-micros"},
    "00000000-0000-0001-0000-000000000002": {"type": "string", "logicalType": "uuid"},
    "c": {"type": "int", "java-class": "java.lang.Character"},
}
_NAMES: Final = ("a", "b", "c", "d", "e")
_WIDER: Final = {"int": "long", "long": "double", "float": "double", "double": "float"}
_WORDS: Final = ("", "x", ":", '":', "ü", "\ud800", "NaN", "2024-02-30", "AQI=", "B", '\\":1', "😀")
_NUMBERS: Final = (0, -1, 7, 2**31, 2**53 + 1, 2**63, 10**400, 1.5, 1e300, 0.1, -0.0)


class Definitions:
    """Makes definitions; the names of types differ within one."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._named = 0

    def any(self, depth: int = 0) -> Definition:
        """A type, a record more often than not at the top."""
        kind = self._random.randrange(9 if depth < 3 else 4)
        match kind:
            case 0 | 1 | 2:
                return copy.deepcopy(self._random.choice(_SCALARS))
            case 3:
                symbols = self._random.sample("ABCD", self._random.randint(1, 4))
                return {"type": "enum", "name": self._name(), "symbols": symbols}
            case 4:
                return {"type": "array", "items": self.any(depth + 1)}
            case 5:
                return {"type": "map", "values": self.any(depth + 1)}
            case 6:
                return {"type": "array", "items": self._pair(depth)}
            case _:
                return self.record(depth)

    def _pair(self, depth: int) -> Definition:
        """What Avro's reflection makes of a map whose keys are no text."""
        key = copy.deepcopy(self._random.choice(tuple(_KEYS.values())))
        fields = [{"name": "key", "type": key}, {"name": "value", "type": self.any(depth + 1)}]
        return {"type": "record", "name": f"{_PAIR}{self._name()}", "fields": fields}

    def record(self, depth: int = 0) -> Definition:
        """A record of up to five fields."""
        name = self._name()
        names = self._random.sample(_NAMES, self._random.randint(0, 5))
        fields = [{"name": one, "type": self._field(depth, name)} for one in names]
        for field in fields:
            if isinstance(field["type"], list) and self._random.random() < 0.7:
                field["default"] = None
            elif field["type"] in {"int", "double"} if isinstance(field["type"], str) else False:
                field["default"] = 3
        return {"type": "record", "name": name, "fields": fields}

    def changed(self, definition: Definition) -> Definition:
        """A later version of it: fields dropped and added, types changed."""
        later = copy.deepcopy(definition)
        self._change(later)
        return later

    def _change(self, node: Definition) -> None:
        if isinstance(node, list):
            for inner in node:
                self._change(inner)
        if not isinstance(node, dict):
            return
        for inner in ("items", "values"):
            self._change(node.get(inner))
        if "fields" in node:
            self._change_fields(node["fields"])
        if "symbols" in node and self._random.random() < 0.3:
            node["symbols"] = sorted({*node["symbols"][1:], "A"})

    def _change_fields(self, fields: list[dict[str, Any]]) -> None:
        for field in fields:
            self._change(field["type"])
            if self._random.random() < 0.15:
                kind = field["type"]
                field["type"] = _WIDER.get(kind, kind) if isinstance(kind, str) else ["null", "int"]
                field.pop("default", None)
        if fields and self._random.random() < 0.3:
            fields.pop(self._random.randrange(len(fields)))
        unused = [name for name in _NAMES if name not in {field["name"] for field in fields}]
        if unused and self._random.random() < 0.3:
            fields.append({"name": unused[0], "type": "int", "default": 4})

    def _field(self, depth: int, within: str) -> Definition:
        if self._random.random() < 0.1:
            return ["null", within]
        kind = self.any(depth + 1)
        if self._random.random() < 0.3 and kind != "null":
            return ["null", kind]
        if self._random.random() < 0.1 and '"string"' not in json.dumps(kind)[:20]:
            return [kind, "string"]
        return kind

    def _name(self) -> str:
        self._named += 1
        return f"N{self._named}"


class Values:
    """Makes values of a definition, now and then one that does not fit."""

    def __init__(self, random: Random, definition: Definition, *, odd: float) -> None:
        self._random = random
        self._odd = odd
        self._named: dict[str, Definition] = {}
        self._collect(definition)
        self._top = definition

    def value(self) -> Any:  # noqa: ANN401 - JSON
        """Of the whole definition."""
        return self._of(self._top, 0)

    def _collect(self, node: Definition) -> None:
        if isinstance(node, list):
            for inner in node:
                self._collect(inner)
        elif isinstance(node, dict):
            if "name" in node and "type" in node and isinstance(node["type"], str):
                self._named[node["name"]] = node
            for inner in (*node.values(),):
                self._collect(inner)

    def _of(self, node: Definition, depth: int) -> Any:  # noqa: ANN401 - JSON
        if self._random.random() < self._odd:
            return self._random.choice(
                [None, True, [], {}, [1], {"a": 1}, *_WORDS, *_NUMBERS, [2024, 1, 2]]
            )
        if isinstance(node, str) and node in self._named:
            node = self._named[node]
        if isinstance(node, list):
            branches = ["null"] if depth > 6 and "null" in node else node
            return self._of(self._random.choice(branches), depth + 1)
        kind = node if isinstance(node, str) else node["type"]
        match kind:
            case "record":
                return self._record(node, depth)
            case "array":
                return self._array(node, depth)
            case "map":
                names = self._random.sample(_NAMES, self._many(depth))
                return {name: self._of(node["values"], depth + 1) for name in names}
            case "enum":
                return self._random.choice(node["symbols"])
            case _:
                return self._scalar(kind, node if isinstance(node, dict) else {})

    def _array(self, node: Definition, depth: int) -> Any:  # noqa: ANN401 - JSON
        items = node["items"]
        if node.get("java-class") == "[C":
            return "abc"
        if isinstance(items, dict) and str(items.get("name")).startswith(_PAIR):
            return self._entries(items["fields"], depth)
        return [self._of(items, depth + 1) for _ in range(self._many(depth))]

    def _entries(self, fields: list[dict[str, Any]], depth: int) -> dict[str, Any]:
        fitting = [name for name, kind in _KEYS.items() if kind == fields[0]["type"]]
        odd = self._random.random() < self._odd
        names = self._random.sample(_NAMES if odd else fitting, min(self._many(depth), 1))
        return {name: self._of(fields[1]["type"], depth + 1) for name in names}

    def _record(self, node: Definition, depth: int) -> dict[str, Any]:
        members = {field["name"]: self._of(field["type"], depth + 1) for field in node["fields"]}
        for name in [name for name, value in members.items() if value is None]:
            if self._random.random() < 0.5:
                del members[name]
        if self._random.random() < self._odd:
            members["unknown"] = self._random.choice([1, {"a": {"b": 2}}, [{"c": 1}]])
        return members

    def _many(self, depth: int) -> int:
        return self._random.randint(0, 3 if depth < 5 else 0)

    def _scalar(self, kind: str, props: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
        special = {
            "decimal": self._random.choice([1.25, 7, "AQI="]),
            "date": self._random.choice([19000, [2024, 2, 29], "2024-02-29"]),
            "timestamp-millis": self._random.choice([1, 1700000000.123, "2024-01-02T03:04:05Z"]),
            "local-timestamp-millis": self._random.choice([1, [2024, 1, 2, 3, 4, 5, 6000]]),
            "time-millis": self._random.choice([1, [1, 2], [1, 2, 3, 4000], "01:02:03"]),
            "java.math.BigDecimal": self._random.choice([12.34, 10**30, "1.5"]),
            "java.math.BigInteger": self._random.choice([12, 10**30, "-5"]),
            "java.net.URI": self._random.choice(["https://a.b/c", "", "urn:x:[y]", "../ü"]),
            "uuid": "00000000-0000-0001-0000-00000000000" + self._random.choice("0aF"),
            "java.lang.Character": self._random.choice(["c", 97]),
        }
        special["timestamp-micros"] = special["timestamp-millis"]
        name = str(props.get("logicalType") or props.get("java-class"))
        if name in special:
            return special[name]
        plain: dict[str, Any] = {
            "null": None,
            "boolean": self._random.random() < 0.5,
            "int": self._random.randrange(-(2**15), 2**15),
            "long": self._random.randrange(-(2**63), 2**63),
            "float": self._random.choice([0.5, 0.1, 3, 2**24 + 1]),
            "double": self._random.choice([0.5, 0.1, 3, 2**53 + 1]),
            "string": self._random.choice([*_WORDS, "text"]),
            "bytes": base64.b64encode(self._random.randbytes(self._random.randint(0, 4))).decode(),
        }
        return plain[kind]


def payload(random: Random, value: Any, *, broken: float) -> bytes:  # noqa: ANN401 - JSON
    """JSON in one of the ways to write it, now and then broken."""
    separators = random.choice([(",", ":"), (", ", ": "), (" , ", " : "), (",\n", "  :\t")])
    text = json.dumps(value, separators=separators, ensure_ascii=random.random() < 0.5)
    data = text.encode("utf-8", "surrogatepass" if random.random() < 0.1 else "replace")
    if random.random() >= broken:
        return data
    at = random.randint(0, len(data))
    match random.randrange(7):
        case 0:
            return data[:at]
        case 1:
            return data + random.choice([b"x", b" ", b"{}", b"\xff", b"\n"])
        case 2:
            return data[:at] + random.randbytes(1) + data[at + 1 :]
        case 3:
            return data.replace(b"{", b'{"a":1,', 1)
        case 4:
            return b"\xef\xbb\xbf" + data
        case 5:
            return random.randbytes(random.randint(0, 9))
        case _:
            return (
                data[:at]
                + random.choice([b"1" * 1001, b"[" * 1001, b'"', b":", b'"":'])
                + data[at:]
            )
