"""The order of the keys of a manifest: that of its document's classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, get_args, get_origin

from pydantic import BaseModel

Place = tuple[Any, ...]
"""The types, as annotations without unions, of which one value of a document may be."""


def place_of(annotation: object) -> Place:
    """The types that an annotation stands for."""
    return tuple(_types(annotation))


def below(place: Place, part: str | int) -> Place:
    """The place one step down: a key of a document or of a free mapping, an index of a list."""
    return tuple(found for each in place for found in _types(_step(each, part)))


def rank(place: Place, keys: Iterable[str]) -> dict[str, int]:
    """The rank of each key that the mapping at a place knows; empty for a free mapping.

    Of several documents it is the one that knows most of the keys.
    """
    present = set(keys)
    known = [_keys(each) for each in place if isinstance(each, type)]
    best = max(known, key=lambda order: len(present & set(order)), default=())
    return {key: index for index, key in enumerate(best)}


def _types(annotation: object) -> Iterator[object]:
    is_document = isinstance(annotation, type) and issubclass(annotation, BaseModel)
    if is_document or get_origin(annotation) in (dict, list, tuple):
        yield annotation
    else:
        for argument in get_args(annotation):
            yield from _types(argument)


def _step(annotation: Any, part: str | int) -> object:  # noqa: ANN401 - annotations have no type
    if isinstance(annotation, type):
        return _fields(annotation).get(part)
    arguments = get_args(annotation)
    if get_origin(annotation) is dict:
        return arguments[1] if isinstance(part, str) else None
    return arguments[0] if isinstance(part, int) else None


@cache
def _fields(model: type[BaseModel]) -> dict[str | int, Any]:
    return {field.alias or name: field.annotation for name, field in model.model_fields.items()}


@cache
def _keys(model: type[BaseModel]) -> tuple[str, ...]:
    """The keys as the class declares them, then those of each class above it."""
    names = dict.fromkeys(
        name
        for each in model.__mro__
        if issubclass(each, BaseModel)
        for name, field in each.model_fields.items()
        if not any(_has(base, name, field.annotation) for base in each.__bases__)
    )
    return tuple(model.model_fields[name].alias or name for name in names)


def _has(model: type, name: str, annotation: object) -> bool:
    """Whether a class has this field with the same type, so that one below does not declare it."""
    field = getattr(model, "model_fields", {}).get(name)
    return field is not None and field.annotation == annotation
