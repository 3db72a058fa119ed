"""Changes of a KEY_VALUE that the broker does not see at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gitops.model.decision import StoredSchema
from gitops.schemas.key_value.parser import (
    ENCODING,
    HALVES,
    INLINE,
    add_half_prefix,
    named_halves,
    split,
)
from gitops.schemas.layout import layout_change
from gitops.schemas.primitive.row import may_share_bytes
from gitops.schemas.row import (
    Remark,
    RowOf,
    SchemaTypeRow,
    UndecodableError,
)

_SEPARATED: Final = "SEPARATED"
_NESTED: Final = Remark(
    rule="KV-P001",
    message="half of a KEY_VALUE is itself a KEY_VALUE: the broker reads the first four letters "
    "of its definition as a length and asks for some two gigabytes of memory",
    hint="make it a record (AVRO or JSON) of both",
)


def review_half(_schema: StoredSchema) -> tuple[Remark, ...]:
    """A KEY_VALUE is no half."""
    return (_NESTED,)


def ignored_definitions(row_of: RowOf, schema: StoredSchema) -> Iterator[Remark]:
    """Halves whose definition nobody reads, since the properties name a type without one.

    Where they name none it is BYTES (Pulsar 4.0.7).
    """
    try:
        halves = dict(zip(HALVES, split(schema), strict=True))
    except UndecodableError:
        return
    ignored = {
        name: half
        for name, half in halves.items()
        if half.data not in (b"", b"null") and not _reads_definition(row_of(half.type))
    }
    untyped = {
        name: half
        for name, half in ignored.items()
        if f"{name}.schema.type" not in schema.properties
    }
    for name, half in ignored.items():
        if name not in untyped:
            yield Remark(
                rule="KV-W004",
                message=f"{name}.schema.type is {half.type.value}, which has no definition: the "
                f"broker does not compare that of the {name}, and no reader gets it",
                pointer=f"/properties/{name}.schema.type",
                hint=_type_hint({name: half}),
            )
    if untyped:
        missing = " and ".join(f"{name}.schema.type" for name in untyped)
        are, typed = "are", "both halves"
        if len(untyped) == 1:
            are, typed = "is", f"the {next(iter(untyped))}"
        yield Remark(
            rule="KV-W004",
            message=f"{missing} {are} missing from the properties: the broker treats {typed} as "
            "BYTES, compares no definition, and readers get bytes",
            pointer="/properties",
            hint=_type_hint(untyped),
        )


def _reads_definition(row: SchemaTypeRow) -> bool:
    return row.form is not None or row.is_opaque


def _type_hint(halves: Mapping[str, StoredSchema]) -> str:
    """Which types the definitions of these halves may be of."""
    if not all(half.data.startswith((b"{", b"[")) for half in halves.values()):
        return f"add {' and '.join(f'{name}.schema.type' for name in halves)}, or no definition"
    properties = " and ".join(f'"{name}.schema.type": "AVRO"' for name in halves)
    return f"write {properties} into the properties (JSON where messages are JSON)"


def remarks(old: StoredSchema, new: StoredSchema) -> tuple[Remark, ...]:
    """Equality is over the bytes of the halves, so that these pass for the same schema.

    The properties that say how messages are laid out stay those of the stored version, and a
    client takes its own (Pulsar 4.0.7).
    """
    return (*_encoding(old, new), *_half_types(old, new))


def _encoding(old: StoredSchema, new: StoredSchema) -> Iterator[Remark]:
    before, after = (schema.properties.get(ENCODING, INLINE) for schema in (old, new))
    if before != after:
        yield Remark(
            rule="KV-W001",
            message=f"the encoding changes from {before} to {after}, which Pulsar does not "
            "compare: consumers look for the key where it no longer is",
            pointer="/encoding",
            old_pointer="/encoding",
            hint=f"keep {before}, or move to a new topic",
            breaks_readers=True,
            breaks_old_readers=True,
        )


def key_remarks(row_of: RowOf, old: StoredSchema, new: StoredSchema) -> Iterator[Remark]:
    """A SEPARATED key that has other bytes: routing, Key_Shared and compaction compare these.

    Of AVRO alone: in JSON the bytes depend on the client and on the values.
    """
    if any(schema.properties.get(ENCODING) != _SEPARATED for schema in (old, new)):
        return
    try:
        before, after = dict(named_halves(old, new))["key"]
    except UndecodableError:
        return
    if before.type is not after.type:
        return
    change = layout_change(row_of(after.type), before, after)
    if change is None:
        return
    remark = Remark(
        rule="KV-W005",
        message="the bytes of a SEPARATED key change: messages of one key have another message "
        "key than before, so that they go to another partition or Key_Shared consumer, and "
        "compaction keeps an older message beside the newer one",
        path=change.path,
        pointer=change.pointer,
        old_pointer=change.old_pointer,
        hint="keep the key as it is, or move to a new topic",
    )
    yield add_half_prefix(remark, "key")


def _half_types(old: StoredSchema, new: StoredSchema) -> Iterator[Remark]:
    if old.data != new.data:
        return
    try:
        halves = named_halves(old, new)
    except UndecodableError:
        return
    for name, (before, after) in halves:
        if before.type is not after.type:
            is_wrong = not may_share_bytes(before.type, after.type)
            yield Remark(
                rule="KV-W002",
                message=f"the {name} changes from {before.type.value} to {after.type.value}, which "
                "Pulsar treats as the same schema: it keeps the old one and refuses no client",
                pointer=f"/{name}",
                old_pointer=f"/{name}",
                hint="move to a new topic",
                breaks_readers=is_wrong,
                breaks_old_readers=is_wrong,
            )
