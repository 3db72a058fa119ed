"""Random Avro definitions as JSON values; how often something is wrong in them is `odd`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from tests.oracle.odd_values import ODD_NAMES, ODD_NUMBERS, ODD_SPACES, ODD_TEXTS, ODD_VALUES
from tests.oracle.random_source import Chance

Json = Any

PRIMITIVES: Final = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
FIELDS: Final = ("a", "b", "c", "d", "e")
SYMBOLS: Final = ("A", "B", "C", "D")
_SPACES: Final = ("n", "m", "n.o", "")
_ALIASES: Final = ("R", "S", "n.R", "m.R", "m.S", "a", "b", "c", "d", "e", "n.E", "E", "n.o.S")
_LOGICAL: Final[tuple[Json, ...]] = (
    {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2},
    {"type": "bytes", "logicalType": "decimal", "precision": 9},
    {"type": "bytes", "logicalType": "decimal", "precision": 2, "scale": 4},
    {"type": "bytes", "logicalType": "decimal"},
    {"type": "bytes", "logicalType": "decimal", "precision": "4", "scale": 1.5},
    {"type": "int", "logicalType": "date"},
    {"type": "int", "logicalType": "time-millis"},
    {"type": "long", "logicalType": "date"},
    {"type": "long", "logicalType": "timestamp-millis"},
    {"type": "long", "logicalType": "timestamp-micros", "adjust": True},
    {"type": "long", "logicalType": "local-timestamp-micros"},
    {"type": "string", "logicalType": "uuid"},
    {"type": "string", "avro.java.string": "String"},
    {"type": "int", "logicalType": "uuid"},
    {"type": "int", "logicalType": 7},
    {"type": "string", "logicalType": "duration"},
)
_PROPERTIES: Final[tuple[tuple[str, Json], ...]] = (
    ("logicalType", "decimal"), ("precision", 4), ("precision", 5), ("scale", 2), ("x", 1),
    ("x", 1.0), ("x", [1, 2]), ("x", {"a": 1, "b": 2}), ("x", {"b": 2, "a": 1}), ("x", None),
    ("logicalType", "uuid"), ("java-class", "X"), ("order", "ascending"), ("doc", 7),
    ("x", 2**31), ("x", 2**63), ("x", 1e400), ("x", "\u00ff"), ("", 1), ("connect.name", "n"),
)  # fmt: skip
_BROKEN: Final[tuple[tuple[str, Json], ...]] = (
    ("name", "Z"), ("namespace", 1), ("aliases", "Q"), ("aliases", [1]), ("size", "4"),
    ("default", 1), ("default", "A"), ("type", {"type": "int"}), ("type", None), ("fields", []),
    ("fields", {}), ("symbols", "A"), ("symbols", ["A", "A"]), ("items", 1), ("values", "nope"),
    ("order", "sideways"), ("order", 1), ("order", "IGNORE"), ("size", 4.0), ("size", -1),
    ("size", 2**31), ("name", 1), ("type", "error"), ("type", "record"), ("aliases", [""]),
    ("aliases", ["a-b"]), ("aliases", ["n.x", "x"]), ("aliases", None), ("fields", [1]),
)  # fmt: skip
_ORDERS: Final = ("ascending", "descending", "ignore", "DESCENDING", "Ignore")


class AvroSchemas:
    """Definitions drawn from `chance`; names are not used twice, and references lead somewhere."""

    def __init__(self, chance: Chance) -> None:
        self.chance = chance
        self.odd = 0.0
        self.named: dict[str, Json] = {}
        """What has been defined so far, by full name."""

    def renew(self, odd: float) -> None:
        """Begin with another definition."""
        self.odd = odd
        self.named = {}

    def schema(self, depth: int = 3, space: str = "") -> Json:
        """Any schema; names without a dot belong to `space`."""
        chance = self.chance
        if depth <= 0 or chance.maybe(0.4):
            return self._leaf(space)
        kinds: tuple[Callable[[int, str], Json], ...] = (
            *(self.record, self.record, self._enum, self._enum, self._fixed),
            *(self._array, self._map, self.union, self.union, self.union),
        )
        return chance.choice(kinds)(depth - 1, space)

    def record(self, depth: int = 3, space: str = "") -> Json:
        """A record of up to five fields."""
        chance = self.chance
        kind = "error" if chance.maybe(0.03) else "record"
        schema, inner = self._named(kind, space)
        schema["fields"] = []
        names = chance.sample(FIELDS, chance.choice((0, 1, 2, 2, 3, 3, 4, 5)))
        for name in names:
            schema["fields"].append(self.field(name, depth, inner))
        return schema

    def field(self, name: str, depth: int, space: str = "") -> dict[str, Json]:
        """A field, with a default in half of the cases."""
        chance = self.chance
        name = chance.choice(ODD_NAMES) if self._slip(0.1) else name
        field: dict[str, Json] = {"name": name, "type": self.schema(depth, space)}
        if chance.maybe(0.5):
            field["default"] = self.default(field["type"], space)
        if chance.maybe(0.08):
            field["aliases"] = chance.some(_ALIASES, 2)
        if chance.maybe(0.04):
            field["order"] = chance.choice(_ORDERS)
        if chance.maybe(0.04):
            field.update([chance.choice(_PROPERTIES)])
        if self._slip(0.1):
            field.update([chance.choice(_BROKEN)])
        return field

    def default(self, kind: Json, space: str = "", depth: int = 4) -> Json:
        """Mostly one that fits."""
        chance = self.chance
        if self._slip(0.4):
            return chance.choice(chance.choice((ODD_VALUES, ODD_NUMBERS, ODD_TEXTS)))
        match kind:
            case [first, *_]:
                return self.default(first, space, depth)
            case {"type": "enum", "symbols": [first, *_]}:
                return first
            case {"type": "fixed", "size": int(size)} if 0 <= size <= 8:
                return "\u00ff" * size
            case {"type": "record" | "error" | "array" | "map"}:
                return self._deeper(kind, space, depth - 1)
            case {"type": str(inner)} | str(inner):
                return self._plain(inner, space, depth)
            case _:
                return None

    def _deeper(self, kind: dict[str, Json], space: str, depth: int) -> Json:
        chance = self.chance
        match kind:
            case {"fields": list(fields)} if depth >= 0:
                known = [
                    f for f in fields if isinstance(f, dict) and isinstance(f.get("name"), str)
                ]
                needed = [f for f in known if "default" not in f or chance.maybe(0.3)]
                return {f["name"]: self.default(f.get("type"), space, depth) for f in needed}
            case {"type": "array", "items": items}:
                return (
                    [self.default(items, space, depth)] if depth > 0 and chance.maybe(0.5) else []
                )
            case {"values": values} if depth >= 0 and chance.maybe(0.4):
                return {"k": self.default(values, space, depth)}
            case _:
                return {}

    def _plain(self, kind: str, space: str, depth: int) -> Json:
        if kind in _FITTING:
            return self.chance.choice(_FITTING[kind])
        known = self.named.get(f"{space}.{kind}") or self.named.get(kind)
        return self.default(known, space, depth - 2) if known and depth > 0 else {}

    def _leaf(self, space: str) -> Json:
        chance = self.chance
        if self._slip(0.05):
            return chance.choice(("nope", "n.R", "record", "", None, 1, "array", {"type": []}))
        if self.named and chance.maybe(0.12):
            return self._reference(space)
        if chance.maybe(0.1):
            return dict(chance.choice(_LOGICAL))
        kind = chance.choice(PRIMITIVES)
        if chance.maybe(0.08):
            return {"type": kind, **dict(chance.some(_PROPERTIES, 2))}
        return kind

    def _reference(self, space: str) -> Json:
        """A name that is defined already, at times of a record that is still open."""
        name = self.chance.choice(list(self.named))
        home, _, short = name.rpartition(".")
        shown = short if home == space and self.chance.maybe(0.7) else name
        return {"type": shown, "doc": "d"} if self.chance.maybe(0.05) else shown

    def _enum(self, _depth: int, space: str) -> Json:
        schema, _ = self._named("enum", space)
        schema["symbols"] = self.chance.sample(SYMBOLS, self.chance.randrange(1, 4))
        if self._slip(0.1):
            schema["symbols"] = [*schema["symbols"], self.chance.choice(ODD_NAMES)]
        if self.chance.maybe(0.3):
            schema["default"] = self.chance.choice(schema["symbols"])
        if self._slip(0.05):
            schema["default"] = self.chance.choice((1, "Z", None, "A"))
        return schema

    def _fixed(self, _depth: int, space: str) -> Json:
        schema, _ = self._named("fixed", space)
        schema["size"] = self.chance.choice((0, 1, 2, 4, 4, 4, 16))
        if self.chance.maybe(0.1):
            schema.update({"logicalType": "decimal", "precision": 4, "scale": 2})
        return schema

    def _array(self, depth: int, space: str) -> Json:
        return {"type": "array", "items": self.schema(depth, space)}

    def _map(self, depth: int, space: str) -> Json:
        return {"type": "map", "values": self.schema(depth, space)}

    def union(self, depth: int, space: str = "") -> Json:
        """A union, in which null is the first branch more often than not."""
        chance = self.chance
        branches: list[Json] = ["null"] if chance.maybe(0.6) else []
        count = chance.choice((0, 1, 1, 1, 2, 3))
        branches.extend(self.schema(depth, space) for _ in range(count))
        if chance.maybe(0.2):
            chance.shuffle(branches)
        if self._slip(0.1):
            return branches
        return _distinct([one for one in branches if not isinstance(one, list)])

    def _named(self, kind: str, space: str) -> tuple[dict[str, Json], str]:
        """A named type without its content, and the namespace of what stands inside."""
        chance = self.chance
        short = self._name(space)
        schema: dict[str, Json] = {"type": kind, "name": short}
        home, dot, _ = short.rpartition(".")
        inner = home if dot else space
        if chance.maybe(0.2):
            schema["namespace"] = chance.choice(ODD_SPACES if self._slip(0.3) else _SPACES)
            if not dot and isinstance(schema["namespace"], str):
                inner = schema["namespace"]
        self.named[short if dot or not inner else f"{inner}.{short}"] = schema
        if chance.maybe(0.1):
            schema["aliases"] = chance.some(_ALIASES, 2)
        if chance.maybe(0.08):
            schema["doc"] = chance.choice(("d", "e"))
        if chance.maybe(0.05):
            schema.update([chance.choice(_PROPERTIES)])
        if self._slip(0.1):
            schema.update([chance.choice(_BROKEN)])
        return schema, inner

    def _name(self, space: str) -> str:
        chance = self.chance
        if self._slip(0.1):
            return chance.choice(ODD_NAMES)
        for _ in range(5):
            name = chance.choice(("R", "S", "T", "E", "F", "G", "H", "n.R", "m.R", "m.S", "n.o.T"))
            if self._slip(0.1) or not {name, f"{space}.{name}"} & self.named.keys():
                return name
        return f"T{len(self.named)}"

    def _slip(self, share: float) -> bool:
        return self.odd > 0 and self.chance.maybe(self.odd * share)


def _distinct(branches: list[Json]) -> list[Json]:
    """The first branch of each kind."""
    return list({json.dumps(_label(branch)): branch for branch in branches}.values())


def _label(branch: Json) -> Json:
    return branch.get("name", branch.get("type")) if isinstance(branch, dict) else branch


_FITTING: Final[dict[str, tuple[Json, ...]]] = {
    "null": (None,),
    "boolean": (False, True),
    "int": (0, 1, -1, 2**31 - 1, -(2**31)),
    "long": (0, 4, 2**31, 2**63 - 1, -(2**63)),
    "float": (1.5, 0, 1, 1e30, -0.0, 1e39, "1.5", "NaN", "-Infinity", 16777217),
    "double": (2.5, 0, 2**53 + 1, 1e308, "NaN", "0x1p3", " 2d ", 10**30),
    "bytes": ("", "b", "\u00ff", "\u00ff\u0000"),
    "string": ("", "s", "é", "\U0001f600", "null"),
}
