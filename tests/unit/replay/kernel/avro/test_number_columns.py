"""The numbers of Avro payloads: whole columns as single rows, in the units of the reader."""

from __future__ import annotations

import datetime
import decimal
import io
import secrets
from collections.abc import Callable
from typing import Any

import fastavro
import numpy
import pyarrow
import pytest
from numpy.typing import NDArray

from gitops.replay.histograms import Histogram, add_histogram, histogram_of
from gitops.replay.kernel.avro.kernel import AvroKernel
from gitops.replay.kernel.avro.schema_pair import make_plan
from gitops.replay.kernel.avro.steps import Plan
from gitops.replay.kernel.protocol import READ, NumberReader
from tests.replay.avro_rows import Case, case, logical_case, parsed
from tests.support.avro_kernels import kernel_of

Found = dict[tuple[str, str], Histogram]

AT = {"type": "long", "logicalType": "timestamp-millis"}
PRICE = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}


def numbers_of(kernel: NumberReader, payloads: pyarrow.Array) -> Found:
    found: Found = {}

    def add(path: str, unit: str, numbers: NDArray[Any]) -> None:
        assert numbers.dtype in (numpy.int64, numpy.float64)
        add_histogram(found.setdefault((path, unit), Histogram()), histogram_of(numbers))

    kernel.numbers(payloads, add)
    return found


def _by(plan: Plan, few: int, payloads: pyarrow.Array) -> Found:
    return numbers_of(AvroKernel(plan, few=few), payloads)


@pytest.mark.slow
@pytest.mark.parametrize("made", [case, logical_case])
def test_columns_have_what_single_rows_have(made: Callable[[int, int], Case | None]) -> None:
    first = secrets.randbelow(10**9)
    numbers = 0
    for seed in range(first, first + 150):
        found = made(seed, 40)
        if found is None:
            continue
        writer, reader = parsed(found.writer), parsed(found.reader)
        assert writer is not None
        assert reader is not None
        plan = make_plan(writer, reader)
        payloads = pyarrow.array(found.payloads, pyarrow.binary())
        verdicts = AvroKernel(plan).walk(payloads).verdicts
        read = payloads.filter(pyarrow.array(verdicts == READ))
        by_rows = _by(plan, 10**6, read)
        numbers += len(by_rows)
        for few in (0, 3, 16):
            assert _by(plan, few, read) == by_rows, f"seed {seed}"
    assert numbers


def _record(**kinds: Any) -> Any:  # noqa: ANN401 - a definition
    fields = [{"name": name, "type": kind} for name, kind in kinds.items()]
    return {"type": "record", "name": "R", "fields": fields}


def _payloads(writer: Any, *values: dict[str, Any]) -> pyarrow.Array:  # noqa: ANN401
    made = []
    for value in values:
        out = io.BytesIO()
        fastavro.schemaless_writer(out, writer, value)
        made.append(out.getvalue())
    return pyarrow.array(made, pyarrow.binary())


@pytest.mark.parametrize(
    ("writer", "reader", "value", "unit", "number"),
    [
        ("int", "int", 7, "integer", 7),
        ("int", "double", 7, "number", 7.0),
        ("long", "float", 2**24 + 1, "number", 2.0**24),
        ("float", "double", 0.5, "number", 0.5),
        (["null", "long"], ["null", "long"], 5, "integer", 5),
        (AT, AT, 1_500, "timestamp", 1_500),
        (AT, {**AT, "logicalType": "timestamp-micros"}, -1_500, "timestamp", -2),
        (PRICE, PRICE, decimal.Decimal("12.34"), "number", 12.34),
        (PRICE, {**PRICE, "scale": 3}, decimal.Decimal("12.34"), "number", 1.234),
        ({"type": "int", "java-class": "java.lang.Byte"}, "int", 300, "integer", 300),
        ("int", {"type": "int", "java-class": "java.lang.Byte"}, 300, "integer", 44),
        (
            {"type": "int", "logicalType": "date"},
            {"type": "int", "logicalType": "date"},
            datetime.date(1970, 1, 3),
            "date",
            2,
        ),
    ],
)
def test_a_number_is_the_reader_s(
    writer: Any,  # noqa: ANN401 - a definition
    reader: Any,  # noqa: ANN401 - a definition
    value: Any,  # noqa: ANN401 - of the writer
    unit: str,
    number: float,
) -> None:
    payloads = _payloads(_record(v=writer), {"v": value})
    found = numbers_of(kernel_of(_record(v=writer), _record(v=reader)), payloads)
    assert {key: (one.least, one.most) for key, one in found.items()} == {
        ("v", unit): (number, number)
    }


def test_what_is_no_number_is_not_among_them() -> None:
    writer = _record(
        text="string", flag="boolean", gone="int", items={"type": "array", "items": "float"}
    )
    reader = _record(text="string", flag="boolean", items={"type": "array", "items": "float"})
    reader["fields"].append({"name": "new", "type": "int", "default": 3})
    payloads = _payloads(
        writer,
        *({"text": "1", "flag": True, "gone": 1, "items": [0.5] * size} for size in range(20)),
    )
    found = numbers_of(kernel_of(writer, reader), payloads)
    assert found.keys() == {("items[]", "number")}
    assert sum(found["items[]", "number"].bins.values()) == sum(range(20))
