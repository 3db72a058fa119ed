"""Random Avro definitions, and small changes to them: most are good, some are not."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any, Final

Json = Any

PRIMITIVES: Final = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
_NAMES: Final = ("R", "S", "T", "E", "F", "n.R", "m.R", "m.S")
_SPACES: Final = ("n", "m", "", "n.o", "a-b")
_FIELDS: Final = ("a", "b", "c", "d", "e")
_ALIASES: Final = (*_NAMES, *_FIELDS, "n.E", "x-y")
_BAD_NAMES: Final = ("1a", "a-b", "", "int", "é", "a.", ".a", "\uff41", "\U0001d49c", "_", "a b")
_VALUES: Final[tuple[Json, ...]] = (
    None, True, 0, 1, -1, 2**31, -(2**31), 2**63, 1.0, 1.5, 1e400, "", "A", "B", "NaN", "1.5",
    "0x1p3", " 2d ", [], {}, [1], ["A"], {"a": 1}, {"a": None}, [None], {"b": {}}, "\u00ff", "C",
)  # fmt: skip
_PROPERTIES: Final[tuple[tuple[str, Json], ...]] = (
    ("logicalType", "decimal"), ("precision", 4), ("precision", 5), ("scale", 2), ("x", 1),
    ("x", 1.0), ("x", [1, 2]), ("x", {"a": 1, "b": 2}), ("default", 1), ("default", "A"),
    ("logicalType", "uuid"), ("java-class", "X"), ("order", "ascending"), ("doc", 7), ("name", "Z"),
    ("namespace", "n"), ("namespace", 1), ("aliases", ["Q"]), ("aliases", "Q"), ("size", 4),
)  # fmt: skip


class AvroSchemas:
    """Definitions as Python values, drawn from `random`."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def text(self, schema: Json) -> str:
        """The definition as a person could have written it: spaces, comments, slips."""
        random = self.random
        indent = random.choice((None, None, None, 1))
        text = json.dumps(schema, ensure_ascii=random.random() < 0.5, indent=indent)
        if random.random() < 0.04:
            text = random.choice((" ", "\n", "/* c */", "// c\n", "\ufeff")) + text
        if random.random() < 0.04:
            text += random.choice((" ", "\n", "/* c */", "x", "}", ","))
        if random.random() < 0.03 and text:
            at = random.randrange(len(text))
            text = text[:at] + random.choice(("", ",", '"', "}", "\t", "0")) + text[at + 1 :]
        return text

    def schema(self, depth: int = 3) -> Json:
        """Any schema."""
        random = self.random
        if depth == 0 or random.random() < 0.35:
            return self._leaf()
        kinds = (self.record, self.record, self._enum, self._fixed, self._array, self._map)
        chosen = random.choice((*kinds, self._union, self._union))
        return chosen(depth - 1)

    def record(self, depth: int = 3) -> Json:
        """A record of up to four fields."""
        count = self.random.choice((0, 1, 2, 2, 3, 4))
        fields = [self._field(name, depth) for name in self.random.sample(_FIELDS, count)]
        kind = "error" if self.random.random() < 0.03 else "record"
        return self._named({"type": kind, "name": self._name(), "fields": fields})

    def _name(self) -> str:
        """Mostly one that no other type of the definition has."""
        random = self.random
        if random.random() < 0.01:
            return random.choice(_BAD_NAMES)
        space = random.choice(("", "", "", "n.", "m."))
        return (
            random.choice(_NAMES) if random.random() < 0.15 else f"{space}T{random.randrange(1000)}"
        )

    def _leaf(self) -> Json:
        random = self.random
        kind: Json = random.choice((*PRIMITIVES * 4, "R", "E", "n.R"))
        if kind in PRIMITIVES and random.random() < 0.2:
            kind = {"type": kind, **dict(random.sample(_PROPERTIES, random.randrange(3)))}
        return kind

    def _enum(self, _depth: int) -> Json:
        symbols = self.random.sample(("A", "B", "C", "D"), self.random.randrange(1, 4))
        found = self._named({"type": "enum", "name": self._name(), "symbols": symbols})
        if self.random.random() < 0.3:
            found["default"] = self.random.choice((*symbols, "A", 1))
        return found

    def _fixed(self, _depth: int) -> Json:
        size = self.random.choice((0, 1, 2, 4, 4, 4, -1, "4", 4.0, 2**31))
        if self.random.random() < 0.8:
            size = self.random.choice((2, 4))
        return self._named({"type": "fixed", "name": self._name(), "size": size})

    def _array(self, depth: int) -> Json:
        return {"type": "array", "items": self.schema(depth)}

    def _map(self, depth: int) -> Json:
        return {"type": "map", "values": self.schema(depth)}

    def _union(self, depth: int) -> Json:
        count = self.random.choice((0, 1, 2, 2, 2, 3))
        branches = [self.schema(depth) for _ in range(count)]
        kept = [one for one in branches if not isinstance(one, list) or self.random.random() < 0.05]
        return kept if self.random.random() < 0.2 else _distinct(kept)

    def _named(self, schema: dict[str, Json]) -> dict[str, Json]:
        random = self.random
        if random.random() < 0.25:
            schema["namespace"] = random.choice(_SPACES)
        if random.random() < 0.15:
            schema["aliases"] = random.sample(_ALIASES, random.randrange(3))
        if random.random() < 0.1:
            schema["doc"] = random.choice(("d", "e"))
        if random.random() < 0.1:
            schema.update([random.choice(_PROPERTIES)])
        return schema

    def _field(self, name: str, depth: int) -> Json:
        random = self.random
        field: dict[str, Json] = {"name": name, "type": self.schema(depth)}
        if random.random() < 0.45:
            field["default"] = self._default(field["type"])
        if random.random() < 0.1:
            field["aliases"] = random.sample(_ALIASES, random.randrange(1, 3))
        if random.random() < 0.05:
            field["order"] = random.choice(("ascending", "DESCENDING", "ignore", "sideways", 1))
        if random.random() < 0.05:
            field.update([random.choice(_PROPERTIES)])
        return field

    def _default(self, kind: Json) -> Json:
        """Mostly one that fits."""
        if self.random.random() < 0.2:
            return self.random.choice(_VALUES)
        return _fitting(kind)

    def changed(self, schema: Json) -> Json:
        """A copy with up to three small changes, now and then none."""
        found = copy.deepcopy(schema)
        for _ in range(self.random.choice((0, 1, 1, 1, 2, 3))):
            # Copied again: what a change puts in may be a constant, which must stay as it is.
            found = self._change(copy.deepcopy(found))
        return found

    def _change(self, schema: Json) -> Json:
        """One change somewhere in `schema`, which is changed in place where it can be."""
        nodes: list[tuple[Json, Json]] = []
        _collect([schema], nodes)
        holder, key = self.random.choice(nodes)
        if holder is None:
            return self._replaced(schema)
        node = holder[key]
        if isinstance(node, dict) and isinstance(node.get("fields"), list):
            self._change_record(node)
        elif isinstance(node, dict) and "symbols" in node:
            self._change_enum(node)
        else:
            holder[key] = self._replaced(node)
        return schema

    def _replaced(self, node: Json) -> Json:
        random = self.random
        if isinstance(node, str) and node in _WIDER and random.random() < 0.4:
            return random.choice(_WIDER[node])
        wraps: tuple[Json, ...] = (["null", node], {"type": "array", "items": node}, [node])
        if isinstance(node, list) and node and random.random() < 0.6:
            return random.choice((node[::-1], node[1:], [*node, "string"], node[0]))
        return random.choice((*wraps, self.schema(1), self.schema(2)))

    def _change_record(self, node: dict[str, Json]) -> None:
        random, fields = self.random, node["fields"]
        known = [one for one in fields if isinstance(one, dict) and "name" in one]
        if known and random.random() < 0.4:
            self._change_field(random.choice(known))
            return
        match random.randrange(6):
            case 0:
                fields.append(self._field(random.choice(_FIELDS), 1))
            case 1 if fields:
                fields.pop(random.randrange(len(fields)))
            case 2:
                node["aliases"] = [node["name"]]
                node["name"] = random.choice(_NAMES)
            case 3:
                node["name"] = random.choice(_NAMES)
            case 4:
                random.shuffle(fields)
            case _:
                node["doc"] = "another"

    def _change_field(self, field: dict[str, Json]) -> None:
        random = self.random
        match random.randrange(3):
            case 0:
                field["aliases"] = [field["name"]]
                field["name"] = random.choice((*_FIELDS, "z"))
            case 1:
                field["default"] = random.choice(_VALUES)
            case _:
                field.pop("default", None)

    def _change_enum(self, node: dict[str, Json]) -> None:
        random = self.random
        match random.randrange(4):
            case 0:
                node["symbols"] = random.sample(("A", "B", "C", "D"), random.randrange(4))
            case 1:
                node["name"] = random.choice(_NAMES)
            case 2:
                node["default"] = random.choice(("A", "B", 1))
            case _:
                node["namespace"] = random.choice(_SPACES)


_WIDER: Final = {
    "int": ("long", "float", "double"),
    "long": ("double", "int"),
    "float": ("double",),
    "string": ("bytes",),
    "bytes": ("string",),
}


def _collect(node: Json, nodes: list[tuple[Json, Json]]) -> None:
    """Every place of a schema, as what holds it and its key; (None, None) is the whole."""
    if not nodes:
        nodes.append((None, None))
    entries = enumerate(node) if isinstance(node, list) else node.items()
    for key, value in entries:
        is_branch = isinstance(node, list) and not (isinstance(value, dict) and len(node) > 1)
        is_schema = is_branch or key in ("type", "items", "values")
        if is_schema and not (key == "type" and _is_kind(node, value)):
            nodes.append((node, key))
        if isinstance(value, dict | list) and key not in ("default", "symbols", "aliases"):
            _collect(value, nodes)


def _is_kind(node: Json, value: Json) -> bool:
    return "fields" in node or "symbols" in node or "size" in node or value in ("array", "map")


def _distinct(branches: list[Json]) -> list[Json]:
    """The first branch of each kind."""
    return list({json.dumps(_label(branch)): branch for branch in branches}.values())


def _label(branch: Json) -> Json:
    return branch.get("name", branch["type"]) if isinstance(branch, dict) else branch


def _fitting(kind: Json) -> Json:
    """A default of the type."""
    match kind:
        case [first, *_]:
            return _fitting(first)
        case {"type": "record" | "error", "fields": list(fields)}:
            return {f["name"]: _fitting(f["type"]) for f in fields if "default" not in f}
        case {"type": "enum", "symbols": [first, *_]}:
            return first
        case {"type": str(inner)}:
            return _PLAIN.get(inner, {})
        case str():
            return _PLAIN.get(kind, {})
        case _:
            return None


_PLAIN: Final[dict[str, Json]] = {
    "null": None, "boolean": False, "int": 3, "long": 4, "float": 1.5, "double": 2.5, "bytes": "b",
    "string": "s", "array": [], "map": {}, "fixed": "abcd", "E": "A",
}  # fmt: skip
