"""Where the fields of a topic's definitions stand, to tell what may hold a sensitive one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from gitops.compatibility.avro.schema import Array, Map, Record, Schema, Union
from gitops.model.schema import AVRO_DEFINED, SchemaInfo, SchemaType
from gitops.replay.kernel.definition import DefinitionError, avro_form
from gitops.replay.kernel.key_value.halves import halves_of

Path = tuple[str, ...]
"""The steps of a field's path, without those into arrays and maps."""

_MOST: Final = 20_000
"""Places of a definition that are looked at, as kernels have it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """All fields that definitions have, and what stands `above` a sensitive one."""

    known: frozenset[Path]
    above: frozenset[Path]

    @classmethod
    def of(cls, schemas: Iterable[SchemaInfo], is_sensitive: Callable[[Path], bool]) -> Places:
        """Those of definitions in Avro's form, whose paths are known."""
        known = frozenset(path for schema in schemas for path in field_paths(schema))
        hidden = filter(is_sensitive, known)
        above = frozenset(path[:end] for path in hidden for end in range(len(path)))
        return cls(known=known, above=above)

    def may_hold(self, at: Path) -> bool:
        """Whether a text or a number there stands where something sensitive should be.

        So does one in a member that no definition has, beside a sensitive one.
        """
        place: Path = ()
        for step in at:
            if (*place, step) in self.known:
                place = (*place, step)
        return place in self.above


def field_paths(schema: SchemaInfo) -> list[Path]:
    """Of all fields of a definition; of a record within itself those of its outermost."""
    try:
        if schema.type is SchemaType.KEY_VALUE:
            halves = zip(("key", "value"), halves_of(schema), strict=True)
            return [(name, *path) for name, half in halves for path in ((), *field_paths(half))]
        if schema.type in AVRO_DEFINED:
            return list(islice(_below(avro_form(schema), (), ()), _MOST))
    except DefinitionError:
        pass
    return []


def _below(schema: Schema, at: Path, within: tuple[Record, ...]) -> Iterator[Path]:
    match schema:
        case Record() if not any(each is schema for each in within):
            for field in schema.all_fields:
                yield (*at, field.name)
                yield from _below(field.type, (*at, field.name), (*within, schema))
        case Array():
            yield from _below(schema.items, at, within)
        case Map():
            yield from _below(schema.values, at, within)
        case Union():
            for branch in schema.branches:
                yield from _below(branch, at, within)
        case _:
            pass
