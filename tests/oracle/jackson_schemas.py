"""Random definitions in the old JSON form, which is Jackson's JsonSchema."""

from __future__ import annotations

from typing import Any, Final

from tests.oracle.json_trees import spoilt
from tests.oracle.odd_values import ODD_NUMBERS, ODD_TEXTS, ODD_VALUES
from tests.oracle.random_source import Chance

Json = Any

_KINDS: Final = ("object", "object", "object", "array", "string", "integer", "number", "boolean")
_ALL_KINDS: Final = (*_KINDS, "any", "null")
_IDS: Final = ("x", "x", "y", "urn:jsonschema:a:B", "", 1, 1.50, True, None)
_TEXTS: Final = ("$ref", "$schema", "description", "default", "title", "pathStart", "pattern")
_FLAGS: Final = ("required", "readonly", "uniqueItems", "exclusiveMaximum", "exclusiveMinimum")
_COUNTS: Final = ("maxItems", "minItems", "maxLength", "minLength", "divisibleBy")
_SCHEMAS: Final = ("itemsSchema", "additionalItems", "additionalProperties", "items")
_NUMBERS: Final = ("maximum", "minimum", "multipleOf")
_LISTS: Final = ("disallow", "extends")
_COERCED: Final[dict[tuple[str, ...], tuple[Json, ...]]] = {
    _FLAGS: (True, False, 1, 0, "true", " TRUE ", "", None, "null", 1.0, "yes", "tRue"),
    _COUNTS: (1, 0, -1, "12", " 7 ", "", 1e3, 2.5, 2**31, "2147483648", None, True, "+1", "1.0"),
    _NUMBERS: (1, 1.5, "1.5", "-INF", "INF", "NaN", "", True, None, 2**70, "1f", "0x1p3", "Inf"),
    _TEXTS: ("t", 1, 1.5, True, None, "", [], {}),
}
_ODD: Final = (ODD_VALUES, ODD_NUMBERS, ODD_TEXTS)


class JacksonSchemas:
    """Definitions drawn from `chance`; how often one is spoilt is `odd`."""

    def __init__(self, chance: Chance) -> None:
        self.chance = chance

    def schema(self, odd: float) -> Json:
        """A schema at the top of a definition."""
        chance = self.chance
        schema = self._schema(3)
        if chance.maybe(0.7):
            schema = {**schema, "id": chance.choice(_IDS)}
        if chance.maybe(0.08):
            kind = schema.pop("type")
            lists: tuple[Json, ...] = ([kind, schema], [kind], [None], [kind, schema, 1], [kind, 1])
            return chance.choice((*lists, None, ["R", schema]))
        for _ in range(chance.choice((0, 1, 1, 2))):
            schema = spoilt(chance, schema) if chance.maybe(odd) else schema
        return schema

    def _schema(self, depth: int) -> dict[str, Json]:
        chance = self.chance
        kind = chance.choice(_KINDS if chance.maybe(0.9) else _ALL_KINDS)
        schema: dict[str, Json] = {"type": kind}
        if kind == "object" and depth:
            names = chance.some(("a", "b", "c", "d"), 3)
            schema["properties"] = {name: self._schema(depth - 1) for name in names}
        if kind == "array" and depth:
            schema["items"] = self._schema(depth - 1)
        for _ in range(chance.choice((0, 0, 0, 1, 2))):
            schema.update([self._member(depth)])
        if chance.maybe(0.05):
            members = list(schema.items())
            chance.shuffle(members)
            schema = dict(members)
        return schema

    def _member(self, depth: int) -> tuple[str, Json]:
        chance = self.chance
        match chance.randrange(6):
            case 0 | 1 | 2:
                names = chance.choice(list(_COERCED))
                return chance.choice(names), chance.choice(_COERCED[names])
            case 3:
                inner = self._schema(max(0, depth - 2))
                values = (inner, [inner], True, False, None, ["string", {}], [inner, inner], 1)
                return chance.choice((*_SCHEMAS, *_LISTS)), chance.choice(values)
            case 4:
                link = {"href": "h", "rel": 1, "schema": self._schema(0), "x": 1}
                options: tuple[tuple[str, Json], ...] = (
                    *(("links", [link]), ("links", [{"href": []}]), ("links", link)),
                    *(("enum", ["a", 1, None]), ("enum", [[]]), ("enum", "a"), ("oneOf", [1])),
                    *(("dependencies", {"a": 1}), ("dependencies", []), ("oneOf", {})),
                    *(("patternProperties", {"x": self._schema(0)}), ("properties", {"a": None})),
                    *(("format", chance.choice(("date-time", "x", 1, 1.5, None, "DATE_TIME"))),),
                )
                return chance.choice(options)
            case _:
                return chance.choice(("u", "Type", "ID", "")), chance.choice(chance.choice(_ODD))
