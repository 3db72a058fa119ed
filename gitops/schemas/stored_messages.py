"""Stored messages that consumers with a new schema cannot read although the broker accepts it.

A strategy that does not promise such reading does not compare for it: FORWARD never, BACKWARD and
FULL only with the latest version. The messages of the other versions are still stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gitops.model.decision import StoredSchema
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.schemas.event_kinds import changed_parts, is_of_kind
from gitops.schemas.json.reading import JAVA_CLASS
from gitops.schemas.key_value.parser import add_half_prefix
from gitops.schemas.primitive.row import may_share_bytes
from gitops.schemas.row import Reason, Remark
from gitops.schemas.strategies import TRANSITIVE, promised_reads
from gitops.schemas.types import SchemaTypes

UNREAD: Final = "CLIENT-R013"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadVersion:
    """A version whose messages a reader fails on: `path` is dotted field names, with a half."""

    version: int
    path: str
    message: str


def unread_messages(
    types: SchemaTypes,
    versions: Sequence[tuple[int, StoredSchema]],
    new: StoredSchema,
    strategy: Strategy,
) -> Iterator[tuple[int, Remark]]:
    """What the new schema cannot read, with the newest version concerned; `versions` oldest first.

    Of AVRO by Avro's resolution, of JSON by what clients take, also in halves of a KEY_VALUE. What
    the latest version cannot read either was reported when that was registered. What a Java class
    makes of other values is reported by the review of the change. Under
    ALWAYS_COMPATIBLE definitions of one kind of event are compared elsewhere.
    """
    if not versions:
        return
    latest = versions[-1][1]
    if new.type not in {old.type for _, old in versions}:
        yield versions[-1][0], _type_change(versions[-1][0], latest, new)
        return
    yield from _half_type_changes(types, versions, new)
    new_reads, _ = promised_reads(strategy)
    if strategy is Strategy.ALWAYS_COMPATIBLE or (new_reads and strategy in TRANSITIVE):
        return
    reported: set[tuple[str, str]] = set()
    for version, old in reversed(versions[:-1] if new_reads else versions):
        known = {(half, item.path) for half, item in _reasons(types, old, latest)}
        for half, reason in _reasons(types, old, new):
            place = (half, reason.path)
            is_reviewed = reason.rule == JAVA_CLASS
            if not is_reviewed and place not in known and place not in reported:
                reported.add(place)
                yield version, _remark(version, half, reason)


def unreadable_versions(
    types: SchemaTypes,
    versions: Sequence[tuple[int, StoredSchema]],
    new: StoredSchema,
    strategy: Strategy,
) -> tuple[int, ...]:
    """The versions whose messages consumers with the new schema cannot read for certain.

    Newest first, as far as the latest version reads them. Under ALWAYS_COMPATIBLE those of the new
    schema's own kind of event.
    """
    if not versions:
        return ()
    latest = versions[-1][1]
    return tuple(
        version
        for version, old in reversed(versions)
        if (strategy is not Strategy.ALWAYS_COMPATIBLE or is_of_kind(types, old, new))
        and _is_unreadable(types, old, new)
        and not _is_unreadable(types, old, latest)
    )


def unread_latest(
    types: SchemaTypes,
    versions: Sequence[tuple[int, StoredSchema]],
    reader: StoredSchema,
    strategy: Strategy,
) -> UnreadVersion | None:
    """Why a consumer with this schema fails on all messages of the latest version, None if not.

    Under ALWAYS_COMPATIBLE the latest version of the reader's own kind of event. Of AVRO and JSON,
    also in halves of a KEY_VALUE, as `unread_messages`.
    """
    for version, writer in reversed(versions):
        if strategy is Strategy.ALWAYS_COMPATIBLE and not (
            is_of_kind(types, writer, reader) or is_of_kind(types, reader, writer)
        ):
            continue
        for half, reason in _reasons(types, writer, reader):
            if reason.is_certain:
                path = ".".join(filter(None, (half, reason.path)))
                return UnreadVersion(version=version, path=path, message=reason.message)
        return None
    return None


def _is_unreadable(types: SchemaTypes, writer: StoredSchema, reader: StoredSchema) -> bool:
    if writer.type is not reader.type:
        return True
    return any(reason.is_certain for _, reason in _reasons(types, writer, reader))


def _half_type_changes(
    types: SchemaTypes, versions: Sequence[tuple[int, StoredSchema]], new: StoredSchema
) -> Iterator[tuple[int, Remark]]:
    """Halves of a KEY_VALUE whose type is another one than that of the latest version.

    Of equal bytes KV-W002 says it.
    """
    version, latest = versions[-1]
    if latest.type is not new.type or latest.data == new.data:
        return
    for half, before, after in types.row_of(new.type).parts(latest, new):
        if half and before.type is not after.type and not may_share_bytes(before.type, after.type):
            remark = Remark(
                rule=UNREAD,
                message=f"the {half} changes from {before.type.value} to {after.type.value}: "
                f"consumers with the new schema cannot read messages of v{version}, nor those "
                f"with v{version} new messages",
                pointer=f"/{half}",
                old_pointer=f"/{half}",
                hint="use a new topic for the new type",
            )
            yield version, remark


def _reasons(
    types: SchemaTypes, writer: StoredSchema, reader: StoredSchema
) -> Iterator[tuple[str, Reason]]:
    if writer.type is not reader.type:
        return
    for half, before, after in changed_parts(types, writer, reader):
        for reason in types.row_of(after.type).resolve(before, after):
            yield half, reason


def _remark(version: int, half: str, reason: Reason) -> Remark:
    cannot = "cannot read" if reason.is_certain else "may fail on or misread"
    remark = Remark(
        rule=UNREAD,
        message=f"consumers with the new schema {cannot} messages of v{version}: {reason.message}",
        path=reason.path,
        pointer=reason.reader_pointer,
        old_pointer=reason.writer_pointer,
        hint=reason.hint,
    )
    return add_half_prefix(remark, half) if half else remark


def _type_change(version: int, old: StoredSchema, new: StoredSchema) -> Remark:
    return Remark(
        rule=UNREAD,
        message=f"the type changes from {old.type.value} to {new.type.value}: consumers with the "
        f"new schema cannot read messages of v{version}, nor those with v{version} new messages",
        hint="use a new topic for the new type",
    )
