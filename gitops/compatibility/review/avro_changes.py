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
    # Whoever reads JSON goes by names alone.
    aliases = aliases_for(old, new) if wire is Wire.AVRO else Aliases()
    start = Change(wire=wire, forward=forward, old=Places(old), new=Places(new), aliases=aliases)
    return tuple(_Walk().remarks(old, new, start))


class _Walk:
    """Over both definitions; a pair of named types is looked at once, so recursion ends."""

    def __init__(self) -> None:
        self._seen: set[tuple[int, int]] = set()

    def remarks(self, old: Schema, new: Schema, at: Change) -> Iterator[Remark]:
        match old, new:
            case Union(), _:
                for index, branch in enumerate(old.branches):
                    yield from self._branch(branch, new, at.into_old_branch(index))
            case _, Union():
                yield from self._branch(old, new, at)
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

    def _branch(self, old: Schema, new: Schema, at: Change) -> Iterator[Remark]:
        if not isinstance(new, Union):
            yield from self.remarks(old, new, at)
            return
        index = _reading(old, new)
        if index is not None:
            yield from self.remarks(old, new.branches[index], at.into_new_branch(index))

    def _records(self, old: Record, new: Record, at: Change) -> Iterator[Remark]:
        written = avro_fields.same_fields(old, new, at)
        for field in new.all_fields:
            before = written.get(field.name)
            if before is not None:
                inner = at.into_field((old, before), (new, field))
                yield from self.remarks(before.type, field.type, inner)
        yield from avro_fields.remarks(old, new, written, at)


def _reading(old: Schema, new: Union) -> int | None:
    """The branch of `new` that reads what `old` writes, None where that is not certain."""
    branches = list(enumerate(new.branches))
    same_name = [i for i, branch in branches if branch_name(branch) == branch_name(old)]
    same_kind = [i for i, branch in branches if branch.kind == old.kind]
    promoted = [i for i, branch in branches if avro_scalars.is_promotion(old, branch)]
    return next(iter([*same_name, *same_kind, *promoted]), None)
