"""Fields that keep their number: how often they occur, whether they must, what unset means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from gitops.compatibility.protobuf_native.descriptors import Label, Type
from gitops.compatibility.protobuf_native.matching import by_number
from gitops.compatibility.protobuf_native.rendering import render_labelled
from gitops.compatibility.protobuf_native.schema import Field, Message
from gitops.compatibility.review.protobuf_native_place import Change
from gitops.compatibility.review.remark import Remark

_TEXTS: Final = frozenset((Type.STRING, Type.BYTES))


def remarks(old: Field, new: Field, at: Change) -> Iterator[Remark]:
    """About a field whose values both sides can read; `required` is not looked at here."""
    if old.repeated != new.repeated:
        yield from _cardinality(old, new, at)
        return
    if old.repeated:
        return
    yield from _presence(old, new, at)
    if old.type is new.type and _has_other_default(old, new):
        yield _other_default(old, new, at)


def required(at: Change) -> Iterator[Remark]:
    """A parser fails on a message that lacks a required field."""
    before, after = _required(at.old), _required(at.new)
    olds, news = by_number(at.old.fields), by_number(at.new.fields)
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
            yield replace(remark, stops_readers=True)
    for number, field in before.items():
        if number not in after and at.forward:
            yield at.remark(
                "PROTO-W007",
                f"'{field.name}' is no longer required: consumers with the old schema fail on "
                "every message that lacks it",
                old=field,
                new=news.get(number),
                hint="keep it required until every consumer has the new schema",
            )


def _required(message: Message) -> dict[int, Field]:
    return {field.number: field for field in message.fields if field.label is Label.REQUIRED}


def _cardinality(old: Field, new: Field, at: Change) -> Iterator[Remark]:
    """A reader of many takes one; a reader of one does not take many."""
    if old.repeated:
        writer, who = old, "new"
    elif at.forward:
        writer, who = new, "old"
    else:
        return
    yield at.remark(
        "PROTO-W006",
        f"{render_labelled(old)} becomes {render_labelled(new)}, which Pulsar does not compare: "
        f"consumers with the {who} schema {_of_many(writer)}",
        old=old,
        new=new,
        hint="keep it as it is, or add a field with another name and number",
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
        words = "tells unset from zero now: consumers with the new", "older messages leave out"
    elif at.forward:
        words = "no longer tells unset from zero: consumers with the old", "new messages leave out"
    else:
        return
    yield at.remark(
        "PROTO-W006",
        f"'{new.name}' {words[0]} schema take for unset what was set to zero, which {words[1]}",
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
