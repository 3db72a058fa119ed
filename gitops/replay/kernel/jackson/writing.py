"""A value back to JSON, as Pulsar's Java client writes it: members that are null left out."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from gitops.compatibility.avro.schema import Array, Map, Record, Schema, Union
from gitops.replay.kernel.jackson.keys import entries_of
from gitops.replay.kernel.walk import Reason, Unreadable

_ENCODER: Final = msgspec.json.Encoder(decimal_format="number")


class JsonWriter:
    """A RowWriter for what `JsonKernel.read` answers with the same schema as reader."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def write(self, value: Any) -> bytes:  # noqa: ANN401 - any value that a schema can say
        """The payload; raises Unreadable for text that has no UTF-8, as Jackson refuses it."""
        try:
            return _ENCODER.encode(_written(self._schema, value))
        except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as error:
            reason = Reason("", "the value cannot be written as JSON")
            raise Unreadable(reason, f"{reason.reason}: {error}") from None


def _written(schema: Schema, value: Any) -> Any:  # noqa: ANN401 - any value that a schema can say
    match schema:
        case Record() if isinstance(value, dict) and schema.all_fields:
            return {
                name: _written(field.type, value[name])
                for name, field in schema.by_name.items()
                if value.get(name) is not None
            }
        case Array() if isinstance(value, list):
            return [_written(schema.items, item) for item in value]
        case Array() | Map() if isinstance(value, dict):
            entries = entries_of(schema)
            if entries is None:
                return value
            return {name: _written(entries.value, inner) for name, inner in value.items()}
        case Union():
            return _written(_branch(schema, value), value)
        case _:
            return value


def _branch(union: Union, value: Any) -> Schema:  # noqa: ANN401 - any value that a schema can say
    """The branch whose members have to be looked at; the first one for what has no parts."""
    for branch in union.branches:
        match branch:
            case Record() if isinstance(value, dict) and value.keys() <= branch.by_name.keys():
                return branch
            case Array() if isinstance(value, list):
                return branch
            case Array() | Map() if isinstance(value, dict) and entries_of(branch) is not None:
                return branch
            case _:
                pass
    return union.branches[0]
