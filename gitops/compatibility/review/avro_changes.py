"""Changes of an Avro definition that readers take and then read wrongly, or not at all.

Resolution (Avro 1.11.4, as Pulsar 4.0.7 runs it) looks at types and field names. It does not look
at an enum's symbols, at logical types, at what a promotion loses, or at what people meant.
"""

from __future__ import annotations

from collections.abc import Iterator

from gitops.compatibility.avro.schema import (
    Array,
    Enum,
    Field,
    Fixed,
    Map,
    Primitive,
    Record,
    Schema,
    Union,
    branch_name,
)
from gitops.compatibility.review import avro_enums, avro_fields, avro_scalars
from gitops.compatibility.review.avro_place import Change, Wire
from gitops.compatibility.review.remark import Remark


def avro_changes(
    old: Schema, new: Schema, *, wire: Wire, forward: bool = False
) -> tuple[Remark, ...]:
    """Every remark, in the order of the new definition.

    `forward`: consumers of the old schema are to read what the new one writes.
    """
    start = Change(wire=wire, forward=forward)
    return tuple(_Walk().remarks(old, new, start))


class _Walk:
    """Over both definitions; a pair of named types is looked at once, so recursion ends."""

    def __init__(self) -> None:
        self._seen: set[tuple[int, int]] = set()

    def remarks(self, old: Schema, new: Schema, at: Change) -> Iterator[Remark]:
        match old, new:
            case Union(), _:
                for branch in old.branches:
                    yield from self._branch(branch, new, at)
            case _, Union():
                yield from self._branch(old, new, at)
            case Array(), Array():
                yield from self.remarks(old.items, new.items, at.into("[]"))
            case Map(), Map():
                yield from self.remarks(old.values, new.values, at.into("{}"))
            case ((Primitive() | Fixed()), (Primitive() | Fixed())):
                yield from avro_scalars.remarks(old, new, at)
            case (Record(), Record()) | (Enum(), Enum()) if self._is_first(old, new):
                yield from self._named(old, new, at)
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

    def _branch(self, old: Schema, new: Schema, at: Change) -> Iterator[Remark]:
        found = _reading(old, new)
        if found is not None:
            yield from self.remarks(old, found, at)

    def _records(self, old: Record, new: Record, at: Change) -> Iterator[Remark]:
        written = avro_fields.same_fields(old, new, at)
        for field in new.all_fields:
            before = written.get(field.name)
            if before is not None:
                yield from self._field(before, field, at)
        yield from avro_fields.remarks(old, new, written, at)

    def _field(self, old: Field, new: Field, at: Change) -> Iterator[Remark]:
        yield from self.remarks(old.type, new.type, at.into_field(old, new))


def _reading(old: Schema, new: Schema) -> Schema | None:
    """The branch of `new` that reads what `old` writes, None where that is not certain."""
    if not isinstance(new, Union):
        return new
    for branch in new.branches:
        if branch_name(branch) == branch_name(old):
            return branch
    promoted = [b for b in new.branches if avro_scalars.is_promotion(old, b)]
    same_kind = [b for b in new.branches if b.kind == old.kind]
    return next(iter([*same_kind, *promoted]), None)
