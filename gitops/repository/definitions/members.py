"""Members of a definition that mean nothing to Avro, and seem to be meant for one that does.

Any member may stand in a schema, so that only those are told that are nearly one of Avro's, and
a default in a type, where people put it and Avro never looks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from gitops.repository.definitions.ignored import Ignored, types_in
from gitops.repository.definitions.named_types import NAMED, PRIMITIVES, kind_of
from gitops.repository.positions import pointer
from gitops.repository.suggestions import closest

_OF_FIELD: Final = ("aliases", "default", "doc", "order")
_OF_NAMED: Final = {
    "record": ("aliases", "doc", "namespace"),
    "error": ("aliases", "doc", "namespace"),
    "enum": ("aliases", "default", "doc", "namespace"),
    "fixed": ("aliases", "namespace"),
}
_OWN: Final = frozenset({
    "aliases", "default", "doc", "fields", "items", "logicalType", "name", "namespace", "order",
    "precision", "scale", "size", "symbols", "type", "values",
})  # fmt: skip
_NEAR: Final = 0.8
_WITHOUT_DEFAULT: Final = PRIMITIVES | {"array", "map", "fixed"}
_MEMBER: Final = re.compile(r'"([^"\\]{2,20})"\s*:')
_INNERMOST: Final = re.compile(r'\{[^{}]*"default"[^{}]*\}')


def may_have_ignored_members(text: str) -> bool:
    """Whether it pays to read the definition for them: one without is told at once."""
    words = set(_MEMBER.findall(text)) - _OWN
    return any(_meant(word) for word in words) or any(
        '"name"' not in each for each in _INNERMOST.findall(text)
    )


def ignored_members(definition: Any) -> Iterator[Ignored]:  # noqa: ANN401 - JSON
    """Every such member of a definition, read as JSON."""
    for node, at in types_in(definition):
        kind = kind_of(node)
        yield from _misspelt(node, at, _OF_NAMED.get(kind, ()))
        if kind in _WITHOUT_DEFAULT and "default" in node:
            message = f"a default in the type {kind}, where Avro does not look: it is ignored"
            hint = "move it out of the type, beside the field's name"
            yield Ignored(message, f"{at}/default", hint)
        if kind in NAMED and isinstance(fields := node.get("fields"), list):
            for index, field in enumerate(fields):
                if isinstance(field, dict):
                    yield from _misspelt(field, f"{at}/fields/{index}", _OF_FIELD)


def _misspelt(node: dict[str, Any], at: str, meaningful: tuple[str, ...]) -> Iterator[Ignored]:
    for word in node.keys() - _OWN:
        meant = _meant(word)
        if meant in meaningful and meant not in node:
            message = f"'{word}' means nothing to Avro: it is ignored"
            yield Ignored(message, f"{at}{pointer((word,))}", f"did you mean {meant}?")


@lru_cache(maxsize=1024)
def _meant(word: str) -> str | None:
    """Avro's member that the word is nearly, of those that may be left out."""
    known = ("aliases", "default", "doc", "namespace", "order")
    return closest(word, known, near=_NEAR)
