"""Random Avro definitions of what Avro 1.11.4 and 1.12.0 read differently, as JSON values.

Names come from a small pool and are used before, after and without a definition, and defined
twice. Which oddities a definition has is drawn once for all its versions.
"""

from __future__ import annotations

from typing import Any, Final

from tests.oracle.random_source import Chance

Json = Any

_OUTERMOST: Final = 3
_NAMES: Final = ("A", "B", "C", "E", "R")
_ODD_NAMES: Final = ("$", "a$b", "$A", "A$B", "_$", "1$", "$1", "a-b", "é$", "A$", "int", "x.$", "")
_SPACES: Final = ("n", "m", "n.o", "n", "")
_ODD_SPACES: Final = (
    *("$", "a$b", "com.my-co", "a-b", "1x", "a..b", "a.", ".a", " ", "com.é", "n.$", "n.1", "."),
    *("int", "n.int", "_", "n.a b", "A", None, 7),
)
_PRIMITIVES: Final = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
_SYMBOLS: Final = (["A"], ["A", "B"], ["B", "A"], ["A", "B", "C"])
_BIG: Final[tuple[Json, ...]] = (
    *(2**63, 2**63 - 1, -(2**63), -(2**63) - 1, 2**64, 10**25, 1.5, 1e30, None, True, "x", 1, 0),
    *(2**31, -0.0, {}, [], {"k": None}),
)
_MEMBERS: Final = ("x", "x-tag", "java-class", "logicalType", "precision", "scale", "size", "id")
_LOGICAL: Final[tuple[Json, ...]] = (
    *("decimal", "uuid", "date", "timestamp-nanos", "local-timestamp-nanos", "big-decimal"),
    *("duration", "timestamp-millis", "nope", 7, None),
)
_DEFAULTS: Final[tuple[Json, ...]] = (
    *(None, None, "A", "B", "Z", "", 0, 1, -1, 2**31, 2**63, 1.5, True, False, [], {}, [1], [None]),
    *(
        ["A"],
        {"a": 1},
        {"a": None},
        {"b": "A"},
        {"a": {}},
        "NaN",
        [{}],
        [[]],
        {"k": [None]},
        "\xff",
    ),
)
_ALIASES: Final = ("A", "B", "n.A", "A$B", "$", "a-b.Old", ".A", "n.B", "Old", "1", "m.E", "")
_ODDITIES: Final = (
    *("name", "space", "forward", "forward", "twice", "twice", "default", "default", "member"),
    *("alias", "dot", "logical", "reference"),
)


class LineSchemas:
    """Definitions drawn from `chance`."""

    def __init__(self, chance: Chance) -> None:
        self.chance = chance
        self.odd: frozenset[str] = frozenset()
        self.defined: list[str] = []
        self.used: list[tuple[str, str]] = []

    def renew(self) -> None:
        """Begin with another definition, of one oddity or a few."""
        count = self.chance.choice((0, 1, 1, 1, 2, 2, 3, 5))
        self.odd = frozenset(self.chance.sample(_ODDITIES, count))

    def top(self) -> Json:
        """A definition, mostly a record."""
        chance = self.chance
        self.defined, self.used = [], []
        found = self.record(_OUTERMOST, "")
        if self._slip("default", 0.08) or chance.maybe(0.02):
            return chance.choice((["null", found], [found], [], ["null"], [found, "int"]))
        if chance.maybe(0.04):
            return self.type(2, "")
        return found

    def type(self, depth: int, space: str) -> Json:
        """Any schema."""
        chance = self.chance
        if self._slip("reference", 0.3) or self._slip("forward", 0.3) or self._slip("dot", 0.3):
            return self._reference(space)
        if self._slip("twice", 0.5):
            return chance.choice((self._enum, self._fixed, self._enum))(space)
        if depth <= 0 or chance.maybe(0.3):
            return self._primitive()
        make = chance.choice(
            (self.record, self.record, self._array, self._map, self._union, self._union, self._leaf)
        )
        return make(depth - 1, space)

    def record(self, depth: int, space: str) -> Json:
        """A record of up to four fields; what its fields name without defining may follow."""
        chance = self.chance
        node, inner = self._named(chance.choice(("record",) * 15 + ("error",)), space)
        names = chance.sample(("a", "b", "c", "d"), chance.choice((0, 1, 1, 2, 2, 3)))
        node["fields"] = [self.field(name, depth, inner) for name in names]
        if depth == _OUTERMOST:
            self._define_rest(node["fields"], inner)
        return self._late(node)

    def _define_rest(self, fields: list[Json], space: str) -> None:
        """Define most of what is used and not defined, behind it or before it."""
        chance = self.chance
        for number, (name, _) in enumerate(dict.fromkeys(self.used)):
            short = name.rpartition(".")[2]
            if short in {one.rpartition(".")[2] for one in self.defined} or chance.maybe(0.12):
                continue
            node, _ = chance.choice((self._enum_of, self._fixed_of, self._record_of))(name, space)
            wrapped = chance.choice(
                (node, node, ["null", node], {"type": "array", "items": node}, [node, "null"])
            )
            at = len(fields) if chance.maybe(0.8) else 0
            fields.insert(at, {"name": f"r{number}", "type": wrapped})

    def _enum_of(self, name: str, _space: str) -> tuple[Json, str]:
        self.defined.append(name)
        return {"type": "enum", "name": name, "symbols": self.chance.choice(_SYMBOLS)}, ""

    def _fixed_of(self, name: str, _space: str) -> tuple[Json, str]:
        self.defined.append(name)
        return {"type": "fixed", "name": name, "size": self.chance.choice((2, 4))}, ""

    def _record_of(self, name: str, space: str) -> tuple[Json, str]:
        self.defined.append(name)
        fields = [self.field("a", 1, space)] if self.chance.maybe(0.7) else []
        return {"type": "record", "name": name, "fields": fields}, ""

    def field(self, name: str, depth: int, space: str) -> Json:
        """A field, at times with a default."""
        chance = self.chance
        shown = chance.choice(_ODD_NAMES) if self._slip("name", 0.25) else name
        node = {"name": shown, "type": self.type(depth, space)}
        if self._slip("default", 0.5) or chance.maybe(0.15):
            node["default"] = self.default(node["type"], 3)
        if self._slip("alias", 0.3):
            node["aliases"] = chance.some(("a", "b", "$", "a$b", "1", "c", "a.b"), 2)
        return self._with_members(node)

    def default(self, kind: Json, depth: int) -> Json:
        """A value that fits some branch in most cases."""
        chance = self.chance
        if depth <= 0 or chance.maybe(0.12):
            return chance.choice(_DEFAULTS)
        match kind:
            case [_, *_]:
                return self.default(chance.choice(kind), depth)
            case {"type": "enum", "symbols": [*symbols]} if symbols:
                return chance.choice(symbols)
            case {"type": "fixed", "size": int(size)}:
                return "\xff" * min(size, 8)
            case {"fields": _} | {"items": _} | {"values": _}:
                return self._deeper(kind, depth - 1)
            case {"type": str(name)} | str(name):
                return chance.choice(_FITTING.get(name, ("A", {}, "\xff\xff", {"a": 1}, None)))
            case _:
                return None

    def _deeper(self, kind: dict[str, Json], depth: int) -> Json:
        chance = self.chance
        match kind:
            case {"fields": [*fields]}:
                given = [one for one in fields if "default" not in one or chance.maybe(0.3)]
                return {one["name"]: self.default(one.get("type"), depth) for one in given}
            case {"items": items}:
                return [self.default(items, depth) for _ in range(chance.randrange(3))]
            case _:
                return {key: self.default(kind["values"], depth) for key in chance.some("kl", 2)}

    def _leaf(self, _depth: int, space: str) -> Json:
        return self.chance.choice((self._enum, self._fixed))(space)

    def _enum(self, space: str) -> Json:
        chance = self.chance
        node, _ = self._named("enum", space)
        node["symbols"] = list(chance.choice(_SYMBOLS))
        if self._slip("name", 0.2):
            node["symbols"].append(chance.choice(_ODD_NAMES))
        if chance.maybe(0.15):
            node["default"] = chance.choice(("A", "A", "B", "Z", 1))
        return self._late(node)

    def _fixed(self, space: str) -> Json:
        node, _ = self._named("fixed", space)
        node["size"] = self.chance.choice((2, 4, 4, 16))
        return self._late(node)

    def _array(self, depth: int, space: str) -> Json:
        return self._with_members({"type": "array", "items": self.type(depth, space)})

    def _map(self, depth: int, space: str) -> Json:
        return self._with_members({"type": "map", "values": self.type(depth, space)})

    def _union(self, depth: int, space: str) -> Json:
        chance = self.chance
        branches = [self.type(depth, space) for _ in range(chance.choice((1, 1, 2, 3)))]
        kept = [one for one in branches if not isinstance(one, list) and one != "null"]
        if chance.maybe(0.7):
            kept.insert(chance.choice((0, 0, len(kept))), "null")
        return kept

    def _primitive(self) -> Json:
        kind = self.chance.choice(_PRIMITIVES)
        if self._slip("member", 0.4) or self._slip("logical", 0.6):
            return self._with_members({"type": kind})
        return kind

    def _reference(self, space: str) -> Json:
        """A name that may be defined before, later, twice or never."""
        chance = self.chance
        name = self._known_name()
        self.used.append((name, space))
        shown: Json = name
        if chance.maybe(0.2):
            shown = {"type": name, **dict(chance.some((("doc", "d"), ("x", 1), ("name", "q")), 1))}
        wrapped: tuple[Json, ...] = (
            ["null", shown],
            {"type": "array", "items": shown},
            {"type": "map", "values": shown},
        )
        return chance.choice((*wrapped, shown, shown, shown))

    def _known_name(self) -> str:
        chance = self.chance
        name = chance.choice(_NAMES)
        if self.defined and chance.maybe(0.4):
            name = chance.choice(self.defined)
            name = name.rpartition(".")[2] if chance.maybe(0.5) else name
        elif chance.maybe(0.25):
            name = f"{chance.choice(('n', 'm', 'n.o'))}.{name}"
        if self._slip("dot", 0.5):
            name = chance.choice((f".{name}", f"{name}.", f"..{name}", name, f".{name}"))
        return chance.choice(_ODD_NAMES) if self._slip("name", 0.15) else name

    def _named(self, kind: str, space: str) -> tuple[dict[str, Json], str]:
        """A named type without its content, and the namespace of what is inside."""
        chance = self.chance
        name = self._new_name()
        node: dict[str, Json] = {"type": kind, "name": name}
        if self._slip("space", 0.35):
            node["namespace"] = chance.choice(_ODD_SPACES)
        elif chance.maybe(0.2):
            node["namespace"] = chance.choice(_SPACES)
        elif self._slip("space", 0.2) or chance.maybe(0.05):
            node["name"] = f"{chance.choice((*_ODD_SPACES[:14], *_SPACES))}.{name}"
        given = node.get("namespace")
        inner = given if isinstance(given, str) else space
        before, dot, short = node["name"].rpartition(".")
        inner = before if dot else inner
        self.defined.append(f"{inner}.{short}" if inner else short)
        if self._slip("alias", 0.5):
            node["aliases"] = chance.some(_ALIASES, 2)
        return node, inner

    def _new_name(self) -> str:
        chance = self.chance
        if self._slip("name", 0.25):
            return chance.choice(_ODD_NAMES)
        if self._slip("twice", 0.6):
            return chance.choice(_NAMES)
        free = [one for one in (*_NAMES, "F", "G", "H") if one not in self.defined]
        return chance.choice(free or [f"T{len(self.defined)}"])

    def _late(self, node: dict[str, Json]) -> dict[str, Json]:
        """The node with what comes behind its content."""
        if self.chance.maybe(0.05):
            node["doc"] = self.chance.choice(("d", "e", 1))
        return self._with_members(node)

    def _with_members(self, node: dict[str, Json]) -> dict[str, Json]:
        chance = self.chance
        if self._slip("member", 0.4) or (self._slip("twice", 0.1)):
            value = chance.choice(_BIG)
            node[chance.choice(_MEMBERS[:4])] = chance.choice(
                (value, value, [value], {"k": value}, {"k": [1, {"l": value}]}, [[], value])
            )
        if self._slip("logical", 0.4):
            node["logicalType"] = chance.choice(_LOGICAL)
            node.update(chance.some((("precision", 4), ("scale", 2), ("precision", 2**63)), 2))
        return node

    def _slip(self, name: str, share: float) -> bool:
        return name in self.odd and self.chance.maybe(share)


_FITTING: Final[dict[str, tuple[Json, ...]]] = {
    "null": (None,),
    "boolean": (False, True),
    "int": (0, 1, 2**31 - 1, -(2**31)),
    "long": (0, 2**31, 2**63 - 1, -(2**63)),
    "float": (1.5, 0, "1.5", "NaN", 1e39),
    "double": (2.5, 0, "NaN", 1e308, 10**30),
    "bytes": ("", "b", "\xff"),
    "string": ("", "s", "A"),
}
