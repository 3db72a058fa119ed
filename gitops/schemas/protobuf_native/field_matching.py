"""Which field of a newer message is which of an older one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from gitops.schemas.protobuf_native.schema import Field, Message

_ALIKE: Final = 0.6
"""From how much likeness on (0 to 1) two names may be meant for one."""

_LONGEST: Final = 40
"""What is behind so many characters of a name does not count: comparing is quadratic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldMatches:
    """By name, and by number where the names are on one side only; in the order of the files."""

    same: tuple[tuple[Field, Field], ...]
    removed: tuple[Field, ...]
    added: tuple[Field, ...]

    def later(self) -> Mapping[Field, Field]:
        """Old field → new field."""
        return dict(self.same)


def match(old: Message, new: Message) -> FieldMatches:
    """The fields of both; an extension counts by its full name."""
    by_name = {field.name: field for field in old.fields}
    names = {field.name for field in new.fields}
    free = fields_by_number(tuple(field for field in old.fields if field.name not in names))
    same = []
    for field in new.fields:
        before = by_name.get(field.name) or free.pop(field.number, None)
        if before is not None:
            same.append((before, field))
    kept, fields = {before for before, _ in same}, {after for _, after in same}
    return FieldMatches(
        same=tuple(same),
        removed=tuple(field for field in old.fields if field not in kept),
        added=tuple(field for field in new.fields if field not in fields),
    )


def fields_by_number(fields: tuple[Field, ...]) -> dict[int, Field]:
    """The fields by their numbers; of several extensions with one number the first counts."""
    return {field.number: field for field in reversed(fields)}


def similar_names(left: str, right: str) -> bool:
    """Whether one name may be a rewording of the other, or short for it."""
    short, long = sorted((left.lower()[:_LONGEST], right.lower()[:_LONGEST]), key=len)
    letters = iter(long)
    if short[:1] == long[:1] and all(letter in letters for letter in short):
        return True
    return SequenceMatcher(None, short, long).ratio() >= _ALIKE
