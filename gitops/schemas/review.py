"""All rules of ours about one schema, or about one change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from gitops.model.decision import StoredSchema
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaType
from gitops.schemas import event_kinds, review_definition
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.avro.parser import parse
from gitops.schemas.avro.review import avro_changes
from gitops.schemas.avro.review_types import Wire
from gitops.schemas.avro.schema import Schema
from gitops.schemas.key_value import parser
from gitops.schemas.key_value import review as key_value_review
from gitops.schemas.protobuf import review as protobuf_review
from gitops.schemas.protobuf_native import review as protobuf_native_review
from gitops.schemas.remark import Remark
from gitops.schemas.strategies import reads_forward

_WIRES: Final = {SchemaType.AVRO: Wire.AVRO, SchemaType.JSON: Wire.JSON}

_OF_THE_STEP: Final = frozenset({"AVRO-W006", "AVRO-W007", "KV-W002", "PROTO-W011"})
"""What is about the step from the latest version, not about what older messages hold."""

ONLY_IF_TAKEN: Final = frozenset({"KV-W002"})
"""What is untrue of a schema that the broker refuses for another reason."""


def poison_of(schema: StoredSchema) -> tuple[Remark, ...]:
    """Why no later schema would ever get past this one; empty for text that is no schema."""
    if schema.type is SchemaType.KEY_VALUE:
        return tuple(_of_halves(schema, schema, lambda _, new: poison_of_half(new)))
    return review_definition.remarks_on_definition(schema)


def defaults_of_halves(schema: StoredSchema) -> tuple[Remark, ...]:
    """Defaults in a KEY_VALUE that do not fit; empty for other schemas and for halves of none."""
    if schema.type is not SchemaType.KEY_VALUE:
        return ()
    return tuple(_of_halves(schema, schema, lambda _, new: review_definition.defaults_of_half(new)))


def poison_of_half(half: StoredSchema) -> tuple[Remark, ...]:
    """The same of the key or the value of a KEY_VALUE."""
    return review_definition.remarks_on_half(half)


def changes_of(old: StoredSchema, new: StoredSchema, strategy: Strategy) -> tuple[Remark, ...]:
    """What a change from `old` to `new` does to readers, whether or not the broker takes it.

    `strategy` says whether consumers of the old schema are to read what the new one writes.
    """
    if old.type is not new.type:
        return ()
    if new.type is SchemaType.KEY_VALUE:
        own = key_value_review.remarks(old, new)
        return (*own, *_of_halves(old, new, lambda o, n: changes_of(o, n, strategy)))
    if new.type is SchemaType.PROTOBUF_NATIVE:
        forward = reads_forward(strategy)
        return protobuf_native_review.remarks(old.data, new.data, forward=forward)
    if new.type is SchemaType.PROTOBUF:
        return protobuf_review.remarks(old, new)
    if new.type in _WIRES:
        return _avro(old, new, strategy)
    return ()


def changes_of_all(
    versions: Sequence[tuple[int, StoredSchema]], new: StoredSchema, strategy: Strategy
) -> Iterator[tuple[int, Remark]]:
    """What readers of all live versions' messages suffer from; `versions` are oldest first.

    Each place is told once by a rule, with the newest version that it concerns. Only the latest
    counts for what its own consumers read, and for what the step to the new schema looks like.
    Under ALWAYS_COMPATIBLE the versions of the new schema's own kind are all that counts.
    """
    if strategy is Strategy.ALWAYS_COMPATIBLE:
        versions = [each for each in versions if event_kinds.is_of_kind(each[1], new)]
    told: set[tuple[str, str, str]] = set()
    compared: set[tuple[SchemaType, bytes, frozenset[tuple[str, str]]]] = set()
    latest = len(versions) - 1
    for index in range(latest, -1, -1):
        version, old = versions[index]
        identity = (old.type, old.data, frozenset(old.properties.items()))
        if identity in compared:
            continue
        compared.add(identity)
        if index == latest:
            found = changes_of(old, new, strategy)
        else:
            found = _since(version, changes_of(old, new, Strategy.BACKWARD))
        if strategy is Strategy.ALWAYS_COMPATIBLE:
            broken = event_kinds.broken_readers(version, old, new, forward=index == latest)
            found = (*broken, *found)
        for remark in found:
            place = (remark.rule, remark.path, remark.pointer)
            if index == latest or place not in told:
                told.add(place)
                yield version, remark


def _since(version: int, remarks: Iterable[Remark]) -> tuple[Remark, ...]:
    return tuple(
        replace(one, message=f"since v{version}, {one.message}")
        for one in remarks
        if one.rule not in _OF_THE_STEP
    )


def _avro(old: StoredSchema, new: StoredSchema, strategy: Strategy) -> tuple[Remark, ...]:
    if old.data == new.data:
        return ()
    before, after = _parsed(old), _parsed(new)
    if before is None or after is None:
        return ()
    wire = _WIRES[new.type]
    try:
        return avro_changes(before, after, wire=wire, forward=reads_forward(strategy))
    except RecursionError:  # the broker fails on such a pair, which says enough
        return ()


def _parsed(schema: StoredSchema) -> Schema | None:
    try:
        return parse(schema.data.decode("utf-8", "replace"))
    except AvroParseError:
        return None


def _of_halves(
    old: StoredSchema,
    new: StoredSchema,
    review: Callable[[StoredSchema, StoredSchema], tuple[Remark, ...]],
) -> Iterator[Remark]:
    try:
        halves = zip(parser.split(old), parser.split(new), strict=True)
    except parser.UndecodableError:
        return
    for name, (before, after) in zip(("key", "value"), halves, strict=True):
        for remark in review(before, after):
            yield in_half(remark, name)


def in_half(remark: Remark, half: str) -> Remark:
    """A remark about a half, as one about the pair."""
    old = remark.old_pointer
    return replace(
        remark,
        path=f"{half}.{remark.path}" if remark.path else half,
        pointer=f"/{half}{remark.pointer}",
        old_pointer=None if old is None else f"/{half}{old}",
    )
