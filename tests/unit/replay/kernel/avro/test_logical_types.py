"""Values of logical types as Java's classes take them, and as readers of generic records do.

What is expected was said by the reader of Pulsar's Java client 4.0.7 with classes for the types.
"""

from __future__ import annotations

import io
import json
from typing import Any

import fastavro
import pyarrow
import pytest

from gitops.replay.kernel.avro.kernel import AvroKernel, avro_kernel
from gitops.replay.kernel.protocol import READ, CountKey, CountKind, Reason, ValueChange
from gitops.schemas.avro.parser import AVRO_1_11
from tests.support.avro_kernels import plan_of
from tests.support.avro_points import points

parse = AVRO_1_11.parse

UUID = {"type": "string", "logicalType": "uuid"}
MILLIS = {"type": "int", "logicalType": "time-millis"}
MICROS = {"type": "long", "logicalType": "time-micros"}
AT_MILLIS = {"type": "long", "logicalType": "timestamp-millis"}
AT_MICROS = {"type": "long", "logicalType": "timestamp-micros"}
GOOD = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"
NOT_A_UUID = "the text is not a UUID"
NO_TIME = "a time that is not within a day"


def decimal(scale: int, kind: str = "bytes") -> dict[str, Any]:
    return {"type": kind, "logicalType": "decimal", "precision": 9, "scale": scale}


def java(name: str) -> dict[str, str]:
    return {"type": "string", "java-class": f"java.{name}"}


def record(kind: Any) -> Any:  # noqa: ANN401 - a definition
    return {"type": "record", "name": "R", "fields": [{"name": "v", "type": kind}]}


def payload(kind: Any, value: Any) -> bytes:  # noqa: ANN401 - a definition and its value
    out = io.BytesIO()
    fastavro.schemaless_writer(out, record(kind), {"v": value})
    return out.getvalue()


@pytest.mark.parametrize(
    ("written", "value", "read", "reason"),
    [
        ("string", "not-a-uuid", UUID, NOT_A_UUID),
        ("string", "", UUID, NOT_A_UUID),
        ("string", GOOD, UUID, ""),
        ("string", GOOD.upper(), UUID, ""),
        ("string", "1-1-1-1-1", UUID, ""),
        ("string", "x", {**UUID, "avro.java.string": "String"}, ""),
        ("string", "12", {**UUID, "java-class": "java.math.BigInteger"}, ""),
        ("string", "x", {**UUID, "java-class": "java.io.File"}, ""),
        ("int", -1, {**MILLIS, "java-class": "java.lang.Integer"}, ""),
        ("bytes", b"", {**decimal(2), "java-class": "java.lang.String"}, ""),
        ("bytes", b"x", {"type": "bytes", "logicalType": "uuid", "java-class": "java.io.File"}, ""),
        ("int", -1, MILLIS, NO_TIME),
        ("int", 86_399_999, MILLIS, ""),
        ("int", 86_400_000, MILLIS, NO_TIME),
        ("int", -1, MICROS, NO_TIME),
        ("long", 86_400_000_000, MICROS, NO_TIME),
        ("long", 86_399_999_999, MICROS, ""),
        ("bytes", b"", decimal(2), "a decimal of no bytes"),
        ("string", "", decimal(2), "a decimal of no bytes"),
        ("bytes", b"\0", decimal(2), ""),
        ("bytes", b"", {**decimal(2), "precision": 1}, ""),  # no decimal for Avro
        ("bytes", b"x", {"type": "bytes", "logicalType": "uuid"}, "Avro for Java reads a UUID fro"),
        ("int", -(2**31), {"type": "int", "logicalType": "date"}, ""),
        ("long", 2**63 - 1, AT_MILLIS, ""),
        ("string", "1e5", java("math.BigDecimal"), ""),
        ("string", "1,5", java("math.BigDecimal"), "the text is not a number"),
        ("string", "1.5", java("math.BigInteger"), "the text is not a whole number"),
        ("string", "a b", java("net.URI"), "the text is not a URI"),
        ("string", "nothing://x", java("net.URL"), "the text is not a URL"),
    ],
)
@pytest.mark.parametrize("few", [0, 9])
def test_what_a_class_does_not_take_fails(
    written: Any,  # noqa: ANN401 - a definition
    value: Any,  # noqa: ANN401 - its value
    read: Any,  # noqa: ANN401 - a definition
    reason: str,
    few: int,
) -> None:
    one = pyarrow.array([payload(written, value)], pyarrow.binary())
    strict = AvroKernel(plan_of(record(written), record(read)), few=few).walk(one)
    assert [one.reason[: len(reason)] for one in strict.reasons] == ([reason] if reason else [])
    lax = avro_kernel(parse_of(record(written)), parse_of(record(read)), "none").walk(one)
    assert lax.verdicts[0] == READ


def parse_of(definition: Any) -> Any:  # noqa: ANN401 - a definition, and what it is parsed to
    return parse(json.dumps(definition))


@pytest.mark.parametrize(
    ("wrap", "value", "path"),
    [
        (lambda kind: ["null", kind], "x", "v"),
        (lambda kind: {"type": "array", "items": kind}, ["x"], "v[]"),
        (lambda kind: {"type": "map", "values": kind}, {"k": "x"}, "v{}"),
    ],
)
def test_it_does_so_wherever_it_stands(wrap: Any, value: Any, path: str) -> None:  # noqa: ANN401
    one = pyarrow.array([payload(wrap("string"), value)])
    kernel = AvroKernel(plan_of(record(wrap("string")), record(wrap(UUID))), few=0)
    assert kernel.walk(one).reasons == (Reason(path, NOT_A_UUID),)


def test_a_default_that_no_class_takes_fails_every_row() -> None:
    reader = record("int")
    reader["fields"].append({"name": "id", "type": UUID, "default": "none"})
    kernel = AvroKernel(plan_of(record("int"), reader))
    one = pyarrow.array([payload("int", 1)])
    assert kernel.walk(one).reasons == (Reason("id", NOT_A_UUID),)
    lax = avro_kernel(parse_of(record("int")), parse_of(reader), "none").walk(one)
    assert lax.verdicts.tolist() == [READ]


@pytest.mark.parametrize(
    ("written", "value", "read", "said"),
    [
        (
            AT_MILLIS,
            1_777_629_600_000,
            AT_MICROS,
            (
                "timestamp-millis is read as timestamp-micros",
                "2026-05-01T10:00:00Z",
                "1970-01-21T13:47:09.6Z",
            ),
        ),
        (
            decimal(2),
            b"\x30\x39",
            decimal(4),
            ("decimal(9, 2) is read as decimal(9, 4)", "123.45", "1.2345"),
        ),
        (
            "long",
            -1,
            AT_MILLIS,
            ("long is read as timestamp-millis", -1, "1969-12-31T23:59:59.999Z"),
        ),
        (
            {"type": "int", "logicalType": "date"},
            1,
            MILLIS,
            ("date is read as time-millis", "1970-01-02", "00:00:00.001"),
        ),
    ],
)
@pytest.mark.parametrize("few", [0, 9])
def test_a_value_that_means_something_else_is_changed(
    written: Any,  # noqa: ANN401 - a definition
    value: Any,  # noqa: ANN401 - its value
    read: Any,  # noqa: ANN401 - a definition
    said: tuple[str, Any, Any],
    few: int,
) -> None:
    plain = written if isinstance(written, str) else written["type"]
    one = payload(plain, value)
    plan = plan_of(record(written), record(read))
    walk = AvroKernel(plan, few=few).walk(pyarrow.array([one]))
    assert walk.counts[CountKey("v", CountKind.REINTERPRETED)] == 1
    assert {path: rows.tolist() for path, rows in walk.changed.items()} == {"v": [0]}
    assert AvroKernel(plan).changes(one) == {"v": ValueChange(*said)}
    assert said[0] in {point.what for point in points(plan)}
    lax = avro_kernel(parse_of(record(written)), parse_of(record(read)), "none")
    assert not lax.walk(pyarrow.array([one])).changed


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (AT_MILLIS, AT_MILLIS),
        (decimal(2), {**decimal(2), "precision": 5}),
        ("string", UUID),
    ],
)
def test_the_same_meaning_is_no_change(written: Any, read: Any) -> None:  # noqa: ANN401
    said = {point.what for point in points(plan_of(record(written), record(read)))}
    assert not [one for one in said if "is read as" in one]


def test_nothing_is_nothing_in_every_unit() -> None:
    zero = pyarrow.array([payload("long", 0)])
    kernel = AvroKernel(plan_of(record(AT_MILLIS), record(AT_MICROS)), few=0)
    assert not kernel.walk(zero).changed


@pytest.mark.parametrize(
    ("name", "value", "left"),
    [("Byte", 128, -128), ("Short", -(2**15) - 1, 2**15 - 1), ("Character", -1, 2**16 - 1)],
)
def test_a_number_is_cut_to_the_class(name: str, value: int, left: int) -> None:
    plan = plan_of(record("int"), record({"type": "int", "java-class": f"java.lang.{name}"}))
    changes = AvroKernel(plan).changes(payload("int", value))
    assert changes == {"v": ValueChange("the Java class has fewer bits", value, left)}
    assert AvroKernel(plan).changes(payload("int", 7)) == {}
