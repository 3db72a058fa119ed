"""Defaults that change: messages without the field decode to another value than before."""

from __future__ import annotations

from collections.abc import Iterator

from gitops.schemas.avro.default_values import UnusableDefaultError, check_usable
from gitops.schemas.avro.diff import render_json
from gitops.schemas.avro.equality import json_key
from gitops.schemas.avro.json_text import Json
from gitops.schemas.avro.review_types import Change
from gitops.schemas.avro.schema import Field, Missing, Record, Schema, Union
from gitops.schemas.row import Remark


def default_remarks(
    old: tuple[Record, Field], new: tuple[Record, Field], at: Change
) -> Iterator[Remark]:
    """About a field that has a default in both schemas, in the record that is looked at."""
    before, after = old[1].default, new[1].default
    if isinstance(before, Missing) or isinstance(after, Missing) or _are_alike(before, after):
        return
    try:
        check_usable(*old)
        check_usable(*new)
    except UnusableDefaultError:  # without a usable default no such message decodes
        return
    was, now = render_json(before), render_json(after)
    yield Remark(
        rule="AVRO-W012",
        message=f"the default changes from {was} to {now}: messages without '{old[1].name}' "
        f"decode to {now} in place of {was}",
        path=at.field_path(new[1].name),
        pointer=f"{at.new.field(*new)}/default",
        old_pointer=f"{at.old.field(*old)}/default",
        hint="keep the default, and let producers write the other value",
    )


def _are_alike(before: Json, after: Json) -> bool:
    """Whether they are one value; a promotion may have made a 1 of int a 1.0 of double."""
    if {type(before), type(after)} == {int, float}:
        return bool(before == after)
    return json_key(before) == json_key(after)


def used_fields(record: Record, field: Field) -> Iterator[tuple[Record, Field]]:
    """The fields whose own defaults a reader uses where it does not find `field`.

    A default that is a record lacks members, whose defaults are used in turn.
    """
    seen: set[int] = set()

    def missing(record: Record, field: Field) -> Iterator[tuple[Record, Field]]:
        if id(field) not in seen and not isinstance(field.default, Missing):
            seen.add(id(field))
            yield record, field
            yield from inside(field.type, field.default)

    def inside(schema: Schema, value: Json) -> Iterator[tuple[Record, Field]]:
        if isinstance(schema, Union) and schema.branches:
            yield from inside(schema.branches[0], value)
        elif isinstance(schema, Record):
            given = value if isinstance(value, dict) else {}
            for member in schema.all_fields:
                if member.name in given:
                    yield from inside(member.type, given[member.name])
                else:
                    yield from missing(schema, member)

    yield from missing(record, field)
