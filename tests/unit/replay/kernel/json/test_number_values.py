"""The numbers, dates and times of JSON payloads, in the units of the reader."""

from __future__ import annotations

import json
import math
from typing import Any

import pyarrow
import pytest

from gitops.replay.kernel.json.kernel import JsonKernel
from gitops.replay.kernel.json.schema_pair import pair
from gitops.schemas.avro.parser import AVRO_1_11


def _numbers(definition: Any, *payloads: Any) -> dict[tuple[str, str], list[float]]:  # noqa: ANN401
    schema = AVRO_1_11.parse(json.dumps(definition))
    column = pyarrow.array([json.dumps(one).encode() for one in payloads], pyarrow.binary())
    found: dict[tuple[str, str], list[float]] = {}
    kernel = JsonKernel(pair(schema, schema))
    kernel.numbers(column, lambda path, unit, its: found.update({(path, unit): its.tolist()}))
    return found


def _record(kind: Any) -> Any:  # noqa: ANN401 - a definition
    return {"type": "record", "name": "R", "fields": [{"name": "v", "type": kind}]}


def _time(kind: str, logical: str) -> dict[str, str]:
    return {"type": kind, "logicalType": logical}


@pytest.mark.parametrize(
    ("kind", "value", "unit", "number"),
    [
        ("int", 7, "integer", 7),
        ("double", 7, "number", 7.0),
        ("float", 0.1, "number", 0.10000000149011612),
        ("double", "NaN", "number", math.nan),
        (["null", "long"], 5, "integer", 5),
        (["null", "string", "long"], 5, "integer", 5),
        ({"type": "bytes", "logicalType": "decimal", "precision": 4}, 1.5, "number", 1.5),
        (_time("int", "date"), 3, "date", 3),
        (_time("int", "date"), "1970-01-04", "date", 3),
        (_time("int", "date"), [1970, 1, 4], "date", math.nan),
        (_time("long", "timestamp-micros"), 2_500, "timestamp", 2),
        (_time("long", "timestamp-millis"), 1.5, "timestamp", 1_500),
        (_time("long", "timestamp-millis"), "1970-01-01T00:00:01.5Z", "timestamp", 1_500),
        (_time("long", "local-timestamp-millis"), "1970-01-01T00:01", "local-timestamp", 60_000),
        (_time("int", "time-millis"), "00:00:02", "time", 2_000),
        (_time("long", "time-micros"), 2_000, "time", 2),
    ],
)
def test_a_number_is_of_its_unit(kind: Any, value: Any, unit: str, number: float) -> None:  # noqa: ANN401
    found = _numbers(_record(kind), {"v": value})
    assert str(found) == str({("v", unit): [float(number) if unit != "integer" else number]})


def test_what_is_no_number_is_not_among_them() -> None:
    definition = {
        "type": "record",
        "name": "R",
        "fields": [
            {"name": "text", "type": "string"},
            {"name": "none", "type": ["null", "int"]},
            {"name": "new", "type": "int", "default": 3},
            {"name": "items", "type": {"type": "array", "items": "int"}},
            {"name": "map", "type": {"type": "map", "values": "int"}},
        ],
    }
    found = _numbers(definition, {"text": "1", "items": [1, 2], "map": {"a": 3}, "other": 9})
    assert found == {("items[]", "integer"): [1, 2], ("map{}", "integer"): [3]}
