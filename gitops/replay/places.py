"""Where the fields of a topic's definitions stand, to tell what may hold a sensitive one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from gitops.compatibility.avro.schema import Array, Map, Record, Schema, Union
from gitops.model.replay import TopicReplay
from gitops.model.schema import AVRO_DEFINED, SchemaInfo, SchemaType
from gitops.replay.kernel.definition import DefinitionError, avro_form
from gitops.replay.kernel.key_value.halves import halves_of

Path = tuple[str, ...]
"""The steps of a field's path, without those into arrays and maps."""

Sensitive = frozenset[Path]
"""Fields that no report shows."""

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


def schemas_of(replay: TopicReplay) -> list[SchemaInfo]:
    """All that a topic's messages are written and read with."""
    return [replay.proposed, *replay.versions.values(), *(one.schema for one in replay.readers)]


def steps(path: str) -> tuple[str, ...]:
    """`lines[].price` as (`lines`, `price`)."""
    return tuple(step for step in path.replace("[]", "").replace("{}", "").split(".") if step)


def is_sensitive(path: Iterable[str], sensitive: Iterable[Path]) -> bool:
    """Whether a path, or one above it, is named.

    Its steps may have others between them, such as the keys of a map, and before them: a name
    alone means the field wherever it stands.
    """
    path = tuple(path)
    return any(_stands_in(name, path) for name in sensitive)


def _stands_in(name: tuple[str, ...], path: tuple[str, ...]) -> bool:
    left = iter(path)
    return all(step in left for step in name)


def unknown_names(replay: TopicReplay, names: Iterable[str]) -> list[str]:
    """Those that are no field of any definition; none where a definition says no paths."""
    found = [field_paths(schema) for schema in schemas_of(replay)]
    known = {path for paths in found for path in paths}
    return [
        name
        for name in names
        if all(found) and not any(is_sensitive(path, {steps(name)}) for path in known)
    ]


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
