"""Numbers and names of fields: readers know a field by its number alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gitops.compatibility.protobuf_native.matching import Matched, alike, by_number, match
from gitops.compatibility.protobuf_native.rendering import render_type
from gitops.compatibility.protobuf_native.schema import Field, Message
from gitops.compatibility.review.protobuf_native_place import Change
from gitops.compatibility.review.protobuf_native_types import reading
from gitops.compatibility.review.remark import Remark

_BOTH_RESERVED: Final = "its number and its name are reserved"


def kept(at: Change) -> tuple[tuple[Field, Field], ...]:
    """The fields that are the same by their number, whatever their names, in the new order."""
    matched, old = match(at.old, at.new), by_number(at.old.fields)
    return tuple((was, now) for was, now in matched.same if old.get(now.number) is was)


def remarks(at: Change) -> Iterator[Remark]:
    """What became of each old number, and which new field takes one that was reserved."""
    matched, numbers = match(at.old, at.new), by_number(at.new.fields)
    later = matched.later()
    for field in at.old.fields:
        yield from _became(field, later.get(field), numbers.get(field.number), at)
    for field in _with_new_number(matched):
        if at.old.reserved.has(field.number):
            yield _takes_reserved(field, at)


def _became(old: Field, later: Field | None, there: Field | None, at: Change) -> Iterator[Remark]:
    """`later` is what the field is now, `there` what has its number now."""
    if there is None:
        yield _removed(old, at) if later is None else _renumbered(old, later, at)
    elif there is not later:
        gone = "is gone" if later is None else f"has the number {later.number}"
        yield _reused(old, there, f"'{old.name}' {gone}, and its number", at)
    elif there.name != old.name:
        yield _renamed(old, there, at)


def _removed(old: Field, at: Change) -> Remark:
    reserved = _is_reserved(old, at.new)
    also = "" if _is_extension(old) else f"; {reserved}"
    return at.remark(
        "PROTO-W001",
        f"'{old.name}' is gone, which Pulsar does not compare: consumers with the new schema do "
        f"not see what messages carry as {old.number}{also}",
        old=old,
        new=None,
        hint="" if not also or reserved == _BOTH_RESERVED else _reserve(old),
    )


def _is_extension(field: Field) -> bool:
    """Its number is in a range for extensions, of which none can be reserved."""
    return field.name.startswith("[")


def _is_reserved(old: Field, new: Message) -> str:
    number, name = new.reserved.has(old.number), old.name in new.reserved.names
    if number and name:
        return _BOTH_RESERVED
    if number or name:
        return f"its {'name' if number else 'number'} is not reserved: another field may take it"
    return "its number and its name are not reserved: another field may take them"


def _reserve(field: Field) -> str:
    return f'add `reserved {field.number};` and `reserved "{field.name}";`'


def _renumbered(old: Field, new: Field, at: Change) -> Remark:
    return at.remark(
        "PROTO-W002",
        f"the number changes from {old.number} to {new.number}, which Pulsar does not compare: "
        f"consumers with the new schema do not see what messages carry as {old.number}",
        old=old,
        new=new,
        hint=f"keep the number {old.number}",
    )


def _reused(old: Field, new: Field, what: str, at: Change, *, or_else: str = "") -> Remark:
    found = reading(old, new)
    how = found.what if found else f"read one as the other ({render_type(new)})"
    return at.remark(
        "PROTO-W003",
        f"{what} {old.number} belongs to '{new.name}' now: consumers with the new schema {how}",
        old=old,
        new=new,
        hint=f"give '{new.name}' a number that was never used{or_else}",
    )


def _renamed(old: Field, new: Field, at: Change) -> Remark:
    """A name that is like no other one, or another type, is hardly a rename."""
    lost = _is_lost(old, new)
    if lost or not alike(old.name, new.name):
        or_else = "" if lost else "; if only its name changed, nothing is lost"
        return _reused(old, new, f"'{old.name}' is gone, and its number", at, or_else=or_else)
    return at.remark(
        "PROTO-W011",
        f"'{old.name}' is called '{new.name}' now: messages are read as before, JSON and "
        "generated code are not",
        old=old,
        new=new,
        hint="",
    )


def _is_lost(old: Field, new: Field) -> bool:
    found = reading(old, new)
    return found is not None and found.lost


def _with_new_number(matched: Matched) -> tuple[Field, ...]:
    moved = [now for was, now in matched.same if was.number != now.number]
    return (*moved, *matched.added)


def _takes_reserved(new: Field, at: Change) -> Remark:
    return at.remark(
        "PROTO-W003",
        f"'{new.name}' takes the number {new.number}, which the old schema reserves: consumers "
        "with the new schema take for it what older messages may carry there",
        old=None,
        new=new,
        hint=f"give '{new.name}' a number that was never used",
    )
