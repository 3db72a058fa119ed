"""Random classes of `pulsar.schema`, as the source of a module."""

from __future__ import annotations

from random import Random
from typing import Final

HEAD: Final = "from enum import Enum\n\nfrom pulsar.schema import *\n\n\n"
_PLAIN: Final = {
    "String": '"x"', "Bytes": None, "Boolean": "True", "Integer": "5", "Long": "7",
    "Float": "0.5", "Double": "1.5",
}  # fmt: skip


class RandomRecords:
    """Makes the source of a record with what its fields need before it."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)  # noqa: S311 - a test's classes

    def source(self, name: str, depth: int = 2) -> str:
        """The classes, of which the last one has this name."""
        before: list[str] = []
        count = self._random.randint(1, 7)
        fields = [self._field(f"{name}F{each}", depth, before, "enum") for each in range(count)]
        lines = [f"    {name.lower()}{number} = {text}" for number, text in enumerate(fields)]
        if self._random.random() < 0.4:
            lines.insert(0, f"    _avro_namespace = {self._random.choice(['acme', 'com.acme'])!r}")
        if self._random.random() < 0.2:
            lines.insert(0, "    _sorted_fields = True")
        self._random.shuffle(lines)
        return "".join(before) + f"class {name}(Record):\n" + "\n".join(lines) + "\n\n\n"

    def _field(self, name: str, depth: int, before: list[str], *enums: str) -> str:
        """A field; pulsar-client 3.13 writes an enum inside of a list as the word `enum`."""
        kind = self._random.choice([*_PLAIN, *enums, "record", "Array", "Map"])
        if kind == "enum":
            before.append(f"class {name}E(Enum):\n    ONE = 1\n    TWO = 2\n\n\n")
            return f"CustomEnum({name}E{self._options(f'{name}E.TWO')})"
        if kind == "record" and depth:
            before.append(self.source(f"{name}R", depth - 1))
            return f"{name}R({self._options(None).removeprefix(', ')})"
        if kind in ("Array", "Map"):
            inside = self._field(f"{name}I", depth - 1, before) if depth else "String()"
            return f"{kind}({inside}{self._options(None)})"
        plain = kind if kind in _PLAIN else "String"
        return f"{plain}({self._options(_PLAIN[plain]).removeprefix(', ')})"

    def _options(self, default: str | None) -> str:
        given = {
            "default": default if self._random.random() < 0.3 else None,
            "required": "True" if self._random.random() < 0.4 else None,
            "required_default": "True" if self._random.random() < 0.4 else None,
        }
        return "".join(f", {key}={value}" for key, value in given.items() if value)
