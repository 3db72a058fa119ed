"""The classes of Jackson's JsonSchema: which member takes which value.

Members that a class does not know may hold anything. Each was tried with the classes of a
Pulsar 4.0.7 broker, so Jackson's conversions (text for a number, a number for text) are theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from gitops.schemas.avro.json_text import java_double
from gitops.schemas.jackson import Fraction, Json, Members, Whole

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


def read_bean(kind: str, members: Members) -> JsonSchema:
    """The schema of a known `kind`; raises MisfitError."""
    _check_members(KINDS[kind], members)
    found = [scalar_text(value) for name, value in members if name == "id" and "id" in KINDS[kind]]
    return JsonSchema(found[-1] if found else None)


def check_schema(value: Json) -> JsonSchema | None:
    """A schema inside another; None for `null`. Raises MisfitError."""
    if value is None:
        return None
    if isinstance(value, Members):
        kinds = [scalar_text(given) for name, given in value if name == "type"]
        return read_bean(_kind(next((k for k in kinds if k is not None), None)), value)
    if isinstance(value, list):
        return _check_pair(value)
    raise LegacyMismatchError("a schema is an object")


def _check_pair(value: list[Json]) -> JsonSchema | None:
    """`["type", {members}]`; without the members it is null."""
    kind = _kind("null" if value[:1] == [None] else scalar_text(value[0]) if value else None)
    match value[1:]:
        case []:
            return None
        case [Members() as members]:
            return read_bean(kind, members)
        case _:
            raise LegacyMismatchError("a pair is of a type and an object")


def _kind(name: str | None) -> str:
    if name is None or name not in KINDS:
        raise LegacyMismatchError(f"'{name}' is not a type of JsonSchema")
    return name


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


def _double(value: Json) -> None:
    if isinstance(value, Whole | Fraction) or value in ("INF", "-INF"):
        return
    if not _is_text(value, lambda text: java_double(text) is not None):
        raise LegacyMismatchError("expected a number")


def _integer(value: Json) -> None:
    if isinstance(value, Fraction):
        fits = _INT[0] <= float(value) <= _INT[-1]
    else:
        fits = _is_text(value, _is_int)
    if not fits:
        raise LegacyMismatchError("expected a whole number of 32 bits")


def _is_int(text: str) -> bool:
    digits = text[1:] if text[:1] in ("+", "-") else text
    return digits.isdecimal() and int(text) in _INT


def _is_text(value: Json, fits: Callable[[str], bool]) -> bool:
    """Text that is blank, `null`, or fits."""
    if not isinstance(value, str):
        return False
    text = value.strip(_BLANKS)
    return text in ("", "null") or fits(text)


def _format(value: Json) -> None:
    if isinstance(value, Whole):
        _integer(value)
    elif isinstance(value, Fraction) or not isinstance(value, str):
        raise LegacyMismatchError("expected text")


def _anything(_value: Json) -> None:
    pass


def _list_of(check: _Check) -> _Check:
    def checked(value: Json) -> None:
        if not isinstance(value, list) or isinstance(value, Members):
            raise LegacyMismatchError("expected a list")
        for item in value:
            if item is not None:
                check(item)

    return checked


def _map_of(check: _Check) -> _Check:
    def checked(value: Json) -> None:
        if not isinstance(value, Members):
            raise LegacyMismatchError("expected an object")
        for _, item in value:
            if item is not None:
                check(item)

    return checked


def _rest(value: Json) -> None:
    """`additionalProperties`, `additionalItems`: true, false, or a schema."""
    if isinstance(value, bool):
        return
    if not isinstance(value, Members):
        raise LegacyMismatchError("expected true, false or an object")
    check_schema(value)


def _items(value: Json) -> None:
    if isinstance(value, Members):
        check_schema(value)
    else:
        _list_of(check_schema)(value)


def _link(value: Json) -> None:
    if not isinstance(value, Members):
        raise LegacyMismatchError("expected an object")
    _check_members(_LINK, value)


_LINK: Final[Mapping[str, _Check]] = {
    **dict.fromkeys(("href", "rel", "method", "enctype", "mediaType", "title"), _text),
    **dict.fromkeys(("targetSchema", "schema"), check_schema),
}
_SIMPLE: Final[Mapping[str, _Check]] = {
    **dict.fromkeys(
        ("id", "$ref", "$schema", "description", "default", "title", "pathStart"), _text
    ),
    **dict.fromkeys(("disallow", "extends"), _list_of(check_schema)),
    **dict.fromkeys(("required", "readonly"), _boolean),
    "links": _list_of(_link),
}
_VALUE: Final[Mapping[str, _Check]] = {**_SIMPLE, "enum": _list_of(_text), "format": _format}
_CONTAINER: Final[Mapping[str, _Check]] = {
    **_SIMPLE,
    "enum": _list_of(_text),
    "oneOf": _list_of(_anything),
}
_NUMBER: Final[Mapping[str, _Check]] = {
    **_VALUE,
    **dict.fromkeys(("exclusiveMaximum", "exclusiveMinimum"), _boolean),
    **dict.fromkeys(("maximum", "minimum", "multipleOf"), _double),
}

KINDS: Final[Mapping[str, Mapping[str, _Check]]] = MappingProxyType(
    {
        "any": _SIMPLE,
        "null": _SIMPLE,
        "boolean": _VALUE,
        "number": _NUMBER,
        "integer": {**_NUMBER, "divisibleBy": _integer},
        "string": {
            **_VALUE,
            **dict.fromkeys(("maxLength", "minLength"), _integer),
            "pattern": _text,
        },
        "object": {
            **_CONTAINER,
            "additionalProperties": _rest,
            "dependencies": _map_of(_anything),
            **dict.fromkeys(("patternProperties", "properties"), _map_of(check_schema)),
        },
        "array": {
            **_CONTAINER,
            "additionalItems": _rest,
            "items": _items,
            "itemsSchema": check_schema,
            **dict.fromkeys(("maxItems", "minItems"), _integer),
            "uniqueItems": _boolean,
        },
    }
)
"""Every type of JsonSchema and what its members take."""
