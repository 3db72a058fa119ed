"""Defaults that Avro for Java cannot turn into the value of their logical type.

Readers get the default of a field that a message lacks. The broker looks at the base type alone.
Seen with Avro 1.11.4 and its conversions, which Pulsar's Java client uses for classes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gitops.schemas.avro.json_text import Json
from gitops.schemas.avro.pointers import Pointers
from gitops.schemas.avro.schema import (
    MISSING,
    Array,
    Map,
    Record,
    Schema,
    Union,
    logical_type_of,
    named_types,
)
from gitops.schemas.row import Remark

_UUID: Final = re.compile(r"(?:\+?[0-9a-fA-F]+-){4}\+?[0-9a-fA-F]+")
_LONGEST_UUID: Final = 36
_MOST_LONG: Final = 2**63
_DAY: Final = {"time-millis": 86_400_000, "time-micros": 86_400_000_000}
"""The values of a time of day are below these."""


def review_logical_defaults(top: Schema) -> tuple[Remark, ...]:
    """Each field whose default has no value of its logical type."""
    places: Pointers | None = None
    remarks: list[Remark] = []
    records = (named for named in named_types(top) if isinstance(named, Record))
    for record in records:
        for field in record.all_fields:
            if field.default is MISSING:
                continue
            problem = next(_problems(field.type, field.default), None)
            if problem is None:
                continue
            places = places or Pointers(top)
            what, hint = problem
            remarks.append(
                Remark(
                    rule="AVRO-W024",
                    message=f"the default of '{field.name}' is {what}, which the broker does not "
                    "see: a Java consumer fails on every message without the field",
                    path=places.path(record, field),
                    pointer=f"{places.field(record, field)}/default",
                    hint=hint,
                )
            )
    return tuple(remarks)


def _problems(schema: Schema, value: Json) -> Iterator[tuple[str, str]]:
    """Of a value and what is in it: what it is, and what to write."""
    match schema:
        case Union():
            for branch in schema.default_branches[:1]:
                yield from _problems(branch, value)
        case Array() if isinstance(value, list):
            for item in value:
                yield from _problems(schema.items, item)
        case Map() if isinstance(value, dict):
            for item in value.values():
                yield from _problems(schema.values, item)
        case Record() if isinstance(value, dict):
            for field in schema.all_fields:
                if field.name in value:
                    yield from _problems(field.type, value[field.name])
        case _:
            yield from _scalar_problems(schema, value)


def _scalar_problems(schema: Schema, value: Json) -> Iterator[tuple[str, str]]:
    name = logical_type_of(schema)
    is_text = isinstance(value, str)
    if name == "uuid" and schema.kind == "string" and is_text and not _is_uuid(value):
        hint = (
            'write "00000000-0000-0000-0000-000000000000", or make the field nullable with the '
            "default null"
        )
        yield "no UUID", hint
    if name == "decimal" and value == "":
        yield "no decimal", 'write "\\u0000" for the number 0'
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if name in _DAY and is_number and not 0 <= value < _DAY[name]:
        yield "no time of day", f"write a number from 0 to {_DAY[name] - 1}"


def _is_uuid(text: str) -> bool:
    """Whether Java's UUID.fromString reads it."""
    return (
        len(text) <= _LONGEST_UUID
        and _UUID.fullmatch(text) is not None
        and all(int(part, 16) < _MOST_LONG for part in text.split("-"))
    )
