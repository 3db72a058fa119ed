"""Changes of a PROTOBUF: its definition is Avro, and messages are laid out by a property.

Java's ProtobufSchema writes the property for the fields of the root message alone; the broker
does not read it (Pulsar 4.0.7).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gitops.model.decision import StoredSchema
from gitops.schemas.protobuf_native.descriptors import Type
from gitops.schemas.protobuf_native.review_types import laid_out_alike, number_effect
from gitops.schemas.row import Remark

_REQUIRED: Final = "LABEL_REQUIRED"
PARSING_INFO: Final = "__PARSING_INFO__"
_PLACE: Final = f"/properties/{PARSING_INFO}"
"""A pointer into what admin REST shows: the definition says nothing of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    """`type` and `label` as protobuf-java calls them: `INT32`, `LABEL_OPTIONAL`."""

    number: int
    name: str
    type: str
    label: str

    def __str__(self) -> str:
        label = self.label.removeprefix("LABEL_").lower()
        return f"{'' if label == 'optional' else f'{label} '}{self.type.lower()}"


def remarks(old: StoredSchema, new: StoredSchema, *, forward: bool) -> tuple[Remark, ...]:
    """One remark for each field that is gone or differs; one where it is unknown what changes.

    `forward`: consumers of the old schema are to read what the new one writes.
    """
    before, after = (_fields(schema.properties.get(PARSING_INFO, "")) for schema in (old, new))
    if not before or not after:
        return () if old.data == new.data else (_unknown_numbers(is_new=not after),)
    if before == after and old.data != new.data:
        return (_UNKNOWN_CHANGE,)
    return tuple(_changes(before, after, forward=forward))


_UNKNOWN_CHANGE: Final = Remark(
    rule="PROTOBUF-W001",
    message=f"the definition changes, and the fields of the root message in {PARSING_INFO} do "
    "not: whether consumers read the nested messages of the other schema is unknown",
    hint="compare the .proto files",
)


def _unknown_numbers(*, is_new: bool) -> Remark:
    lacking = "the new schema does" if is_new else "the old schema does"
    return Remark(
        rule="PROTOBUF-W001",
        message=f"{lacking} not show its Protobuf field numbers ({PARSING_INFO} in the "
        "properties), which Pulsar does not compare: whether consumers with the one read messages "
        "of the other is unknown",
        pointer=_PLACE,
        old_pointer=_PLACE,
        hint="compare the .proto files, and let a producer of Java's client register the schema",
    )


def _changes(
    before: Mapping[str, _Field], after: Mapping[str, _Field], *, forward: bool
) -> Iterator[Remark]:
    there = {field.number: field for field in after.values()}
    for field in before.values():
        later = after.get(field.name)
        if what := _became(field, later, there.get(field.number)):
            breaks = _breaks(field, later, there.get(field.number))
            who = "the new or the old schema" if forward and breaks[1] else "the new schema"
            yield Remark(
                rule="PROTOBUF-W001",
                message=f"{what}, which Pulsar does not compare: consumers with {who} "
                "lose or misread what messages contain there",
                path=field.name,
                pointer=_PLACE,
                old_pointer=_PLACE,
                hint=f"keep '{field.name}' as {field} = {field.number}",
                breaks_readers=breaks[0],
                breaks_old_readers=breaks[1],
            )


def _became(old: _Field, later: _Field | None, there: _Field | None) -> str:
    if later is None:
        if there is None:
            return f"the field with the number {old.number} is gone"
        if (there.type, there.label) == (old.type, old.label):
            return ""  # a rename, as far as one can tell: readers go by numbers
        return f"the number {old.number} belongs to '{there.name}' ({there}) now"
    if later.number != old.number:
        return f"the number changes from {old.number} to {later.number}"
    return f"{old} becomes {later}" if later != old else ""


def _breaks(old: _Field, later: _Field | None, there: _Field | None) -> tuple[bool, bool]:
    """Whether consumers with the new schema, and with the old one, fail or misread for certain.

    As for PROTOBUF_NATIVE: another number or another form on the wire; numbers that come out as
    others; and `required`, where a parser fails on a message that lacks the field.
    """
    is_lost = later is not None and later.number != old.number
    breaks = breaks_old = False
    if there is not None and {old.type, there.type} <= Type.__members__.keys():
        before, after = Type[old.type], Type[there.type]
        is_lost = is_lost or not laid_out_alike(before, after)
        breaks = bool(number_effect(before, after))
        breaks_old = bool(number_effect(after, before))
    was, now = (field is not None and field.label == _REQUIRED for field in (old, there))
    return is_lost or breaks or (now and not was), is_lost or breaks_old or (was and not now)


def _fields(text: str) -> dict[str, _Field]:
    """The fields by name; empty where the text is not in Java's form."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    items = value if isinstance(value, list) else []
    fields = [_field(item) for item in items if isinstance(item, dict)]
    return {field.name: field for field in fields if field is not None}


def _field(item: Mapping[str, object]) -> _Field | None:
    match item:
        case {"number": int(number), "name": str(name), "type": str(kind), "label": str(label)}:
            return _Field(number=number, name=name, type=kind, label=label)
        case _:
            return None
