"""The differences between two schemas of any type."""

from __future__ import annotations

from collections.abc import Iterator

from gitops.model.decision import StoredSchema
from gitops.model.plan import ChangeKind, SchemaChange
from gitops.model.schema import SchemaInfo
from gitops.schemas.avro.diff import IGNORED
from gitops.schemas.payload import PayloadError, shown_schema
from gitops.schemas.row import definition_change, type_change
from gitops.schemas.types import TYPES


def schema_changes(before: SchemaInfo | None, after: SchemaInfo) -> tuple[SchemaChange, ...]:
    """What `after` changes about `before`; nothing for a first schema.

    Properties count as ignored: Pulsar 4.0.7 keeps those of the stored version.
    """
    if before is None:
        return ()
    try:
        old, new = shown_schema(before), shown_schema(after)
    except PayloadError:
        if before.schema == after.schema:
            return ()
        return (definition_change(before.schema, after.schema),)
    if old.type is not new.type:
        return (type_change(before.type, after.type, new.type), *_properties(before, after))
    shown = _half_type_properties(old, new)
    others = (change for change in _properties(before, after) if change.path not in shown)
    return (*TYPES.row_of(new.type).diff(old, new), *others)


def stored_changes(before: StoredSchema, after: StoredSchema) -> tuple[SchemaChange, ...]:
    """What makes `after` another schema than `before` for Pulsar; all where nothing shows why."""
    if before.type is not after.type:
        return (type_change(before.type, after.type, after.type),)
    changes = tuple(TYPES.row_of(after.type).diff(before, after))
    return tuple(change for change in changes if not change.ignored) or changes


def _half_type_properties(old: StoredSchema, new: StoredSchema) -> set[str]:
    """The paths of properties whose change is shown as that of the type of a half."""
    parts = TYPES.row_of(new.type).parts(old, new)
    return {f"property {name}.schema.type" for name, b, a in parts if b.type is not a.type}


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
