"""Decimals in the values of a message, which a reader of the types beneath has as bytes."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from gitops.compatibility.avro.logical_types import decimal_of
from gitops.compatibility.avro.schema import Array, Map, Record, Schema, Union, branch_name
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.kernel.avro.meanings import MOST_SHOWN, meaning_of
from gitops.replay.kernel.avro.values import Tagged
from gitops.replay.kernel.definition import avro_form
from gitops.replay.kernel.key_value.halves import halves_of


def with_decimals(value: Any, written: SchemaInfo) -> Any:  # noqa: ANN401 - as the schema says
    """The value of a message as `written` reads it, with a Decimal for the bytes of each.

    Raises DefinitionError, and RecursionError for a value that is too deep.
    """
    if "decimal" not in written.schema:
        return value
    if written.type is SchemaType.AVRO:
        return _within(avro_form(written), value)
    if written.type is SchemaType.KEY_VALUE and isinstance(value, dict):
        halves = zip(value.items(), halves_of(written), strict=True)
        return {name: with_decimals(each, half) for (name, each), half in halves}
    return value


def _within(schema: Schema, value: Any) -> Any:  # noqa: ANN401
    match schema:
        case Union():
            return _of_branch(schema, value)
        case Record():
            types = schema.by_name
            return {name: _within(types[name].type, each) for name, each in value.items()}
        case Array():
            return [_within(schema.items, each) for each in value]
        case Map():
            return {name: _within(schema.values, each) for name, each in value.items()}
    if decimal_of(schema) is None or not 0 < len(value) <= MOST_SHOWN:
        return value
    return Decimal(meaning_of(schema).text(value))


def _of_branch(union: Union, value: Any) -> Any:  # noqa: ANN401
    if value is None:
        return None
    if isinstance(value, Tagged):
        branch = next(each for each in union.branches if branch_name(each) == value.branch)
        return value._replace(value=_within(branch, value.value))
    return _within(next(each for each in union.branches if each.kind != "null"), value)
