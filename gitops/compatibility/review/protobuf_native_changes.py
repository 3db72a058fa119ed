"""Changes of a PROTOBUF_NATIVE definition that readers suffer from.

The broker compares the full name of the root message and nothing else (Pulsar 4.0.7).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from gitops.compatibility.protobuf_native.errors import InvalidEnvelopeError
from gitops.compatibility.protobuf_native.rendering import render_type
from gitops.compatibility.protobuf_native.resolving import resolve
from gitops.compatibility.protobuf_native.schema import Enum, Field, Message, Schema, short_name
from gitops.compatibility.review import (
    protobuf_native_enums,
    protobuf_native_fields,
    protobuf_native_numbers,
    protobuf_native_oneofs,
    protobuf_native_types,
)
from gitops.compatibility.review.protobuf_native_place import Change
from gitops.compatibility.review.remark import Remark

_HARMLESS = "PROTO-W011"


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
    return tuple(_Walk(forward=forward).remarks(before, after))


class _Walk:
    """Over both definitions, outer messages first; a pair of types is looked at once."""

    def __init__(self, *, forward: bool) -> None:
        self._forward = forward
        self._waiting: deque[Change] = deque()
        self._seen: set[tuple[Message | Enum, Message | Enum]] = set()
        self._replaced: dict[tuple[Message, Message], tuple[Remark, ...]] = {}

    def remarks(self, old: Schema, new: Schema) -> Iterator[Remark]:
        self._enter(Change(old=old.root, new=new.root, forward=self._forward))
        while self._waiting:
            at = self._waiting.popleft()
            yield from _of_messages(at)
            for was, now in protobuf_native_numbers.kept(at):
                yield from self._types(was, now, at)

    def _enter(self, at: Change) -> None:
        if (at.old, at.new) not in self._seen:
            self._seen.add((at.old, at.new))
            self._waiting.append(at)

    def _types(self, old: Field, new: Field, at: Change) -> Iterator[Remark]:
        if old.type is not new.type:
            return
        if old.message and new.message:
            losses = self._losses(old.message, new.message)
            if losses:
                yield _replaced(old, new, losses, at)
            else:
                self._enter(at.into(old, new, (old.message, new.message)))
        elif old.enum and new.enum and (old.enum, new.enum) not in self._seen:
            self._seen.add((old.enum, new.enum))
            yield from protobuf_native_enums.remarks(
                old.enum, new.enum, at.path_of(new), forward=at.forward
            )

    def _losses(self, old: Message, new: Message) -> tuple[Remark, ...]:
        """Why a message cannot stand in for one of another name."""
        if not _is_other(old, new):
            return ()
        if (old, new) not in self._replaced:
            found = _of_messages(Change(old=old, new=new, forward=self._forward))
            self._replaced[old, new] = tuple(r for r in found if r.rule != _HARMLESS)
        return self._replaced[old, new]


def _of_messages(at: Change) -> Iterator[Remark]:
    """What is said of two messages alone, without the types of their fields."""
    pairs = protobuf_native_numbers.kept(at)
    yield from protobuf_native_numbers.remarks(at)
    yield from protobuf_native_fields.required(at)
    for old, new in pairs:
        reading = protobuf_native_types.reading(old, new)
        if reading is None or not reading.lost:
            yield from protobuf_native_types.remarks(old, new, at)
            yield from protobuf_native_fields.remarks(old, new, at)
        elif old.name == new.name:
            yield from protobuf_native_types.remarks(old, new, at)
    yield from protobuf_native_oneofs.remarks(pairs, at)


def _is_other(old: Message, new: Message) -> bool:
    """Whether a field refers to another message: one that only moved keeps its name."""
    maps = old.map_entry and new.map_entry
    return not maps and short_name(old.full_name) != short_name(new.full_name)


def _replaced(old: Field, new: Field, losses: tuple[Remark, ...], at: Change) -> Remark:
    before, after = render_type(old), render_type(new)
    first = losses[0]
    more = f" (and {len(losses) - 1} more)" if len(losses) > 1 else ""
    remark = at.remark(
        "PROTO-W005",
        f"{before} is replaced by {after}, which is not laid out alike: at '{first.path}' "
        f"{first.message}{more}",
        old=old,
        new=new,
        hint=f"keep {before}, or add a field with another name and number",
    )
    return replace(remark, stops_readers=any(one.stops_readers for one in losses))
