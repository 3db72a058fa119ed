"""What Avro passes over in silence in a definition, and the types in which it may stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from gitops.repository.definitions.named_types import children


class Ignored(NamedTuple):
    """What is ignored and why; `pointer` is that of the member to look at."""

    message: str
    pointer: str
    hint: str


def types_in(definition: Any) -> Iterator[tuple[dict[str, Any], str]]:  # noqa: ANN401 - JSON
    """Every type that is written as an object, with its pointer; the definition is read as JSON."""
    waiting: list[tuple[Any, str]] = [(definition, "")]
    while waiting:
        node, at = waiting.pop()
        if isinstance(node, list):
            waiting += [(each, f"{at}/{i}") for i, each in enumerate(node)]
        if isinstance(node, dict):
            yield node, at
            waiting += [(box[key], at + step) for step, box, key in children(node)]
