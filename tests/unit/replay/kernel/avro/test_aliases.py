"""A reader's aliases, which Avro for Java applies twice where it reads: every value is Java's."""

from __future__ import annotations

from typing import Any

import pytest

from gitops.replay.kernel.protocol import Unreadable
from tests.support.avro_kernels import reader_of


def record(name: str, *fields: dict[str, Any], **more: object) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields), **more}


def field(name: str, kind: object = "int", **more: object) -> dict[str, Any]:
    return {"name": name, "type": kind, **more}


def kind(name: str, **more: object) -> dict[str, Any]:
    return {"type": "enum", "name": name, "symbols": ["A", "B"], **more}


CHAIN = (field("b", aliases=["a"]), field("c", aliases=["b"], default=0))


def test_a_chain_of_field_aliases_is_followed_for_two_steps() -> None:
    reader = record(
        "R",
        field("d", aliases=["c"], default=7),
        field("c", aliases=["b"], default=8),
        field("b", aliases=["a"], default=9),
    )

    value = reader_of(record("R", field("a")), reader).read(b"\x02")

    assert value == {"d": 7, "c": 1, "b": 9}


def test_a_chain_of_type_names_is_followed() -> None:
    reader = record(
        "R",
        field("x", kind("n.C", aliases=["n.B"])),
        field("y", kind("n.B", aliases=["n.A"]), default="A"),
    )

    assert reader_of(record("R", field("x", kind("n.A"))), reader).read(b"\x02") == {
        "x": "B",
        "y": "A",
    }


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (("b", "a"), {"a": 1, "b": 2}),  # renamed it is the reader itself, and stays so
        (("b", "a", "x"), {"a": 2, "b": 1}),  # renamed back
    ],
)
def test_fields_that_change_places(written: tuple[str, ...], value: dict[str, int]) -> None:
    reader = record("R", field("a", aliases=["b"]), field("b", aliases=["a"]))

    assert (
        reader_of(record("R", *map(field, written)), reader).read(b"\x02\x04\x06"[: len(written)])
        == value
    )


def test_records_that_get_one_name_are_told_apart() -> None:
    one, other = record("n.A", field("a")), record("n.B", field("b", "string"))
    reader = record(
        "R",
        field("x", record("n.R", field("c", ["int", "string"]), aliases=["n.A", "n.B"])),
        field("y", "n.R"),
    )
    reader["fields"][0]["type"]["fields"][0]["aliases"] = ["a", "b"]

    value = reader_of(record("R", field("x", one), field("y", other)), reader).read(b"\x02\x02s")

    assert {name: inner["c"].value for name, inner in value.items()} == {"x": 1, "y": "s"}


def test_a_renamed_writer_is_the_reader_only_if_all_records_of_a_name_are() -> None:
    one = record("n.A", field("a"), field("b", default=0))
    other = record("n.B", field("a"))
    inner = record("n.R", *CHAIN, aliases=["n.A", "n.B"])
    reader = record("R", field("x", inner), field("y", "n.R"))

    alike = reader_of(record("R", field("x", one), field("y", one | {"name": "n.B"})), reader)
    unlike = reader_of(record("R", field("x", one), field("y", other)), reader)

    assert alike.read(b"\x02\x04\x06\x08") == {"x": {"b": 1, "c": 2}, "y": {"b": 3, "c": 4}}
    with pytest.raises(Unreadable, match="the same name"):
        unlike.read(b"\x02\x04\x06")
