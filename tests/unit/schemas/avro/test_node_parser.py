"""What the broker calls readable is read: fastavro decodes the writer's data with the reader.

Left out, because fastavro and Avro for Java differ there: enums (Java finds out at reading that a
symbol is missing), unions (which branch is taken), aliases, names that differ (fastavro compares
records and fixed types by name), text that becomes bytes or back, and NaN in data.
"""

from __future__ import annotations

import io
import json
from typing import Any

import fastavro
import pytest
from fastavro.schema import parse_schema
from fastavro.types import Schema as FastSchema
from hypothesis import given
from hypothesis import strategies as st

from gitops.schemas.avro.compatibility import can_read
from gitops.schemas.avro.parser import AVRO_1_11

parse = AVRO_1_11.parse

Json = Any

_VALUES: dict[str, st.SearchStrategy[Json]] = {
    "null": st.none(),
    "boolean": st.booleans(),
    "int": st.integers(-(2**31), 2**31 - 1),
    "long": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(width=32, allow_nan=False),
    "double": st.floats(allow_nan=False),
    "string": st.text(max_size=3),
}
_FIELDS = ("a", "b", "c")
_TYPES = st.recursive(
    st.sampled_from(sorted(_VALUES)),
    lambda inner: (
        st.builds(lambda t: {"type": "array", "items": t}, inner)
        | st.builds(lambda t: {"type": "map", "values": t}, inner)
    ),
    max_leaves=2,
)


@st.composite
def _records(draw: st.DrawFn) -> Json:
    names = draw(st.lists(st.sampled_from(_FIELDS), unique=True))
    return {"type": "record", "name": "R", "fields": [draw(_fields(name)) for name in names]}


@st.composite
def _fields(draw: st.DrawFn, name: str) -> Json:
    kind = draw(_TYPES)
    field = {"name": name, "type": kind}
    if draw(st.booleans()):
        field["default"] = draw(_data(kind, default=True))
    return field


def _data(kind: Json, *, default: bool = False) -> st.SearchStrategy[Json]:
    match kind:
        case {"type": "array", "items": items}:
            return st.lists(_data(items, default=default), max_size=2)
        case {"type": "map", "values": values}:
            return st.dictionaries(st.text(max_size=2), _data(values, default=default), max_size=2)
        case {"fields": fields}:
            return st.fixed_dictionaries({f["name"]: _data(f["type"]) for f in fields})
        case "float" | "double" if default:
            return st.integers(-9, 9).map(lambda n: n / 2)
        case _:
            return _VALUES[kind]


@pytest.mark.slow
@given(_records(), _records(), st.data())
def test_what_is_readable_is_read(writer: Json, reader: Json, data: st.DataObject) -> None:
    if can_read(parse(json.dumps(writer)), parse(json.dumps(reader))).reasons:
        return
    value = data.draw(_data(writer))

    decoded = _decode(parse_schema(writer), parse_schema(reader), value)

    assert decoded.keys() == {field["name"] for field in reader["fields"]}


def _decode(writer: FastSchema, reader: FastSchema, value: Json) -> dict[str, Json]:
    encoded = io.BytesIO()
    fastavro.schemaless_writer(encoded, writer, value)
    encoded.seek(0)
    decoded = fastavro.schemaless_reader(encoded, writer, reader)
    assert isinstance(decoded, dict)
    assert encoded.read() == b""
    return decoded
