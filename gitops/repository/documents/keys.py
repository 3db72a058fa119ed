"""Which keys a mapping of a document may have."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, get_args

from pydantic import BaseModel

from gitops.repository.positions import Path


def known_keys(model: type[BaseModel], path: Path) -> tuple[str, ...]:
    """The keys of the mapping at `path` of a document of this model, sorted."""
    here: tuple[type[BaseModel], ...] = (model,)
    for part in path:
        here = _below(here, part) or here
    return tuple(sorted({str(key) for each in here for key in _fields(each)}))


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
