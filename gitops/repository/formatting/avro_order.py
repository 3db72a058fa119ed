"""The order of members that people expect in an Avro definition."""

from __future__ import annotations

import json
from typing import Final, Literal

from gitops.repository.formatting.avro_tree import Container, Item, Value

Role = Literal["schema", "field"]
"""What an object is; the values of all other members are data, whose order is left alone."""

_ORDER: Final[dict[Role, tuple[str, ...]]] = {
    "schema": (
        "type", "name", "namespace", "doc", "aliases", "fields", "symbols", "items", "values",
        "size", "default", "logicalType", "precision", "scale",
    ),
    "field": ("name", "type", "default", "doc", "order", "aliases"),
}  # fmt: skip
_BELOW: Final[dict[Role, dict[str, Role]]] = {
    "schema": {"type": "schema", "items": "schema", "values": "schema", "fields": "field"},
    "field": {"type": "schema"},
}


def put_in_order(value: Value, role: Role = "schema") -> None:
    """Sort known members, the others behind them as they are; twins of one name stay put."""
    if isinstance(value, str):
        return
    if value.opening == "[":
        for item in value.items:
            put_in_order(item.value, role)
        return
    for item in value.items:
        below = _BELOW[role].get(name_of(item))
        if below is not None:
            put_in_order(item.value, below)
    names = [name_of(item) for item in value.items]
    if len(set(names)) == len(names):
        _sort(value, _ORDER[role])


def name_of(item: Item) -> str:
    """The name that a member's key means."""
    name: str = json.loads(item.key)
    return name


def _sort(value: Container, order: tuple[str, ...]) -> None:
    rank = {name: place for place, name in enumerate(order)}
    value.items.sort(key=lambda item: rank.get(name_of(item), len(rank)))
