"""Plans, and the points where data decides."""

from __future__ import annotations

import secrets
from typing import Any

import pyarrow
import pytest

from gitops.replay.kernel.avro import row_counts
from gitops.replay.kernel.avro.kernel import AvroKernel
from gitops.replay.kernel.avro.schema_pair import make_plan
from gitops.replay.kernel.avro.steps import Fail
from gitops.replay.kernel.protocol import CountKey, CountKind, Reason
from gitops.schemas.avro.aliases import apply_aliases
from gitops.schemas.avro.compatibility import can_read
from tests.replay.avro_rows import by_columns, case, parsed
from tests.support.avro_kernels import kernel_of, plan_of
from tests.support.avro_points import LOSES, Point, points

KIND = {"type": "enum", "name": "Kind", "symbols": ["A", "B", "C"]}


def record(*fields: dict[str, Any], name: str = "R") -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields)}


def field(name: str, kind: object, **more: object) -> dict[str, Any]:
    return {"name": name, "type": kind, **more}


def test_the_points_are_where_data_decides() -> None:
    writer = record(
        field("kind", KIND),
        field("money", ["null", "string", "int"]),
        field("size", {"type": "array", "items": "long"}),
        field("none", {"type": "array", "items": "null"}),
        field("gone", KIND | {"name": "Gone"}),
        field("next", ["null", "R"]),
    )
    reader = record(
        field("kind", KIND | {"symbols": ["A", "C"]}),
        field("money", ["null", "long"]),
        field("size", {"type": "array", "items": "float"}),
        field("none", {"type": "array", "items": "null"}),
        field("next", ["null", "R"]),
    )

    assert points(plan_of(writer, reader)) == (
        Point("kind", "the reader's enum has neither B nor a default", fails=True),
        Point("money", "no branch of the reader's union [null, long] accepts string", fails=True),
        Point("next", row_counts.DEEP, fails=True),
        Point("none", row_counts.EMPTY, fails=True),
        Point("size[]", LOSES, fails=False),
    )


def test_what_changes_a_value_is_a_point_that_does_not_fail() -> None:
    reader = record(field("kind", KIND | {"symbols": ["A"], "default": "A"}), field("t", "string"))
    writer = record(field("kind", KIND), field("t", "bytes"))

    assert points(plan_of(writer, reader)) == (
        Point("kind", "B is read as A", fails=False),
        Point("kind", "C is read as A", fails=False),
        Point("t", row_counts.NO_TEXT, fails=False),
    )


@pytest.mark.slow
def test_a_pair_that_is_compatible_fails_at_no_other_point() -> None:
    first, compatible = secrets.randbelow(10**9), 0
    for seed in range(first, first + 250):
        found = case(seed, 25, spoilt=0)
        if found is None:
            continue
        writer, reader = parsed(found.writer), parsed(found.reader)
        assert writer is not None
        assert reader is not None
        if can_read(writer, reader).reasons:
            continue
        if can_read(apply_aliases(writer, reader), reader).reasons:  # as data is read
            continue
        compatible += 1
        plans = [make_plan(writer, reader, how) for how in ("java", "none")]
        for plan in plans:
            known = {Reason(point.path, point.what) for point in points(plan) if point.fails}
            walk = AvroKernel(plan, few=0).walk(pyarrow.array(found.payloads, pyarrow.binary()))
            assert set(walk.reasons) <= known, f"seed {seed}"
        assert not any(isinstance(step, Fail) for step in plans[1].steps), f"seed {seed}"
    assert compatible


@pytest.mark.parametrize(
    ("writer", "reader", "reason"),
    [
        ("int", "string", Reason("", "a reader of string cannot read int")),
        (
            record(),
            record(field("a", "int")),
            Reason(
                "a",
                "reader field 'a' (int) has no default, and the writer's record R does not contain "
                "it",
            ),
        ),
        (
            record(field("a", "R")),
            record(field("a", "R")),
            Reason("", "a record contains itself directly, which Avro for Java cannot resolve"),
        ),
        (
            record(field("a", "int"), field("b", "int")),
            record(field("a", "int", aliases=["b"])),
            Reason(
                "",
                "with the reader's aliases the writer is no valid schema: "
                "the aliases give two fields of R the same name",
            ),
        ),
        (
            record(),
            record(field("a", KIND, default="Z")),
            Reason(
                "a", "the default of reader field 'a' cannot be used: 'Z' is not a symbol of Kind"
            ),
        ),
    ],
)
def test_a_pair_that_cannot_be_resolved_fails_every_row(
    writer: object, reader: object, reason: Reason
) -> None:
    walk = kernel_of(writer, reader).walk(pyarrow.array([b"", b"\0"] * 20, pyarrow.binary()))

    assert by_columns(walk) == [reason] * 40


def test_a_record_within_itself_is_counted_where_it_was_met_first() -> None:
    schema = record(field("value", "int"), field("next", ["null", "R"]))
    payload = bytes.fromhex("02 02 04 02 06 00")

    walk = AvroKernel(plan_of(schema, schema), few=0).walk(pyarrow.array([payload] * 3))

    assert walk.counts == {
        CountKey("value", CountKind.READ): 9,
        CountKey("next", CountKind.READ): 9,
        CountKey("next", CountKind.NULLS): 3,
        CountKey("next", CountKind.BRANCH, "R"): 6,
        CountKey("next", CountKind.BRANCH, "null"): 3,
    }


def test_a_type_that_stands_at_two_places_has_a_path_at_each() -> None:
    address = record(field("zip", "string"), name="Address")
    schema = record(field("home", address), field("work", "Address"))

    walk = kernel_of(schema, schema).walk(pyarrow.array([b"\0\0"] * 20, pyarrow.binary()))

    assert {key.path for key in walk.counts} == {"home", "home.zip", "work", "work.zip"}


@pytest.mark.slow
def test_records_that_hold_each_other_twice_make_no_endless_plan() -> None:
    schema: dict[str, Any] = record(field("a", "int"), name="R40")
    for depth in reversed(range(40)):
        schema = record(field("a", schema), field("b", f"R{depth + 1}"), name=f"R{depth}")

    plan = plan_of(schema, schema)

    assert len(plan.steps) < 30_000
