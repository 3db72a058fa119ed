"""Random definitions full of logical types, with payloads that have their values and others."""

from __future__ import annotations

import copy
from typing import Any, Final

from tests.oracle.random_source import Chance

Json = Any

LOGICAL: Final[dict[str, tuple[Json, ...]]] = {
    "int": (
        {"logicalType": "date"},
        {"logicalType": "time-millis"},
        {"logicalType": "timestamp-millis"},
        {"java-class": "java.lang.Byte"},
        {"java-class": "java.lang.Short"},
        {"java-class": "java.lang.Character"},
        {"java-class": "java.lang.Integer"},
    ),
    "long": (
        *({"logicalType": f"timestamp-{unit}"} for unit in ("millis", "micros", "nanos")),
        *({"logicalType": f"local-timestamp-{unit}"} for unit in ("millis", "micros", "nanos")),
        {"logicalType": "time-micros"},
        {"logicalType": "time-millis"},
        {"java-class": "java.lang.Short"},
    ),
    "string": (
        {"logicalType": "uuid"},
        {"logicalType": "uuid"},
        {"logicalType": "uuid", "java-class": "java.math.BigInteger"},
        *(
            {"java-class": f"java.{name}"}
            for name in ("math.BigDecimal", "math.BigInteger", "net.URI", "net.URL", "io.File")
        ),
    ),
    "bytes": (
        {"logicalType": "decimal", "precision": 4, "scale": 2},
        {"logicalType": "decimal", "precision": 9, "scale": 2},
        {"logicalType": "decimal", "precision": 9, "scale": 4},
        {"logicalType": "decimal", "precision": 2, "scale": 5},
        {"logicalType": "decimal", "precision": True},
        {"logicalType": "big-decimal"},
        {"logicalType": "uuid"},
    ),
    "fixed": (
        {"logicalType": "decimal", "precision": 2, "scale": 1},
        {"logicalType": "decimal", "precision": 2, "scale": 2},
        {"logicalType": "duration"},
    ),
}
"""What a type may have beside its kind; Avro ignores some of it."""


def decorated(chance: Chance, definition: Json) -> Json:
    """A copy whose types without parts have logical types and Java's classes."""
    return _decorated(chance, copy.deepcopy(definition))


def _decorated(chance: Chance, node: Json) -> Json:
    match node:
        case str() if node in LOGICAL and chance.maybe(0.6):
            return {"type": node, **chance.choice(LOGICAL[node])}
        case list():
            return [_decorated(chance, each) for each in node]
        case {"type": str(kind)} if kind in LOGICAL:
            return {**node, **chance.choice(LOGICAL[kind])} if chance.maybe(0.6) else node
        case {"fields": list(fields)}:
            for field in fields:
                _decorate_inside(chance, field)
        case dict():
            _decorate_inside(chance, node)
    return node


def _decorate_inside(chance: Chance, node: Json) -> None:
    """What a field, an array or a map holds; the `type` of an array is its name."""
    for key in ("items", "values", "type"):
        if isinstance(node, dict) and node.get(key) not in (None, "array", "map"):
            node[key] = _decorated(chance, node[key])
