"""Random Avro definitions for hypothesis."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import strategies as st

from tests.oracle.avro_schemas import AvroSchemas

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
    return AvroSchemas(Random(draw(st.integers(0, 2**32)))).record()  # noqa: S311 - hypothesis' own


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Json, Json]:
    """A record, and a changed copy of it."""
    schemas = AvroSchemas(Random(draw(st.integers(0, 2**32))))  # noqa: S311 - hypothesis' own
    old = schemas.record()
    return old, schemas.changed(old)
