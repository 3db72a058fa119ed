"""Where in a text a secret may stand, so that no output shows that line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, get_args

from pydantic import BaseModel

from gitops.repository.documents.authentication import IS_SECRET, REFERENCE
from gitops.repository.positions import Path, child
from gitops.repository.suggestions import closest
from gitops.repository.yaml.parser import ParsedYaml

_SECRET_KEY: Final = re.compile(r"token|password|secret|credential|private", re.IGNORECASE)


def secret_offsets(parsed: ParsedYaml, model: type[BaseModel]) -> Iterator[tuple[int, int]]:
    """Start and end of every scalar that may be a secret, and not a reference to one.

    Names of keys tell, and the types that the documents of `model` give to keys.
    """
    named = secret_keys(model)
    for path, span in parsed.values.items():
        text = parsed.text[span.start : span.end]
        if _is_secret_place(path, text, named) and not REFERENCE.fullmatch(text.strip("\"'")):
            value = _value(parsed.value, path)
            if not isinstance(value, dict | list):
                yield span


@cache
def secret_keys(model: type[BaseModel]) -> frozenset[str]:
    """The keys anywhere in a document whose type is Secret although their names do not tell."""
    found: set[str] = set()
    models, seen = [model], {model}
    while models:
        for name, field in models.pop().model_fields.items():
            key = field.alias or name
            inner = [*field.metadata, *_parts(field.annotation)]
            if IS_SECRET in inner and not _SECRET_KEY.search(key):
                found.add(key)
            below = {each for each in inner if isinstance(each, type)} - seen
            models += [each for each in below if issubclass(each, BaseModel)]
            seen |= below
    return frozenset(found)


def _parts(annotation: object) -> Iterator[object]:
    """An annotation and all that it is made of."""
    yield annotation
    for each in get_args(annotation):
        yield from _parts(each)


def _is_secret_place(path: Path, text: str, named: frozenset[str]) -> bool:
    if not path:
        return False
    if any(_is_secret_name(str(part), named) for part in path):
        return True
    return "@" in text and "://" in text


def _is_secret_name(name: str, named: frozenset[str]) -> bool:
    """Also a misspelt one: its line is shown with the finding about it."""
    if name == "authentication" or _SECRET_KEY.search(name):
        return True
    return name in named or closest(name, named) is not None


def _value(document: object, path: Path) -> object:
    here = document
    for part in path:
        try:
            here = child(here, part)
        except KeyError:
            return None
    return here
