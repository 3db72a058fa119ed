"""Changes of an Avro definition that readers take and then read wrongly, or not at all.

Resolution (Avro 1.11.4, as Pulsar 4.0.7 runs it) looks at types and field names. It does not look
at an enum's symbols, at logical types, at what a promotion loses, or at what people meant.
"""

from __future__ import annotations

from collections.abc import Iterator

from gitops.compatibility.avro.aliases import Aliases, aliases_for
from gitops.compatibility.avro.places import Places
from gitops.compatibility.avro.schema import (
    Array,
    Enum,
    Fixed,
    Map,
    Primitive,
    Record,
    Schema,
    Union,
)
from gitops.compatibility.review import avro_enums, avro_fields, avro_scalars, avro_unions
from gitops.compatibility.review.avro_place import Change, Wire
from gitops.compatibility.review.remark import Remark


def avro_changes(
    old: Schema, new: Schema, *, wire: Wire, forward: bool = False
) -> tuple[Remark, ...]:
    """Every remark, in the order of the new definition.

    `forward`: consumers of the old schema are to read what the new one writes.
    """
    # Whoever reads JSON goes by names alone.
    aliases = aliases_for(old, new) if wire is Wire.AVRO else Aliases()
    start = Change(wire=wire, forward=forward, old=Places(old), new=Places(new), aliases=aliases)
    back = aliases_for(new, old) if forward and wire is Wire.AVRO else Aliases()
    return tuple(_Walk(aliases, back).remarks(old, new, start))


class _Walk:
    """Over both definitions; a pair of named types is looked at once, so recursion ends."""

    def __init__(self, by_new: Aliases, by_old: Aliases) -> None:
        self._by_new = avro_unions.Reading(by_new, "new")
        self._by_old = avro_unions.Reading(by_old, "old")
        self._seen: set[tuple[int, int]] = set()

    def remarks(self, old: Schema, new: Schema, at: Change) -> Iterator[Remark]:
        match old, new:
            case (Union(), _) | (_, Union()):
                yield from self._unions(old, new, at)
            case Array(), Array():
                yield from self.remarks(old.items, new.items, at.into("[]", "items"))
            case Map(), Map():
                yield from self.remarks(old.values, new.values, at.into("{}", "values"))
            case ((Primitive() | Fixed()), (Primitive() | Fixed())):
                yield from avro_scalars.remarks(old, new, at.at_definitions(old, new))
            case (Record(), Record()) | (Enum(), Enum()) if self._is_first(old, new):
                yield from self._named(old, new, at.at_definitions(old, new))
            case _:
                pass

    def _is_first(self, old: Schema, new: Schema) -> bool:
        first = (id(old), id(new)) not in self._seen
        self._seen.add((id(old), id(new)))
        return first

    def _named(self, old: Schema, new: Schema, at: Change) -> Iterator[Remark]:
        if isinstance(old, Record) and isinstance(new, Record):
            yield from self._records(old, new, at)
        elif isinstance(old, Enum) and isinstance(new, Enum):
            yield from avro_enums.remarks(old, new, at)

    def _unions(self, old: Schema, new: Schema, at: Change) -> Iterator[Remark]:
        found = self._by_new.of(old, new)
        for index, (branch, read) in enumerate(zip(found.written, found.read, strict=True)):
            if read is not None:
                inner = at.into_old_branch(index) if isinstance(old, Union) else at
                inner = inner.into_new_branch(read.branch) if isinstance(new, Union) else inner
                yield from self.remarks(branch, found.readers[read.branch], inner)
        if at.wire is not Wire.AVRO:
            return
        for taken in avro_unions.taken_for_others(found, self._by_new):
            yield avro_unions.by_new_readers(taken, at)
        if at.forward:
            back = self._by_old.of(new, old)
            for taken in avro_unions.taken_for_others(back, self._by_old):
                yield avro_unions.by_old_readers(taken, at)

    def _records(self, old: Record, new: Record, at: Change) -> Iterator[Remark]:
        written = avro_fields.same_fields(old, new, at)
        for field in new.all_fields:
            before = written.get(field.name)
            # Versions share most fields: one that stands for itself has not changed.
            if before is not None and not (before is field and field.is_plain):
                inner = at.into_field((old, before), (new, field))
                yield from self.remarks(before.type, field.type, inner)
        yield from avro_fields.remarks(old, new, written, at)
