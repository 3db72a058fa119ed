"""Definitions as people write them, and what they make of them in the next version."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from random import Random
from typing import Any, Final

Json = Any

_WORDS: Final = ("id", "name", "amount", "code", "created", "ref", "status", "total", "kind")
_PLAIN: Final = ("string", "string", "int", "long", "float", "double", "boolean", "bytes")
_LOGICAL: Final = (
    {"type": "long", "logicalType": "timestamp-millis"},
    {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2},
    {"type": "string", "logicalType": "uuid"},
)
_DOC: Final = "some documentation text of this field, as people write it"
_DEEPEST: Final = 2


def pairs(count: int, seed: int) -> Iterator[tuple[str, str]]:
    """`count` times a writer and a reader: records of 12 to 60 fields, some 5.5 KB each.

    One to three edits lie between the two, about one in three of which is incompatible.
    """
    random = Random(seed)  # noqa: S311 - the same pairs every time
    for number in range(count):
        writer = _Generator(random).top(f"Event{number}", random.randrange(12, 61))
        reader = deepcopy(writer)
        for _ in range(random.randrange(1, 4)):
            _edit(reader["fields"], random)
        yield json.dumps(writer), json.dumps(reader)


def history(versions: int, fields: int, seed: int) -> Iterator[str]:
    """Versions of one record of so many fields, each of which adds an optional one."""
    random = Random(seed)  # noqa: S311 - the same history every time
    record = _Generator(random).top("Wide", fields)
    for version in range(versions):
        yield json.dumps(record)
        record["fields"].append(_optional(f"added_{version}"))


class _Generator:
    """Types of one definition; `named` of them have names so far."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._named = 0

    def top(self, name: str, fields: int) -> Json:
        return {**self._record(name, fields, 0), "namespace": "acme.events"}

    def _record(self, name: str, fields: int, depth: int) -> Json:
        members = [self._field(number, depth) for number in range(fields)]
        return {"type": "record", "name": name, "fields": members}

    def _field(self, number: int, depth: int) -> Json:
        name = f"field_{number}_{self._random.choice(_WORDS)}"
        field = {"name": name, "type": self._type(depth)}
        if isinstance(field["type"], list):
            field["default"] = None
        if self._random.random() < 0.3:
            field["doc"] = _DOC
        return field

    def _plain(self) -> Json:
        return self._random.choice((*_PLAIN, *_LOGICAL))

    def _type(self, depth: int) -> Json:
        kinds = ("plain", "optional", "array", "map", "enum", "record")
        (kind,) = self._random.choices(kinds, weights=(50, 22, 8, 5, 7, 8))
        deeper = depth < _DEEPEST
        match kind:
            case "optional":
                return ["null", self._plain()]
            case "array":
                return {"type": "array", "items": self._type(depth + 1) if deeper else "string"}
            case "map":
                return {"type": "map", "values": self._plain()}
            case "enum":
                symbols = [f"S{number}" for number in range(self._random.randrange(3, 12))]
                return {"type": "enum", "name": self._name("Kind"), "symbols": symbols}
            case "record" if deeper:
                name = self._name("Part")
                return self._record(name, self._random.randrange(3, 9), depth + 1)
            case _:
                return self._plain()

    def _name(self, word: str) -> str:
        self._named += 1
        return f"{word}{self._named}"


def _edit(fields: list[Json], random: Random) -> None:
    kinds = ("add", "remove", "widen", "symbol", "require", "retype")
    (kind,) = random.choices(kinds, weights=(40, 15, 15, 10, 10, 10))
    number = random.randrange(10**6)
    match kind:
        case "add":
            fields.append(_optional(f"added_{number}"))
        case "remove":
            fields.pop(random.randrange(len(fields)))
        case "require":
            fields.append({"name": f"required_{number}", "type": "string"})
        case "widen":
            _retype(fields, "int", "long", random)
        case "retype":
            _retype(fields, "string", "int", random)
        case _:
            for field in fields:
                if isinstance(field["type"], dict) and field["type"]["type"] == "enum":
                    field["type"]["symbols"].append(f"NEW{number}")
                    return


def _retype(fields: list[Json], old: str, new: str, random: Random) -> None:
    found = [field for field in fields if field["type"] == old]
    if found:
        random.choice(found)["type"] = new


def _optional(name: str) -> Json:
    return {"name": name, "type": ["null", "string"], "default": None}
