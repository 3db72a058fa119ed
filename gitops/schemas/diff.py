"""The differences between two schemas of any type."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gitops.model.decision import StoredSchema
from gitops.model.plan import ChangeKind, SchemaChange
from gitops.model.schema import AUTO_TYPES, AVRO_DEFINED, SchemaInfo, SchemaType
from gitops.schemas.avro.diff import IGNORED, differences
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.avro.parser import parse
from gitops.schemas.key_value import parser
from gitops.schemas.payload import PayloadError, as_shown
from gitops.schemas.protobuf_native import diff
from gitops.schemas.protobuf_native.errors import InvalidEnvelopeError


def schema_changes(before: SchemaInfo | None, after: SchemaInfo) -> tuple[SchemaChange, ...]:
    """What `after` changes about `before`; nothing for a first schema.

    Properties count as ignored: Pulsar 4.0.7 keeps those of the stored version.
    """
    if before is None:
        return ()
    try:
        old, new = as_shown(before), as_shown(after)
    except PayloadError:
        return (_unreadable(before.schema, after.schema),) if before.schema != after.schema else ()
    if old.type is not new.type:
        return (_type(before.type, after.type, new.type), *_properties(before, after))
    told = _types_of_halves(old, new)
    others = (one for one in _properties(before, after) if one.path not in told)
    return (*_stored(old, new), *others)


def _stored(old: StoredSchema, new: StoredSchema) -> Iterator[SchemaChange]:
    if old.type is not new.type:
        yield _type(old.type, new.type, new.type)
    elif old.data == new.data and old.type is not SchemaType.KEY_VALUE:
        return
    elif old.type in AVRO_DEFINED:
        yield from _avro(old, new)
    elif old.type is SchemaType.KEY_VALUE:
        yield from _key_value(old, new)
    elif old.type is SchemaType.PROTOBUF_NATIVE:
        yield from _protobuf_native(old, new)
    else:
        yield _unreadable(old.data.decode("utf-8", "replace"), new.data.decode("utf-8", "replace"))


def _type(before: SchemaType, after: SchemaType, kept: SchemaType) -> SchemaChange:
    is_kept = after is kept or after in AUTO_TYPES  # those are never stored
    note = "" if is_kept else f"Pulsar keeps it as {kept.value}"
    return SchemaChange(
        kind=ChangeKind.CHANGED, path="type", before=before.value, after=after.value, note=note
    )


def _types_of_halves(old: StoredSchema, new: StoredSchema) -> set[str]:
    """The paths of properties that say what the type of a half, which is told by itself, says."""
    if new.type is not SchemaType.KEY_VALUE:
        return set()
    try:
        halves = zip(parser.split(old), parser.split(new), strict=True)
    except parser.UndecodableError:
        return set()
    named = zip(("key", "value"), halves, strict=True)
    return {f"property {name}.schema.type" for name, (b, a) in named if b.type is not a.type}


def _avro(old: StoredSchema, new: StoredSchema) -> Iterator[SchemaChange]:
    texts = [side.data.decode("utf-8", "replace") for side in (old, new)]
    try:
        yield from differences(parse(texts[0]), parse(texts[1]))
    except AvroParseError:
        yield _unreadable(*texts)


def _protobuf_native(old: StoredSchema, new: StoredSchema) -> Iterator[SchemaChange]:
    try:
        yield from diff.differences(old.data, new.data)
    except InvalidEnvelopeError:
        yield _unreadable(*(side.data.decode("utf-8", "replace") for side in (old, new)))


def _key_value(old: StoredSchema, new: StoredSchema) -> Iterator[SchemaChange]:
    try:
        halves = zip(parser.split(old), parser.split(new), strict=True)
        for name, (before, after) in zip(("key", "value"), halves, strict=True):
            for change in _stored(before, after):
                yield replace(change, path=f"{name}.{change.path}" if change.path else name)
    except parser.UndecodableError:
        yield _unreadable(old.data.hex(), new.data.hex())


def _properties(before: SchemaInfo, after: SchemaInfo) -> Iterator[SchemaChange]:
    for name in sorted({*before.properties, *after.properties}):
        old, new = before.properties.get(name, "–"), after.properties.get(name, "–")
        if old != new:
            yield SchemaChange(
                kind=ChangeKind.CHANGED,
                path=f"property {name}",
                before=old,
                after=new,
                note=IGNORED,
                ignored=True,
            )


def _unreadable(old: str, new: str) -> SchemaChange:
    """Definitions that cannot be compared part by part."""
    return SchemaChange(
        kind=ChangeKind.CHANGED,
        path="definition",
        before=_length(old),
        after=_length(new) if len(new) != len(old) else "as many others",
    )


def _length(text: str) -> str:
    return f"{len(text):,} character{'' if len(text) == 1 else 's'}"
