"""Which keys a mapping of a document may have."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, get_args

from pydantic import BaseModel

from gitops.repository.positions import Path, child


def known_keys(model: type[BaseModel], path: Path, document: object = None) -> tuple[str, ...]:
    """The keys that the mapping at `path` of `document`, of this model, may have, sorted.

    Where a mapping may be of several kinds, its own `kind` decides; without a document, or where
    it names none of them, the keys of all kinds are meant.
    """
    here: tuple[type[BaseModel], ...] = (model,)
    value = document
    for part in path:
        value = _value(value, part)
        here = _below(here, part) or here
        here = tuple(each for each in here if _is_kind(each, value)) or here
    return tuple(sorted({str(key) for each in here for key in _fields(each)}))


def _value(value: object, part: str | int) -> object:
    try:
        return child(value, part)
    except KeyError:
        return None


def _is_kind(model: type[BaseModel], value: object) -> bool:
    given = value.get("kind") if isinstance(value, dict) else None
    return given in get_args(_fields(model).get("kind"))


def _below(models: tuple[type[BaseModel], ...], part: str | int) -> tuple[type[BaseModel], ...]:
    """The models one step down; a step into a list or a free mapping stays with its models."""
    found = [_fields(each)[part] for each in models if part in _fields(each)]
    return tuple(dict.fromkeys(model for annotation in found for model in _models(annotation)))


@cache
def _fields(model: type[BaseModel]) -> dict[str | int, Any]:
    return {field.alias or name: field.annotation for name, field in model.model_fields.items()}


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)
