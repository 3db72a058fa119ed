"""The classes of Jackson's JsonSchema: which member takes which value.

Members that a class does not know may hold anything. Each was tried with the classes of a
Pulsar 4.0.7 broker, so Jackson's conversions (text for a number, a number for text) are theirs.
What other versions of Jackson convert otherwise is in `gitops.schemas.jackson`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from gitops.schemas.jackson import Fraction, Jackson, Json, Members, Whole

_BLANKS: Final = "".join(map(chr, range(33)))
_INT: Final = range(-(2**31), 2**31)
_BOOLEANS: Final = frozenset(("true", "True", "TRUE", "false", "False", "FALSE"))


class LegacyMismatchError(ValueError):
    """A member holds what its class does not take."""


@dataclass(frozen=True, slots=True)
class JsonSchema:
    """What is left of a schema once it is read."""

    id: str | None = None


_Check = Callable[[Json], object]
_Known = Mapping[str, _Check]


class LegacyJsonClasses:
    """The classes as one version of Jackson fills them."""

    def __init__(self, jackson: Jackson) -> None:
        self._jackson = jackson
        self._link = self._link_members()
        self.kinds: Final = self._all_kinds()
        """Every type of JsonSchema and what its members take."""

    def read_bean(self, kind: str, members: Members) -> JsonSchema:
        """The schema of a known `kind`; raises LegacyMismatchError."""
        known = self.kinds[kind]
        _check_members(known, members)
        texts = [scalar_text(value) for name, value in members if name == "id" and "id" in known]
        return JsonSchema(texts[-1] if texts else None)

    def check_schema(self, value: Json) -> JsonSchema | None:
        """A schema inside another; None for `null`. Raises LegacyMismatchError."""
        if value is None:
            return None
        if isinstance(value, Members):
            kinds = [scalar_text(given) for name, given in value if name == "type"]
            return self.read_bean(
                self._kind(next((k for k in kinds if k is not None), None)), value
            )
        if isinstance(value, list):
            return self._check_pair(value)
        raise LegacyMismatchError("a schema is an object")

    def _check_pair(self, value: list[Json]) -> JsonSchema | None:
        """`["type", {members}]`; without the members it is null."""
        first = "null" if value[:1] == [None] else scalar_text(value[0]) if value else None
        kind = self._kind(first)
        match value[1:]:
            case []:
                return None
            case [Members() as members]:
                return self.read_bean(kind, members)
            case _:
                raise LegacyMismatchError("a pair is of a type and an object")

    def _kind(self, name: str | None) -> str:
        if name is None or name not in self.kinds:
            raise LegacyMismatchError(f"'{name}' is not a type of JsonSchema")
        return name

    def _double(self, value: Json) -> None:
        if isinstance(value, Whole | Fraction):
            return
        if value in ("NaN", "Infinity", "-Infinity", "INF", "-INF"):
            return
        if not _is_text(value, self._jackson.is_double):
            raise LegacyMismatchError("expected a number")

    def _integer(self, value: Json) -> None:
        if isinstance(value, Fraction):
            fits = _INT[0] <= float(value) <= _INT[-1]
        else:
            fits = _is_text(value, self._jackson.is_int)
        if not fits:
            raise LegacyMismatchError("expected a whole number of 32 bits")

    def _format(self, value: Json) -> None:
        if isinstance(value, Whole):
            self._integer(value)
        elif isinstance(value, Fraction) or not isinstance(value, str):
            raise LegacyMismatchError("expected text")

    def _rest(self, value: Json) -> None:
        """`additionalProperties`, `additionalItems`: true, false, or a schema."""
        if isinstance(value, bool):
            return
        if not isinstance(value, Members):
            raise LegacyMismatchError("expected true, false or an object")
        self.check_schema(value)

    def _items(self, value: Json) -> None:
        if isinstance(value, Members):
            self.check_schema(value)
        else:
            _list_of(self.check_schema)(value)

    def _check_link(self, value: Json) -> None:
        if not isinstance(value, Members):
            raise LegacyMismatchError("expected an object")
        _check_members(self._link, value)

    def _link_members(self) -> _Known:
        texts = ("href", "rel", "method", "enctype", "mediaType", "title")
        return {
            **dict.fromkeys(texts, _text),
            **dict.fromkeys(("targetSchema", "schema"), self.check_schema),
        }

    def _simple(self) -> _Known:
        texts = ("id", "$ref", "$schema", "description", "default", "title", "pathStart")
        return {
            **dict.fromkeys(texts, _text),
            **dict.fromkeys(("disallow", "extends"), _list_of(self.check_schema)),
            **dict.fromkeys(("required", "readonly"), _boolean),
            "links": _list_of(self._check_link),
        }

    def _all_kinds(self) -> Mapping[str, _Known]:
        simple = self._simple()
        value: _Known = {**simple, "enum": _list_of(_text), "format": self._format}
        number: _Known = {
            **value,
            **dict.fromkeys(("exclusiveMaximum", "exclusiveMinimum"), _boolean),
            **dict.fromkeys(("maximum", "minimum", "multipleOf"), self._double),
        }
        lengths = dict.fromkeys(("maxLength", "minLength"), self._integer)
        return {
            "any": simple,
            "null": simple,
            "boolean": value,
            "number": number,
            "integer": {**number, "divisibleBy": self._integer},
            "string": {**value, **lengths, "pattern": _text},
            **self._containers(simple),
        }

    def _containers(self, simple: _Known) -> Mapping[str, _Known]:
        shared = {**simple, "enum": _list_of(_text), "oneOf": _list_of(_anything)}
        schemas = _map_of(self.check_schema)
        return {
            "object": {
                **shared,
                "additionalProperties": self._rest,
                "dependencies": _map_of(_anything),
                **dict.fromkeys(("patternProperties", "properties"), schemas),
            },
            "array": {
                **shared,
                "additionalItems": self._rest,
                "items": self._items,
                "itemsSchema": self.check_schema,
                **dict.fromkeys(("maxItems", "minItems"), self._integer),
                "uniqueItems": _boolean,
            },
        }


def scalar_text(value: Json) -> str | None:
    """Text, number or boolean as text; None for everything else."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str) else None


def _check_members(known: Mapping[str, _Check], members: Members) -> None:
    for name, value in members:
        if value is not None and name in known:
            known[name](value)


def _text(value: Json) -> None:
    if scalar_text(value) is None:
        raise LegacyMismatchError("expected text")


def _boolean(value: Json) -> None:
    if isinstance(value, bool | Whole):
        return
    if isinstance(value, Fraction) or not _is_text(value, _BOOLEANS.__contains__):
        raise LegacyMismatchError("expected true or false")


def _is_text(value: Json, fits: Callable[[str], bool]) -> bool:
    """Text that is blank, `null`, or fits."""
    if not isinstance(value, str):
        return False
    text = value.strip(_BLANKS)
    return text in ("", "null") or fits(text)


def _anything(_value: Json) -> None:
    pass


def _list_of(check: _Check) -> _Check:
    def check_list(value: Json) -> None:
        if not isinstance(value, list) or isinstance(value, Members):
            raise LegacyMismatchError("expected a list")
        for item in value:
            if item is not None:
                check(item)

    return check_list


def _map_of(check: _Check) -> _Check:
    def check_map(value: Json) -> None:
        if not isinstance(value, Members):
            raise LegacyMismatchError("expected an object")
        for _, item in value:
            if item is not None:
                check(item)

    return check_map
