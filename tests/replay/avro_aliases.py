"""Random pairs whose readers are full of aliases: chains, swaps, names that meet."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, Final

from tests.oracle.random_source import Chance

Json = Any
_Node = dict[str, Json]

NAMES: Final = ("n.R", "n.S", "n.T", "m.R", "m.S", "m.U")
FIELDS: Final = ("a", "b", "c", "d")
_PLAIN: Final = ("int", "int", "long", "string")
_DEFAULTS: Final = {"int": 7, "long": 8, "string": "s"}


def aliased(chance: Chance) -> tuple[Json, Json]:
    """A writer, and a reader that calls much of it something else."""
    writer = _Writer(chance).record(3)
    return writer, _Reader(chance, writer).changed()


class _Writer:
    """Names are full ones, so that they are the same wherever they stand."""

    def __init__(self, chance: Chance) -> None:
        self.chance = chance
        self.free = chance.sample(NAMES, len(NAMES))
        self.known: list[str] = []

    def record(self, depth: int) -> Json:
        fields: list[Json] = []
        found = self._named("record", fields=fields)
        names = self.chance.sample(FIELDS, self.chance.randint(1, 3))
        fields.extend(_field(self.chance, name, self._type(depth - 1)) for name in names)
        return found

    def _named(self, kind: str, **more: Json) -> Json:
        self.known.append(self.free.pop())
        return {"type": kind, "name": self.known[-1], **more}

    def _type(self, depth: int) -> Json:
        kinds: tuple[Callable[[int], Json], ...] = (
            *(self._plain, self._plain, self._optional, self._optional, self._array, self._map),
            *(self._defined, self._defined, self._defined),
        )
        return self.chance.choice(kinds)(depth)

    def _plain(self, _depth: int) -> Json:
        return self.chance.choice(_PLAIN)

    def _optional(self, depth: int) -> Json:
        return ["null", self._reference() or self._defined(depth)]

    def _array(self, depth: int) -> Json:
        return {"type": "array", "items": self._reference() or self._defined(depth)}

    def _map(self, depth: int) -> Json:
        return {"type": "map", "values": self._reference() or self._defined(depth)}

    def _reference(self) -> str | None:
        return self.chance.choice(self.known) if self.chance.maybe(0.4) else None

    def _defined(self, depth: int) -> Json:
        if not self.free or depth <= 0:
            return self._plain(depth)
        if self.chance.maybe(0.6):
            return self.record(depth)
        if self.chance.maybe(0.5):
            return self._named("enum", symbols=["A", "B"])
        return self._named("fixed", size=2)


class _Reader:
    def __init__(self, chance: Chance, writer: Json) -> None:
        self.chance = chance
        self.writer = writer
        self.names = [node["name"] for node in _named(writer)]

    def changed(self) -> Json:
        chance = self.chance
        found = copy.deepcopy(self.writer)
        new = chance.sample(NAMES, len(NAMES))
        for index, name in enumerate(self.names):  # those that keep theirs come first
            if chance.maybe(0.5) and name in new:
                new.remove(name)
                new.insert(index, name)
        mapped = dict(zip(self.names, new, strict=False))
        for node in list(_named(found)):
            self._rename(node, mapped[node["name"]])
            if "fields" in node:
                self._fields(node)
        return _referring(found, mapped)

    def _rename(self, node: _Node, new: str) -> None:
        chance, old = self.chance, node["name"]
        aliases = [old] if new != old and chance.maybe(0.85) else []
        if chance.maybe(0.4):
            aliases += chance.some((*NAMES, "R", "S"), 2)
        node["name"] = new
        if aliases:
            node["aliases"] = aliases

    def _fields(self, node: _Node) -> None:
        chance, fields = self.chance, node["fields"]
        for field in fields:
            aliases = []
            others = {one["name"] for one in fields if one is not field}
            if chance.maybe(0.4):
                old = field["name"]
                field["name"] = chance.choice([one for one in FIELDS if one not in others])
                aliases = [old] if chance.maybe(0.9) else []
            if chance.maybe(0.2):
                aliases += chance.some(FIELDS, 1)
            if aliases:
                field["aliases"] = aliases
        self._added(fields)
        chance.shuffle(fields)

    def _added(self, fields: list[Json]) -> None:
        """A field of its own, mostly with an alias for another one of the reader."""
        chance = self.chance
        free = [one for one in FIELDS if one not in {field["name"] for field in fields}]
        if not free or chance.maybe(0.4):
            return
        other = chance.choice(fields)
        kind = other["type"] if isinstance(other["type"], str) else "int"
        added = {"name": chance.choice(free), "type": kind, "default": _DEFAULTS.get(kind, 0)}
        if chance.maybe(0.8):
            added["aliases"] = [other["name"]]
        fields.append(added)


def _field(chance: Chance, name: str, kind: Json) -> Json:
    field = {"name": name, "type": kind}
    if chance.maybe(0.3):
        if isinstance(kind, list):
            field["default"] = None
        elif isinstance(kind, str) and kind in _DEFAULTS:
            field["default"] = _DEFAULTS[kind]
        elif isinstance(kind, dict) and kind["type"] in {"array", "map"}:
            field["default"] = [] if kind["type"] == "array" else {}
    return field


def _named(schema: Json) -> Iterator[_Node]:
    """Every named type, the outer before the inner."""
    if isinstance(schema, dict):
        if "name" in schema:
            yield schema
        inner = [field["type"] for field in schema.get("fields", ())]
        for one in (*inner, schema.get("items"), schema.get("values")):
            yield from _named(one)
    elif isinstance(schema, list):
        for one in schema:
            yield from _named(one)


def _referring(schema: Json, names: dict[str, str]) -> Json:
    """The same with its references renamed."""
    match schema:
        case str():
            return names.get(schema, schema)
        case list():
            return [_referring(one, names) for one in schema]
        case dict():
            for key in ("items", "values"):
                if key in schema:
                    schema[key] = _referring(schema[key], names)
            for field in schema.get("fields", ()):
                field["type"] = _referring(field["type"], names)
        case _:
            pass
    return schema
