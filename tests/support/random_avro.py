"""Random Avro definitions for hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.oracle.avro_changes import AvroChanges
from tests.oracle.avro_schemas import AvroSchemas
from tests.oracle.random_source import Chance

Json = Any

json_values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ("type", "name", "fields", "items", "values", "symbols", "size", "default")
            )
            | st.text(max_size=3),
            inner | st.sampled_from(("record", "enum", "fixed", "array", "map", "int", "R")),
            max_size=5,
        )
    ),
    max_leaves=20,
)
"""Any JSON, with the words that Avro has a meaning for among it."""


@st.composite
def definitions(draw: st.DrawFn) -> Json:
    """A record as a Python value; most parse."""
    return _schemas(draw).record()


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Json, Json]:
    """A record, and a changed copy of it."""
    schemas = _schemas(draw)
    old = schemas.record()
    return old, AvroChanges(schemas).changed(old)


def _schemas(draw: st.DrawFn) -> AvroSchemas:
    schemas = AvroSchemas(Chance(draw(st.integers(0, 2**32))))
    schemas.renew(draw(st.sampled_from((0.0, 0.1, 0.5))))
    return schemas
