"""Changes to any JSON value, whatever it stands for."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Final

from tests.oracle.odd_values import ODD_NUMBERS, ODD_TEXTS, ODD_VALUES
from tests.oracle.random_source import Chance

Json = Any
Place = tuple[Json, Any]
"""A list or an object, and an index or a name in it."""

_ODD: Final = (ODD_VALUES, ODD_NUMBERS, ODD_TEXTS)


def places(value: Json) -> Iterator[Place]:
    """Every place inside the value, outermost first."""
    if isinstance(value, dict):
        keys: list[Any] = list(value)
    elif isinstance(value, list):
        keys = list(range(len(value)))
    else:
        return
    for key in keys:
        yield value, key
    for key in keys:
        yield from places(value[key])


def spoilt(chance: Chance, value: Json) -> Json:
    """A copy in which something was dropped, put twice, moved, or replaced by something odd."""
    value = copy.deepcopy(value)
    found = list(places(value))
    if not found:
        return chance.choice(chance.choice(_ODD))
    holder, key = chance.choice(found)
    match chance.randrange(6):
        case 0:
            del holder[key]
        case 1:
            other, name = chance.choice(found)
            holder[key] = copy.deepcopy(other[name])
        case 2:
            _again(chance, holder, key)
        case 3:
            holder[key] = chance.choice(([holder[key]], {"type": holder[key]}))
        case 4 if isinstance(holder[key], str):
            holder[key] = _respelt(chance, holder[key])
        case _:
            holder[key] = chance.choice(chance.choice(_ODD))
    return value


def _again(chance: Chance, holder: Json, key: Any) -> None:  # noqa: ANN401 - an index or a name
    if isinstance(holder, list):
        holder.insert(chance.randrange(len(holder) + 1), copy.deepcopy(holder[key]))
    else:
        holder[chance.choice(ODD_TEXTS)] = holder.pop(key)


def _respelt(chance: Chance, text: str) -> str:
    at = chance.randrange(len(text) + 1)
    extra = chance.choice(ODD_TEXTS)
    return chance.choice((text.upper(), text[:at], text[:at] + extra + text[at:], f" {text}"))
