"""Changes to Avro definitions, most of them at the edge between compatible and not."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, Final

from tests.oracle.avro_schemas import FIELDS, SYMBOLS, AvroSchemas
from tests.oracle.json_trees import spoilt

Json = Any
_Node = dict[str, Json]
_NAMES: Final = ("R", "S", "T", "E", "F", "n.R", "m.R", "m.S", "n.o.R")
_WIDER: Final = {
    "int": ("long", "float", "double", "string"),
    "long": ("double", "float", "int"),
    "float": ("double", "int"),
    "double": ("float",),
    "string": ("bytes", "bytes", "int"),
    "bytes": ("string", "string", "double"),
    "boolean": ("int",),
    "null": ("string",),
}


class AvroChanges:
    """Steps from one version of a definition to the next."""

    def __init__(self, schemas: AvroSchemas) -> None:
        self.schemas = schemas
        self.chance = schemas.chance

    def changed(self, schema: Json, most: int = 3) -> Json:
        """A copy with up to `most` changes, now and then none."""
        found = copy.deepcopy(schema)
        if self.chance.maybe(0.04):
            return self.aliased(found)
        for _ in range(self.chance.choice((0, 1, 1, 1, 2, most))):
            # Copied again: what a change puts in may be a constant, which must stay as it is.
            found = self._change(copy.deepcopy(found))
        return found

    def _change(self, schema: Json) -> Json:
        chance = self.chance
        if self.schemas.odd and chance.maybe(self.schemas.odd * 0.2):
            return spoilt(chance, schema)
        nodes = list(_nodes(schema))
        if not nodes or chance.maybe(0.02):
            return self._other_type(schema)
        # Twice of three times at the top or near it, where more of what follows can still differ.
        at = chance.randrange(len(nodes)) if chance.maybe(0.4) else 0
        node = nodes[at]
        if isinstance(node.get("fields"), list):
            self._record(node)
        elif isinstance(node.get("symbols"), list):
            self._enum(node)
        elif "size" in node:
            node["size"] = chance.choice((2, 4, 4, 8))
            self._rename(node)
        else:
            self._inner(node)
        return schema

    def aliased(self, schema: Json) -> Json:
        """Aliases all over, so that names meet where a writer is seen with them."""
        chance = self.chance
        for node in _nodes(schema):
            if "name" in node and chance.maybe(0.6):
                node["aliases"] = chance.some(_NAMES, 3)
            if isinstance(node.get("fields"), list):
                for field in _fields(node):
                    if chance.maybe(0.3):
                        field["aliases"] = chance.some(FIELDS, 2)
                    if chance.maybe(0.2):
                        field["default"] = chance.choice(({}, [], self.schemas.default("int")))
        return self._change(schema) if chance.maybe(0.5) else schema

    def _record(self, node: _Node) -> None:
        steps: tuple[Callable[[_Node], None], ...] = (
            *(self._add_field, self._add_field, self._drop_field, self._retype, self._retype),
            *(self._retype, self._default, self._default, self._rename_field, self._rename),
            *(self._reorder, self._decorate),
        )
        self.chance.choice(steps)(node)

    def _add_field(self, node: _Node) -> None:
        taken = [one.get("name") for one in _fields(node)]
        free = [name for name in (*FIELDS, "f", "g") if name not in taken] or ["a"]
        field = self.schemas.field(self.chance.choice(free), 1)
        if "default" not in field and self.chance.maybe(0.6):
            field["default"] = self.schemas.default(field["type"])
        node["fields"].insert(self.chance.randrange(len(node["fields"]) + 1), field)

    def _drop_field(self, node: _Node) -> None:
        if node["fields"]:
            node["fields"].pop(self.chance.randrange(len(node["fields"])))

    def _retype(self, node: _Node) -> None:
        if fields := _fields(node):
            field = self.chance.choice(fields)
            field["type"] = self._other_type(field.get("type"))
            if "default" in field and self.chance.maybe(0.7):
                field["default"] = self.schemas.default(field["type"])

    def _default(self, node: _Node) -> None:
        if fields := _fields(node):
            field = self.chance.choice(fields)
            if self.chance.maybe(0.3):
                field.pop("default", None)
            else:
                field["default"] = self.schemas.default(field.get("type"))

    def _rename_field(self, node: _Node) -> None:
        if fields := _fields(node):
            field = self.chance.choice(fields)
            if self.chance.maybe(0.75):
                field["aliases"] = [field.get("name")]
            field["name"] = self.chance.choice((*FIELDS, "z", "y"))

    def _rename(self, node: _Node) -> None:
        chance = self.chance
        match chance.randrange(4):
            case 0:
                node["namespace"] = chance.choice(("n", "m", "", "n.o"))
            case 1:
                node["aliases"] = [node.get("name")]
                node["name"] = chance.choice(_NAMES)
            case 2:
                node["aliases"] = chance.some(_NAMES, 2)
            case _:
                node["name"] = chance.choice(_NAMES)

    def _reorder(self, node: _Node) -> None:
        self.chance.shuffle(node["fields"])

    def _decorate(self, node: _Node) -> None:
        chance = self.chance
        target = chance.choice([node, *_fields(node)])
        more = (("doc", "another"), ("order", "ignore"), ("aliases", ["q"]), ("x", 1), ("x", 2))
        target.update([chance.choice(more)])

    def _enum(self, node: _Node) -> None:
        chance = self.chance
        match chance.randrange(5):
            case 0 | 1:
                node["symbols"] = chance.sample(SYMBOLS, chance.randrange(1, 5))
            case 2:
                node["default"] = chance.choice(SYMBOLS)
            case 3:
                node.pop("default", None)
            case _:
                self._rename(node)

    def _inner(self, node: _Node) -> None:
        for key in ("items", "values"):
            if key in node:
                node[key] = self._other_type(node[key])
                return
        node.update([self.chance.choice((("x", 1), ("logicalType", "date"), ("precision", 5)))])

    def _other_type(self, kind: Json) -> Json:
        """A type near that one: promoted, with more or fewer branches, or wrapped."""
        chance = self.chance
        if chance.maybe(0.1):
            return self.schemas.schema(2)
        if isinstance(kind, list) and kind:
            return self._other_union(kind)
        if isinstance(kind, str) and kind in _WIDER and chance.maybe(0.6):
            return chance.choice(_WIDER[kind])
        if chance.maybe(0.2):
            wraps = ({"type": "array", "items": kind}, {"type": "map", "values": kind})
            return chance.choice(wraps)
        return chance.choice((["null", kind], [kind, "null"], [kind], ["null", kind, "string"]))

    def _other_union(self, kind: list[Json]) -> Json:
        chance = self.chance
        match chance.randrange(6):
            case 0:
                return kind[::-1]
            case 1:
                return [*kind, self.schemas.schema(1)]
            case 2:
                return kind[1:]
            case 3:
                return chance.choice(kind)
            case 4:
                return chance.sample(kind, len(kind))
            case _:
                at = chance.randrange(len(kind))
                return [*kind[:at], self._other_type(kind[at]), *kind[at + 1 :]]


def _fields(node: _Node) -> list[_Node]:
    return [one for one in node["fields"] if isinstance(one, dict)]


def _nodes(schema: Json) -> Iterator[_Node]:
    """Every schema that is an object, outermost first."""
    if isinstance(schema, list):
        for one in schema:
            yield from _nodes(one)
    if not isinstance(schema, dict):
        return
    yield schema
    if isinstance(schema.get("fields"), list):
        for field in _fields(schema):
            yield from _nodes(field.get("type"))
    for key in ("items", "values", "type"):
        if isinstance(schema.get(key), dict | list):
            yield from _nodes(schema[key])
