"""The fields of a record: what looks like a rename, and what changed places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Final

from gitops.compatibility.avro.canonical import key
from gitops.compatibility.avro.schema import Field, Record
from gitops.compatibility.review.avro_place import Change, Wire
from gitops.compatibility.review.remark import Remark

_ALIKE: Final = 0.6
"""From how much likeness on (0 to 1) two names may be meant for one."""


def same_fields(old: Record, new: Record, at: Change) -> dict[str, Field]:
    """New name → the old field that a reader takes it from: by name, else by an alias.

    Aliases are Avro's: whoever reads JSON goes by names alone.
    """
    found = {}
    for field in new.all_fields:
        aliases = field.aliases if at.wire is Wire.AVRO else ()
        names = (field.name, *(alias for alias in aliases if alias not in new.by_name))
        written = next((old.by_name[name] for name in names if name in old.by_name), None)
        if written is not None:
            found[field.name] = written
    return found


def remarks(old: Record, new: Record, written: Mapping[str, Field], at: Change) -> Iterator[Remark]:
    """About the record as a whole."""
    yield from _renamed(old, new, written, at)
    if at.wire is Wire.AVRO:
        yield from _moved(old, new, at)


def _renamed(
    old: Record, new: Record, written: Mapping[str, Field], at: Change
) -> Iterator[Remark]:
    kept = {field.name for field in written.values()}
    gone = [field for field in old.all_fields if field.name not in kept]
    added = [field for field in new.all_fields if field.name not in written]
    for field in added:
        before = _meant(field, old, new, gone, added)
        if before is not None:
            gone.remove(before)
            yield _rename((old, before), (new, field), at)


def _meant(
    field: Field, old: Record, new: Record, gone: Sequence[Field], added: Sequence[Field]
) -> Field | None:
    """The field that went away and that this one looks like."""
    alike = [one for one in gone if key(one.type) == key(field.type)]
    if not alike:
        return None
    best = max(alike, key=lambda one: _likeness(one.name, field.name))
    rivals = [one for one in added if key(one.type) == key(field.type)]
    if len(alike) == len(rivals) == 1 or _likeness(best.name, field.name) >= _ALIKE:
        return best
    index = new.all_fields.index(field)
    return next((one for one in alike if old.all_fields.index(one) == index), None)


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one.lower(), other.lower()).ratio()


def _rename(before: tuple[Record, Field], after: tuple[Record, Field], at: Change) -> Remark:
    (_, old), (_, new) = before, after
    by_alias = f'if it is a rename, add "aliases": ["{old.name}"] to \'{new.name}\''
    by_name = f"if it is a rename, keep the name '{old.name}': JSON has no aliases"
    return Remark(
        rule="AVRO-W006",
        message=f"'{old.name}' is gone and '{new.name}' of the same type is new: consumers with "
        f"the new schema do not find what messages carry as '{old.name}'",
        path=at.field_path(new.name),
        pointer=f"{at.new.field(*after)}/name",
        old_pointer=f"{at.old.field(*before)}/name",
        hint=by_alias if at.wire is Wire.AVRO else by_name,
    )


def _moved(old: Record, new: Record, at: Change) -> Iterator[Remark]:
    """Consumers that read by position take one for the other, where the types do not differ."""
    before = [field for field in old.all_fields if field.name in new.by_name]
    after = [field for field in new.all_fields if field.name in old.by_name]
    swapped = [
        (was, now)
        for was, now in zip(before, after, strict=True)
        if was.name != now.name and key(was.type) == key(now.type)
    ]
    if not swapped:
        return
    was, now = swapped[0]
    names = ", ".join(f"'{field.name}'" for _, field in swapped)
    yield Remark(
        rule="AVRO-W007",
        message=f"{names} changed places with fields of the same type: whoever reads by position, "
        "without the writer's schema, takes one for the other and does not notice",
        path=at.path,
        pointer=at.new.field(new, now),
        old_pointer=at.old.field(old, was),
        hint="keep the order of fields, and add new ones at the end",
    )
