"""All rules of ours about one schema, or about one change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from gitops.model.decision import StoredSchema
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaType
from gitops.schemas import event_kinds
from gitops.schemas.row import Remark
from gitops.schemas.stored_messages import UNREAD, unread_messages
from gitops.schemas.strategies import TRANSITIVE, promised_reads
from gitops.schemas.types import SchemaTypes

_CHANGED_DEFAULT: Final = "AVRO-W012"

_OF_THE_STEP: Final = frozenset(
    {"AVRO-W006", "AVRO-W007", _CHANGED_DEFAULT, "KV-W002", "KV-W005", "PROTO-W011"}
)
"""What is about the step from the latest version, not about what older messages hold."""

ONLY_IF_TAKEN: Final = frozenset({"KV-W002", UNREAD, "CLIENT-R015"})
"""What is untrue of a schema that the broker refuses for another reason."""


def poison_of(types: SchemaTypes, schema: StoredSchema) -> tuple[Remark, ...]:
    """Why no later schema would ever get past this one; empty for text that is no schema."""
    return types.row_of(schema.type).review(schema)


def poison_of_half(types: SchemaTypes, half: StoredSchema) -> tuple[Remark, ...]:
    """The same of the key or the value of a KEY_VALUE."""
    return types.row_of(half.type).review_half(half)


def accepted_mistakes(types: SchemaTypes, schema: StoredSchema) -> tuple[Remark, ...]:
    """Mistakes that no broker looks at and that block no later version."""
    return types.row_of(schema.type).review_accepted(schema)


def changes_of(
    types: SchemaTypes, old: StoredSchema, new: StoredSchema, strategy: Strategy
) -> tuple[Remark, ...]:
    """What a change from `old` to `new` does to readers, whether or not the broker takes it.

    `strategy` says whether consumers of the old schema are to read what the new one writes.
    """
    if old.type is not new.type:
        return ()
    return types.row_of(new.type).review_change(old, new, strategy)


def changes_of_all(
    types: SchemaTypes,
    versions: Sequence[tuple[int, StoredSchema]],
    new: StoredSchema,
    strategy: Strategy,
) -> Iterator[tuple[int, Remark]]:
    """What readers of all live versions' messages suffer from; `versions` are oldest first.

    Each place is told once by a rule, with the newest version that it concerns. Only the latest
    counts for what its own consumers read, and for what the step to the new schema looks like;
    under a transitive strategy the consumers of every version count.
    Under ALWAYS_COMPATIBLE the versions of the new schema's own kind are all that counts.
    A default that changes is told where messages of a version lack the field, and where the latest
    version is the only one.
    """
    yield from unread_messages(types, versions, new, strategy)
    if strategy is Strategy.ALWAYS_COMPATIBLE:
        yield from event_kinds.new_kind(types, versions, new)
        versions = [items for items in versions if event_kinds.is_of_kind(types, items[1], new)]
    texts: set[tuple[str, str, str]] = set()
    compared: set[tuple[SchemaType, bytes, frozenset[tuple[str, str]]]] = set()
    latest = len(versions) - 1
    for index in range(latest, -1, -1):
        version, old = versions[index]
        identity = (old.type, old.data, frozenset(old.properties.items()))
        if identity in compared:
            continue
        compared.add(identity)
        if index == latest:
            remarks = _without_unused_defaults(
                types, versions, changes_of(types, old, new, strategy)
            )
            remarks = _with_promise(remarks, strategy)
        else:
            remarks = _since(
                version, _older_changes(types, old, versions[latest][1], new, strategy)
            )
        if strategy is Strategy.ALWAYS_COMPATIBLE:
            broken = event_kinds.broken_readers(types, version, old, new, forward=index == latest)
            remarks = (*broken, *remarks)
        for remark in remarks:
            place = (remark.rule, remark.path, remark.pointer)
            if index == latest or place not in texts:
                texts.add(place)
                yield version, remark


def _without_unused_defaults(
    types: SchemaTypes,
    versions: Sequence[tuple[int, StoredSchema]],
    remarks: tuple[Remark, ...],
) -> tuple[Remark, ...]:
    """The remarks on the step from the latest version, without defaults that no message needs."""
    if len(versions) == 1 or all(remark.rule != _CHANGED_DEFAULT for remark in remarks):
        return remarks
    latest = versions[-1][1]
    used = frozenset[str]().union(
        *(
            types.row_of(latest.type).used_defaults(old, latest)
            for _, old in versions[:-1]
            if old.type is latest.type
        )
    )
    return tuple(
        remark
        for remark in remarks
        if remark.rule != _CHANGED_DEFAULT or remark.old_pointer in used
    )


def _older_changes(
    types: SchemaTypes,
    old: StoredSchema,
    latest: StoredSchema,
    new: StoredSchema,
    strategy: Strategy,
) -> tuple[Remark, ...]:
    """What readers of the messages of a version before the latest one suffer from.

    Under a transitive strategy also what consumers of that version suffer from for certain. What
    the latest version breaks already is no broken promise of the new one.
    """
    remarks = changes_of(types, old, new, Strategy.BACKWARD)
    if strategy not in TRANSITIVE:
        return remarks
    places = {(item.rule, item.path, item.pointer) for item in remarks}
    remarks = changes_of(types, old, new, strategy)
    if not any(_is_certain(item) for item in remarks):
        return tuple(item for item in remarks if (item.rule, item.path, item.pointer) in places)
    before = changes_of(types, old, latest, strategy)
    known = {(item.rule, item.path) for item in before if _is_certain(item)}
    changes: list[Remark] = []
    for remark in _with_promise(remarks, strategy):
        is_known = (remark.rule, remark.path) in known
        if (remark.rule, remark.path, remark.pointer) in places:
            changes.append(replace(remark, breaks_promise=remark.breaks_promise and not is_known))
        elif remark.breaks_promise and not is_known:
            changes.append(remark)
    return tuple(changes)


def _is_certain(remark: Remark) -> bool:
    return remark.breaks_readers or remark.breaks_old_readers


def _with_promise(remarks: Iterable[Remark], strategy: Strategy) -> tuple[Remark, ...]:
    """The remarks, each with whether the strategy promises the reading that fails."""
    new_reads, old_read = promised_reads(strategy)
    return tuple(
        replace(
            remark,
            breaks_promise=(new_reads and remark.breaks_readers)
            or (old_read and remark.breaks_old_readers),
        )
        for remark in remarks
    )


def _since(version: int, remarks: Iterable[Remark]) -> tuple[Remark, ...]:
    return tuple(
        replace(remark, message=f"since v{version}, {remark.message}")
        for remark in remarks
        if remark.rule not in _OF_THE_STEP
    )
