"""Changes of a PROTOBUF_NATIVE definition that readers suffer from."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from gitops.schemas.protobuf_native import review_fields, review_types
from gitops.schemas.protobuf_native.descriptors import Type
from gitops.schemas.protobuf_native.errors import InvalidEnvelopeError
from gitops.schemas.protobuf_native.field_matching import similar_names
from gitops.schemas.protobuf_native.parser import resolve
from gitops.schemas.protobuf_native.review_types import Change
from gitops.schemas.protobuf_native.schema import (
    Enum,
    Field,
    Message,
    render_type,
    short_name,
)
from gitops.schemas.row import Remark

# Oneofs: a parser keeps one of their fields, the last that a message has.

_Pair = tuple[Field, Field]


def oneof_remarks(pairs: tuple[_Pair, ...], at: Change) -> Iterator[Remark]:
    """About fields that could be set together and cannot be any more, or the other way round."""
    for members in _brought_together(pairs):
        yield at.remark(
            "PROTO-W008",
            f"{_names(members)} are in the oneof '{_oneof(members[0][1], at.new)}' now: consumers "
            "with the new schema keep one of them where a message has several",
            old=members[0][0],
            new=members[0][1],
            hint="leave fields that exist outside of a oneof, and put new ones into it",
        )
    if not at.forward:
        return
    for members in _brought_together(tuple((new, old) for old, new in pairs)):
        yield at.remark(
            "PROTO-W008",
            f"{_names(members)} are no longer in one oneof '{_oneof(members[0][1], at.old)}': "
            "consumers with the old schema keep one of them where a message has several",
            old=members[0][1],
            new=members[0][0],
            hint="keep the oneof until every consumer has the new schema",
        )


def _brought_together(pairs: tuple[_Pair, ...]) -> list[list[_Pair]]:
    """The members of each oneof of the second side that were not in one oneof on the first."""
    groups: dict[int, list[_Pair]] = {}
    for pair in pairs:
        if pair[1].oneof is not None:
            groups.setdefault(pair[1].oneof, []).append(pair)
    return [group for group in groups.values() if _were_apart(group)]


def _were_apart(group: list[_Pair]) -> bool:
    before = {first.oneof for first, _ in group}
    return len(group) > 1 and (len(before) > 1 or before == {None})


def _oneof(field: Field, message: Message) -> str:
    return "" if field.oneof is None else message.oneofs[field.oneof]


def _names(members: list[_Pair]) -> str:
    return ", ".join(f"'{second.name}'" for _, second in members)


# Changes of a PROTOBUF_NATIVE definition that readers suffer from.
#
# The broker compares the full name of the root message and nothing else (Pulsar 4.0.7).


_HARMLESS = "PROTO-W011"

_TIMES: Final = {"google.protobuf.Timestamp", "google.protobuf.Duration"}
"""Well-known types that are laid out alike: seconds and nanoseconds."""


def remarks(old: bytes, new: bytes, *, forward: bool) -> tuple[Remark, ...]:
    """Every remark, from the root on; nothing about data that the broker refuses.

    `forward`: consumers of the old schema are to read what the new one writes.
    """
    if old == new:
        return ()
    try:
        before, after = resolve(old), resolve(new)
    except InvalidEnvelopeError:
        return ()
    return tuple(_Walk(forward=forward).remarks(before.root, after.root))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Losses:
    """What a message loses that another one replaces, and who fails on it."""

    remarks: tuple[Remark, ...] = ()
    stops_readers: bool = False
    stops_old_readers: bool = False
    breaks_readers: bool = False
    breaks_old_readers: bool = False


_NONE: Final = _Losses()


class _Walk:
    """Over both definitions, outer messages first; a pair of types is looked at once.

    `is_whole`: messages that replace others are looked at like others, field by field.
    """

    def __init__(self, *, forward: bool, is_whole: bool = False) -> None:
        self._forward = forward
        self._is_whole = is_whole
        self._waiting: deque[Change] = deque()
        self._seen: set[tuple[Message | Enum, Message | Enum]] = set()
        self._replaced: dict[tuple[Message, Message], _Losses] = {}
        self._texts: list[tuple[Change, Field, Field]] = []

    def remarks(self, old: Message, new: Message) -> Iterator[Remark]:
        self._enter(Change(old=old, new=new, forward=self._forward))
        while self._waiting:
            at = self._waiting.popleft()
            yield from _of_messages(at)
            for was, now in review_fields.same_number_fields(at):
                if was.type is now.type is Type.STRING:
                    self._texts.append((at, was, now))
                yield from self._types(was, now, at)
        yield from review_types.utf8_remarks(self._texts, forward=self._forward)

    def _enter(self, at: Change) -> None:
        if (at.old, at.new) not in self._seen:
            self._seen.add((at.old, at.new))
            self._waiting.append(at)

    def _types(self, old: Field, new: Field, at: Change) -> Iterator[Remark]:
        if old.type is not new.type:
            return
        if old.message and new.message:
            losses = self._losses(old.message, new.message)
            if losses.remarks:
                yield _replaced(old, new, losses, at)
            else:
                yield from _alike(old, new, (old.message, new.message), at)
                self._enter(at.into(old, new, (old.message, new.message)))
        elif old.enum and new.enum:
            yield from self._enums(old, new, (old.enum, new.enum), at)

    def _enums(
        self, old: Field, new: Field, both: tuple[Enum, Enum], at: Change
    ) -> Iterator[Remark]:
        """Of fields that need a value what they fail on, also where the enums were looked at."""
        is_known = both in self._seen
        self._seen.add(both)
        if not is_known or review_types.needs_value(old) or review_types.needs_value(new):
            items = review_types.enum_remarks(old, new, at.path_of(new), forward=at.forward)
            for remark in items:
                if not is_known or remark.stops_readers or remark.stops_old_readers:
                    yield remark

    def _losses(self, old: Message, new: Message) -> _Losses:
        """Why a message cannot stand in for one of another name."""
        if self._is_whole or not _is_other(old, new):
            return _NONE
        if (old, new) not in self._replaced:
            items = _of_messages(Change(old=old, new=new, forward=self._forward))
            losses = tuple(remark for remark in items if remark.rule != _HARMLESS)
            self._replaced[old, new] = self._with_stops(losses, old, new) if losses else _NONE
        return self._replaced[old, new]

    def _with_stops(self, losses: tuple[Remark, ...], old: Message, new: Message) -> _Losses:
        """Readers also fail on what is further inside."""
        inside = tuple(_Walk(forward=self._forward, is_whole=True).remarks(old, new))
        return _Losses(
            remarks=losses,
            stops_readers=any(remark.stops_readers for remark in inside),
            stops_old_readers=any(remark.stops_old_readers for remark in inside),
            breaks_readers=any(remark.breaks_readers for remark in inside),
            breaks_old_readers=any(remark.breaks_old_readers for remark in inside),
        )


def _of_messages(at: Change) -> Iterator[Remark]:
    """What is said of two messages alone, without the types of their fields."""
    pairs = review_fields.same_number_fields(at)
    yield from review_types.layout_remarks(at)
    yield from review_fields.number_remarks(at)
    yield from review_fields.required_field_remarks(at)
    for old, new in pairs:
        reading = review_types.read_effect(old, new)
        if reading is None or not reading.lost:
            yield from review_types.type_remarks(old, new, at)
            yield from review_fields.field_remarks(old, new, at)
        elif old.name == new.name:
            yield from review_types.type_remarks(old, new, at)
    yield from oneof_remarks(pairs, at)


def _is_other(old: Message, new: Message) -> bool:
    """Whether a field refers to another message: one that only moved keeps its name."""
    maps = old.map_entry and new.map_entry
    return not maps and short_name(old.full_name) != short_name(new.full_name)


def _alike(
    old: Field, new: Field, messages: tuple[Message, Message], at: Change
) -> Iterator[Remark]:
    """About a message in whose place is another one that is laid out alike."""
    was, now = (message.full_name for message in messages)
    if not _is_other(*messages) or similar_names(short_name(was), short_name(now)):
        return
    is_wrong = {was, now} == _TIMES
    before, after = render_type(old), render_type(new)
    why = "and means another value" if is_wrong else "and is another one unless it was renamed"
    remark = at.remark(
        "PROTO-W005",
        f"{before} is replaced by {after}, which is laid out alike {why}: what was written as one "
        "is read as the other",
        old=old,
        new=new,
        hint=f"keep {before}, or add a field with another name and number",
    )
    yield replace(remark, breaks_readers=is_wrong, breaks_old_readers=is_wrong)


def _replaced(old: Field, new: Field, losses: _Losses, at: Change) -> Remark:
    before, after = render_type(old), render_type(new)
    first, count = losses.remarks[0], len(losses.remarks)
    remainder = f" (and {count - 1} more)" if count > 1 else ""
    remark = at.remark(
        "PROTO-W005",
        f"{before} is replaced by {after}, which is not laid out alike: at '{first.path}' "
        f"{first.message}{remainder}",
        old=old,
        new=new,
        hint=f"keep {before}, or add a field with another name and number",
    )
    return replace(
        remark,
        stops_readers=losses.stops_readers,
        stops_old_readers=losses.stops_old_readers,
        breaks_readers=losses.breaks_readers,
        breaks_old_readers=losses.breaks_old_readers,
    )
