"""Types of Python as Avro's: what Pulsar's Java client makes of the same fields of a POJO.

| Python | Avro |
|---|---|
| `str`, `bytes`, `bool` | string, bytes, boolean |
| `int`, `float` | long, double; `Annotated[int, "INT32"]` int, `Annotated[float, "FLOAT"]` float |
| `Decimal` | bytes, decimal; `Annotated[Decimal, "DECIMAL(9, 2)"]` |
| `datetime`, `date`, `time`, `UUID` | timestamp-micros (jsr310: -millis), date, time-millis, uuid |
| `list`, `set`, `tuple[X, ...]`, `dict[str, X]` | array, map |
| `Enum` | enum of the members' names |
| `X | None` | the union with null; the default is null unless the class has another |
"""

from __future__ import annotations

import collections.abc
import datetime
import decimal
import enum
import re
import types
import typing
import uuid
from collections.abc import Mapping
from typing import Any, Final

Avro = Any
"""An Avro definition as Python's JSON: a name, an object, or a list of them."""

NULL: Final = "null"
NUMBERS: Final = ("boolean", "int", "long", "float", "double")
"""What Java has as primitive types: they are never null in a POJO."""

_TYPES: Final[Mapping[type, Avro]] = {
    str: "string",
    bytes: "bytes",
    bytearray: "bytes",
    bool: "boolean",
    int: "long",
    float: "double",
    type(None): NULL,
    uuid.UUID: {"type": "string", "logicalType": "uuid"},
    datetime.date: {"type": "int", "logicalType": "date"},
    datetime.time: {"type": "int", "logicalType": "time-millis"},
}
_WIDTHS: Final = {
    ("long", "INT32"): "int",
    ("long", "INT64"): "long",
    ("double", "FLOAT"): "float",
    ("double", "DOUBLE"): "double",
}
"""Pulsar's own names of narrower numbers, in `Annotated`."""
_DECIMAL: Final = re.compile(r"DECIMAL\((\d{1,9}), ?(\d{1,9})\)")
_ARRAYS: Final = (collections.abc.Sequence, collections.abc.Set, collections.abc.Iterable)
_UNIONS: Final = (typing.Union, types.UnionType)


def unwrapped(annotation: Any, metadata: tuple[object, ...] = ()) -> tuple[Any, tuple[object, ...]]:  # noqa: ANN401 - any type
    """A type without Annotated, NewType, `type X = …` and Final, and what Annotated adds."""
    while True:
        if typing.get_origin(annotation) is typing.Annotated:
            annotation, *items = typing.get_args(annotation)
            metadata = (*metadata, *items)
        elif typing.get_origin(annotation) is typing.Final:
            (annotation,) = typing.get_args(annotation)
        elif isinstance(annotation, typing.NewType):
            annotation = annotation.__supertype__
        elif type(annotation).__name__ == "TypeAliasType":
            annotation = annotation.__value__
        else:
            return annotation, metadata


def union_members(annotation: Any) -> tuple[Any, ...] | None:  # noqa: ANN401 - any type
    """The members of a union; the types of the values of a Literal; None for other types."""
    if typing.get_origin(annotation) in _UNIONS:
        return typing.get_args(annotation)
    if typing.get_origin(annotation) is typing.Literal:
        return tuple(dict.fromkeys(type(value) for value in typing.get_args(annotation)))
    return None


def item_type(annotation: Any) -> Any:  # noqa: ANN401 - any type
    """The type of what an array contains; None for other types."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if not isinstance(origin, type) or not issubclass(origin, _ARRAYS) or is_map(origin):
        return None
    if issubclass(origin, tuple) and arguments[1:] != (...,):
        return None
    return arguments[0]


def is_map(origin: object) -> bool:
    """Whether it is `dict`, or another mapping."""
    return isinstance(origin, type) and issubclass(origin, collections.abc.Mapping)


def value_type(annotation: Any) -> Any:  # noqa: ANN401 - any type
    """The type of the values of a map with texts as keys; None for other types."""
    if not is_map(typing.get_origin(annotation)):
        return None
    key, value = typing.get_args(annotation)
    key, _ = unwrapped(key)
    return value if isinstance(key, type) and issubclass(key, str) else None


def plain_type(cls: type, metadata: tuple[object, ...], *, jsr310: bool) -> Avro:
    """The Avro type of a class that has no name of its own in Avro; None for other classes."""
    if issubclass(cls, decimal.Decimal):
        return _decimal(metadata)
    if issubclass(cls, datetime.datetime):
        return {"type": "long", "logicalType": f"timestamp-{'millis' if jsr310 else 'micros'}"}
    if issubclass(cls, enum.Enum):
        return None
    value = next((_TYPES[base] for base in cls.__mro__ if base in _TYPES), None)
    if isinstance(value, str):
        widths = (_WIDTHS.get((value, item)) for item in metadata if isinstance(item, str))
        return next((width for width in widths if width), value)
    return value or _pydantic_text(cls)


def _decimal(metadata: tuple[object, ...]) -> Avro:
    """Bytes with precision and scale, from `DECIMAL(9, 2)` or from pydantic's limits."""
    for value in _flat(metadata):
        named = _DECIMAL.fullmatch(value) if isinstance(value, str) else None
        if named:
            precision, scale = int(named[1]), int(named[2])
        elif getattr(value, "max_digits", None) is not None:
            precision = getattr(value, "max_digits", 0)
            scale = getattr(value, "decimal_places", None) or 0
        else:
            continue
        return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}
    return None


def _flat(metadata: tuple[object, ...]) -> list[object]:
    """The same with what pydantic's `Field(…)` in Annotated contains."""
    return [
        item for value in metadata for item in (value, *(getattr(value, "metadata", None) or ()))
    ]


def _pydantic_text(cls: type) -> Avro:
    """A type of pydantic that is text in JSON, such as HttpUrl; None for others."""
    if not hasattr(cls, "__get_pydantic_core_schema__"):
        return None
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticUserError

    try:
        made = TypeAdapter(cls).json_schema(mode="serialization")
    except (PydanticUserError, ImportError):
        return None
    return "string" if made.get("type") == "string" else None
