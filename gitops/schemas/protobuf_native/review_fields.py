"""Changes of fields: numbers, names, how often they occur, what unset means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from gitops.schemas.protobuf_native.descriptors import Type
from gitops.schemas.protobuf_native.field_matching import (
    FieldMatches,
    fields_by_number,
    match,
    similar_names,
)
from gitops.schemas.protobuf_native.review_types import (
    Change,
    consumers_text,
    is_required,
    read_effect,
)
from gitops.schemas.protobuf_native.schema import Field, Message, render_labelled_type, render_type
from gitops.schemas.row import Remark

# Fields that keep their number: how often they occur, whether they must, what unset means.

_TEXTS: Final = frozenset((Type.STRING, Type.BYTES))


def field_remarks(old: Field, new: Field, at: Change) -> Iterator[Remark]:
    """About a field whose values both sides can read; `required` is not looked at here."""
    if old.repeated != new.repeated:
        yield from _cardinality(old, new, at)
        return
    if old.repeated:
        return
    yield from _presence(old, new, at)
    if old.type is new.type and _has_other_default(old, new):
        yield _other_default(old, new, at)


def required_field_remarks(at: Change) -> Iterator[Remark]:
    """A parser fails on a message that lacks a required field."""
    before, after = _required(at.old), _required(at.new)
    olds, news = fields_by_number(at.old.fields), fields_by_number(at.new.fields)
    for number, field in after.items():
        if number not in before:
            remark = at.remark(
                "PROTO-W007",
                f"'{field.name}' is required now: consumers with the new schema fail on every "
                "message that lacks it",
                old=olds.get(number),
                new=field,
                hint="make it optional",
            )
            yield replace(remark, stops_readers=True, breaks_readers=True)
    for number, field in before.items():
        if number not in after and at.forward:
            remark = at.remark(
                "PROTO-W007",
                f"'{field.name}' is no longer required: consumers with the old schema fail on "
                "every message that lacks it",
                old=field,
                new=news.get(number),
                hint="keep it required until every consumer has the new schema",
            )
            yield replace(remark, stops_old_readers=True, breaks_old_readers=True)


def _required(message: Message) -> dict[int, Field]:
    return {field.number: field for field in message.fields if is_required(field, message)}


def _cardinality(old: Field, new: Field, at: Change) -> Iterator[Remark]:
    """A reader of many takes one; a reader of one does not take many."""
    if old.repeated:
        writer, who = old, "new"
    elif at.forward:
        writer, who = new, "old"
    else:
        return
    remark = at.remark(
        "PROTO-W006",
        f"{render_labelled_type(old)} becomes {render_labelled_type(new)}, "
        f"which Pulsar does not compare: consumers with the {who} schema {_of_many(writer)}",
        old=old,
        new=new,
        hint="keep it as it is, or add a field with another name and number",
    )
    # Of other values Protobuf's rules say which one a reader takes.
    is_lost = writer.message is None and writer.packed
    yield replace(
        remark,
        breaks_readers=is_lost and writer is old,
        breaks_old_readers=is_lost and writer is new,
    )


def _of_many(writer: Field) -> str:
    if writer.message is not None:
        return "merge all items into one"
    if writer.packed:
        return "do not find the values, which are packed"
    return "keep the last item alone"


def _presence(old: Field, new: Field, at: Change) -> Iterator[Remark]:
    """A writer without presence leaves zero out, and a reader with presence sees unset then."""
    if old.presence == new.presence or old.oneof is not None or new.oneof is not None:
        return
    if old.message is not None or new.message is not None:
        return
    if new.presence:
        words = (
            "distinguishes unset from zero now: consumers with the new",
            "older messages leave out",
        )
    elif at.forward:
        words = (
            "no longer distinguishes unset from zero: consumers with the old",
            "new messages leave out",
        )
    else:
        return
    yield at.remark(
        "PROTO-W006",
        f"'{new.name}' {words[0]} schema read as unset what was set to zero, which {words[1]}",
        old=old,
        new=new,
        hint="do not rely on unset, or add a field with another name and number",
    )


def _other_default(old: Field, new: Field, at: Change) -> Remark:
    return at.remark(
        "PROTO-W010",
        f"the default changes from {_shown(old)} to {_shown(new)}: a message that lacks the field "
        "has another value for consumers with the new schema than for those with the old one",
        old=old,
        new=new,
        hint="keep the default",
    )


def _has_other_default(old: Field, new: Field) -> bool:
    """A value of an enum that has another name or another number alone is told elsewhere."""
    before, after = _default(old), _default(new)
    if old.enum is None or new.enum is None:
        return before != after
    return before != after and old.enum.numbers.get(before) != new.enum.numbers.get(after)


def _default(field: Field) -> str:
    """What a reader gets for a value that is not there; empty for a message."""
    if field.default is not None:
        return field.default
    if field.enum is not None:
        return field.enum.values[0].name
    if field.message is not None or field.type in _TEXTS:
        return ""
    return "false" if field.type is Type.BOOL else "0"


def _shown(field: Field) -> str:
    value = _default(field)
    return f'"{value}"' if field.type in _TEXTS else value


# Numbers and names of fields: readers know a field by its number alone.


_BOTH_RESERVED: Final = "its number and its name are reserved"


def same_number_fields(at: Change) -> tuple[tuple[Field, Field], ...]:
    """The fields that are the same by their number, whatever their names, in the new order."""
    matched, old = match(at.old, at.new), fields_by_number(at.old.fields)
    return tuple((was, now) for was, now in matched.same if old.get(now.number) is was)


def number_remarks(at: Change) -> Iterator[Remark]:
    """What became of each old number, and which new field takes one that was reserved."""
    matched, numbers = match(at.old, at.new), fields_by_number(at.new.fields)
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
        # A field that is still there, under another number, is not renamed.
        is_kept = later is not None and later.name == old.name
        what = f"'{old.name}' {gone}, and its number"
        remark = _reused(old, there, what, at, is_kept=is_kept)
        yield replace(
            remark,
            breaks_readers=is_kept or remark.breaks_readers,
            breaks_old_readers=is_kept or remark.breaks_old_readers,
        )
    elif there.name != old.name:
        yield _renamed(old, there, at)


def _removed(old: Field, at: Change) -> Remark:
    reserved = _is_reserved(old, at.new)
    also = "" if _is_extension(old) else f"; {reserved}"
    return at.remark(
        "PROTO-W001",
        f"'{old.name}' is gone, which Pulsar does not compare: consumers with the new schema do "
        f"not see what messages contain as {old.number}{also}",
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
        return f"its {'name' if number else 'number'} is not reserved: another field may use it"
    return "its number and its name are not reserved: another field may use them"


def _reserve(field: Field) -> str:
    return f'add `reserved {field.number};` and `reserved "{field.name}";`'


def _renumbered(old: Field, new: Field, at: Change) -> Remark:
    forth = f", and consumers with the old schema what they contain as {new.number}"
    remark = at.remark(
        "PROTO-W002",
        f"the number changes from {old.number} to {new.number}, which Pulsar does not compare: "
        f"consumers with the new schema do not see what messages contain as {old.number}"
        f"{forth if at.forward else ''}",
        old=old,
        new=new,
        hint=f"keep the number {old.number}",
    )
    return replace(remark, breaks_readers=True, breaks_old_readers=True)


def _reused(old: Field, new: Field, what: str, at: Change, *, is_kept: bool = False) -> Remark:
    result = read_effect(old, new)
    forth = read_effect(new, old) if at.forward else None
    as_other = f"read one as the other ({render_type(new)})"
    old_how = forth.what if forth else as_other
    is_certain = is_kept or (forth is not None and forth.lost)
    how = consumers_text(
        result.what if result else as_other, old_how if at.forward and is_certain else ""
    )
    remark = at.remark(
        "PROTO-W003",
        f"{what} {old.number} belongs to '{new.name}' now: {how}",
        old=old,
        new=new,
        hint=f"give '{new.name}' a number that was never used",
    )
    return replace(
        remark,
        stops_readers=result is not None and result.fails,
        stops_old_readers=forth is not None and forth.fails,
        breaks_readers=result is not None and result.lost,
        breaks_old_readers=forth is not None and forth.lost,
    )


def _renamed(old: Field, new: Field, at: Change) -> Remark:
    """A name that is like no other one, or another type, is hardly a rename."""
    lost = _is_lost(old, new)
    if lost or not similar_names(old.name, new.name):
        or_else = "" if lost else "; if only its name changed, nothing is lost"
        remark = _reused(old, new, f"'{old.name}' is gone, and its number", at)
        return replace(remark, hint=f"{remark.hint}{or_else}")
    return at.remark(
        "PROTO-W011",
        f"'{old.name}' is called '{new.name}' now: messages are read as before, JSON and "
        "generated code are not",
        old=old,
        new=new,
        hint="",
    )


def _is_lost(old: Field, new: Field) -> bool:
    result = read_effect(old, new)
    return result is not None and result.lost


def _with_new_number(matched: FieldMatches) -> tuple[Field, ...]:
    moved = [now for was, now in matched.same if was.number != now.number]
    return (*moved, *matched.added)


def _takes_reserved(new: Field, at: Change) -> Remark:
    return at.remark(
        "PROTO-W003",
        f"'{new.name}' uses the number {new.number}, which the old schema reserves: "
        f"consumers with the new schema read field {new.number} of older messages as '{new.name}'",
        old=None,
        new=new,
        hint=f"give '{new.name}' a number that was never used",
    )
