"""Which field of a newer record is which of an older one: for the diff, the review and renames.

The review and the diff ask different questions where the new field `c` has the alias `a` and the
new record still has a field `a`. The review asks what a consumer gets: Avro gives `c` the values
that were written as `a`, so `match` connects the two. The diff asks what the author did: `a` is
still there and `c` was added, which is no rename, so `match_changed` leaves `a` as it is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

from gitops.schemas.avro.equality import equal, json_key
from gitops.schemas.avro.schema import Array, Enum, Field, Fixed, Map, Record, Schema, Union

_ALIKE: Final = 0.6
"""From how much likeness on (0 to 1) two names may be meant for one."""

_NEAR: Final = 8
"""How many fields before and behind a new one's place are looked at: comparing names costs."""


def match(old: Record, new: Record, names: Mapping[str, str]) -> dict[str, Field]:
    """New name → the old field that a reader takes it from: by an alias that counts, else by name.

    For the review: an alias counts for a reader also where the old name is still there.

    `names` are the new names of old fields by aliases that count. Of two that end with one name,
    which the broker refuses, the one that has it.
    """
    if not names:  # as in most records
        return {field.name: field for field in old.all_fields if field.name in new.by_name}
    grouped: dict[str, Field] = {}
    for field in old.all_fields:
        name = names.get(field.name, field.name)
        if name in new.by_name and (name == field.name or name not in grouped):
            grouped[name] = field
    return grouped


def match_changed(old: Record, new: Record, names: Mapping[str, str]) -> dict[str, Field]:
    """The same for the diff: an alias of a field that is still there is not a rename.

    Of two old fields that end with one name, which the broker refuses, the last alias counts.
    """
    renamed = {
        name: old.by_name[alias]
        for alias, name in names.items()
        if alias in old.by_name and alias not in new.by_name and name not in old.by_name
    }
    return match(old, new, {}) | renamed


def match_aliases(
    old: Record, new: Record, matched: Mapping[str, Field]
) -> Iterator[tuple[Field, Field]]:
    """Pairs of fields without a match that an alias would connect, if it counted.

    None counts in a record that has another name and no alias for it.
    """
    free = {field.name: field for field in old.all_fields if field.name not in new.by_name}
    for field in new.all_fields:
        for alias in field.aliases if field.name not in matched else ():
            if alias in free:
                yield free.pop(alias), field


def guess_renames(
    old: tuple[Record, Sequence[Field]], new: tuple[Record, Sequence[Field]]
) -> Iterator[tuple[Field, Field]]:
    """Pairs that no alias connects and that look like a rename, each new field once.

    Of both records those fields that are matched with none; a type is the same, and names are
    alike or places are.
    """
    number_of = _TypeNumbers()
    left, free = {id(field) for field in old[1]}, {id(field) for field in new[1]}
    gone: dict[int, list[_Placed]] = {}
    for index, field in enumerate(old[0].all_fields):
        if id(field) in left:
            gone.setdefault(number_of(field.type), []).append((index, field))
    added = [
        (index, field, number_of(field.type))
        for index, field in enumerate(new[0].all_fields)
        if id(field) in free
    ]
    rivals = Counter(kind for _, _, kind in added)
    for index, field, kind in added:
        candidates = gone.get(kind, [])
        meant = _find_meant((index, field), candidates, rivals=rivals[kind])
        if meant is not None:
            del candidates[bisect_left(candidates, meant[0], key=_index)]
            yield meant[1], field


_Placed = tuple[int, Field]
"""A field and which of its record it is."""


class _TypeNumbers:
    """Types by number, so that many can be compared with many: equal ones have the same.

    Each type takes one look: only records of one name are compared with each other.
    """

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._of_named: dict[int, int] = {}
        self._records: dict[str, list[Record]] = {}

    def __call__(self, schema: Schema) -> int:
        """The number of a type; the type has to live as long as this object."""
        if not isinstance(schema, Record | Enum | Fixed):
            return self._number(self._key(schema))
        known = self._of_named.get(id(schema))
        if known is None:
            known = self._of_named[id(schema)] = self._number(self._key(schema))
        return known

    def _number(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def _key(self, schema: Schema) -> Hashable:
        """Equal for two types exactly if Avro for Java calls them equal."""
        props = json_key(schema.props) if schema.props else None
        match schema:
            case Record():
                same_name = self._records.setdefault(schema.name, [])
                known = next((record for record in same_name if equal(record, schema)), None)
                if known is None:
                    same_name.append(schema)
                return "record", id(known or schema)
            case Enum():
                return "enum", props, schema.name, schema.symbols
            case Fixed():
                return "fixed", props, schema.name, schema.size
            case Array():
                return "array", props, self(schema.items)
            case Map():
                return "map", props, self(schema.values)
            case Union():
                return "union", tuple(map(self, schema.branches))
            case _:
                return schema.kind, props


def _find_meant(added: _Placed, alike: list[_Placed], *, rivals: int) -> _Placed | None:
    """The field that went away and that this one looks like, among those `alike` in type.

    `rivals` is how many new fields have this type. `alike` is in the order of the record.
    """
    if not alike:
        return None
    if len(alike) == rivals == 1:
        return alike[0]
    index, field = added
    middle = bisect_left(alike, index, key=_index)
    near = alike[max(0, middle - _NEAR) : middle + _NEAR]
    best = max(near, key=lambda items: _likeness(items[1].name, field.name))
    if _likeness(best[1].name, field.name) >= _ALIKE:
        return best
    return next((items for items in near if items[0] == index), None)


def _index(placed: _Placed) -> int:
    return placed[0]


@lru_cache(maxsize=2**16)
def _likeness(left: str, right: str) -> float:
    return SequenceMatcher(None, left.lower(), right.lower()).ratio()
