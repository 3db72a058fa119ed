"""Oneofs: a parser keeps one of their fields, the last that a message has."""

from __future__ import annotations

from collections.abc import Iterator

from gitops.compatibility.protobuf_native.schema import Field, Message
from gitops.compatibility.review.protobuf_native_place import Change
from gitops.compatibility.review.remark import Remark

_Pair = tuple[Field, Field]


def remarks(pairs: tuple[_Pair, ...], at: Change) -> Iterator[Remark]:
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
