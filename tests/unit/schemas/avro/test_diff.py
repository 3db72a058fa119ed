"""Every kind of difference between two Avro schemas, and agreement with the broker's equality."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given

from gitops.model.plan import SchemaChange
from gitops.schemas.avro.diff import IGNORED, differences
from gitops.schemas.avro.equality import equal
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.avro.parser import AVRO_1_11
from tests.support.states import field, record
from tests.support.strategies import avro_definitions, definition_pairs

parse = AVRO_1_11.parse


def _shown(change: SchemaChange) -> str:
    values = f"{change.before} → {change.after}"
    note = f" ({change.note})" if change.note else ""
    return f"{change.kind.value} {change.path}: {values}{note}"


def _differences(before: object, after: object) -> list[str]:
    return [_shown(change) for change in differences(_parsed(before), _parsed(after))]


def _parsed(definition: object) -> Any:  # noqa: ANN401 - a schema of any kind
    return parse(json.dumps(definition))


def _enum(*symbols: str, **more: object) -> dict[str, object]:
    return {"type": "enum", "name": "E", "symbols": list(symbols), **more}


def _fixed(size: int, **more: object) -> dict[str, object]:
    return {"type": "fixed", "name": "F", "size": size, **more}


_MONEY = {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}
_ITEM = record(field("sku"), name="Item")
_ITEM_MORE = record(field("sku"), field("count", "int"), name="Item")
_INNER = {**_ITEM, "namespace": "a"}
_INNER_ELSEWHERE = {**_ITEM, "namespace": "b"}

_CASES: dict[str, tuple[object, object, list[str]]] = {
    "a field more": (
        record(field("a")),
        record(field("a"), field("b", ["null", "string"], default=None)),
        ["+ b:  → [null, string] = null"],
    ),
    "a field less": (
        record(field("a"), field("b", "int", default=0)),
        record(field("a")),
        ["- b: int = 0 → "],
    ),
    "another name": (record(), record(name="Other"), ["~ Other: name Order → name Other"]),
    "another namespace": (
        record(),
        record(namespace="shop"),
        ["~ shop.Order: name Order → name shop.Order"],
    ),
    "fields in another order": (
        record(field("a"), field("b")),
        record(field("b"), field("a")),
        ["~ Order: a, b → b, a (fields in another order)"],
    ),
    "an alias in a record that has changed its name without one": (
        record(field("a", "int", default=0)),
        record(field("b", "int", default=0, aliases=["a"]), name="Other"),
        ["~ Other: name Order → name Other", "+ b:  → int = 0", "- a: int = 0 → "],
    ),
    "an alias in a record that has one itself": (
        record(field("a")),
        {**record(field("b", aliases=["a"]), name="Other"), "aliases": ["Order"]},
        [
            "~ Other: name Order → name Other",
            "~ Other:  → aliases only (Pulsar ignores this)",
            "~ b: name a → name b (renamed by its alias)",
        ],
    ),
    "a field renamed by its alias": (
        record(field("a", "int")),
        record(field("b", "int", aliases=["a"])),
        ["~ b: name a → name b (renamed by its alias)"],
    ),
    "a rename and a promotion at once": (
        record(field("a", "int")),
        record(field("b", "long", aliases=["a"])),
        [
            "~ b: name a → name b (renamed by its alias)",
            "~ b: int → long (promoted for readers)",
        ],
    ),
    "an alias of a field that stays is no rename": (
        record(field("a")),
        record(field("a"), field("b", aliases=["a"])),
        ["+ b:  → string"],
    ),
    "a promotion": (
        record(field("a", "int")),
        record(field("a", "double")),
        ["~ a: int → double (promoted for readers)"],
    ),
    "the other way is no promotion": (
        record(field("a", "double")),
        record(field("a", "int")),
        ["~ a: double → int"],
    ),
    "another kind": (
        record(field("a", "int")),
        record(field("a", {"type": "array", "items": "int"})),
        ["~ a: int → array<int>"],
    ),
    "a default given": (
        record(field("a")),
        record(field("a", default="")),
        ['~ a: default – → default = ""'],
    ),
    "a default taken away": (
        record(field("a", ["null", "int"], default=None)),
        record(field("a", ["null", "int"])),
        ["~ a: default = null → default –"],
    ),
    "a default of another number type": (
        record(field("a", "double", default=1)),
        record(field("a", "double", default=1.0)),
        ["~ a: default = 1 → default = 1.0"],
    ),
    "members of a default in another order": (
        record(field("a", {"type": "map", "values": "int"}, default={"x": 1, "y": 2})),
        record(field("a", {"type": "map", "values": "int"}, default={"y": 2, "x": 1})),
        [],
    ),
    "sort order": (
        record(field("a")),
        record(field("a", order="descending")),
        ["~ a: order ASCENDING → order DESCENDING"],
    ),
    "the sort order that holds anyway": (
        record(field("a")),
        record(field("a", order="ascending")),
        [],
    ),
    "docs and aliases": (
        record(field("a"), doc="one"),
        record(field("a", doc="x", aliases=["z"]), aliases=["Old"]),
        [
            f"~ Order:  → aliases only ({IGNORED})",
            f"~ Order:  → doc only ({IGNORED})",
            f"~ a:  → aliases only ({IGNORED})",
            f"~ a:  → doc only ({IGNORED})",
        ],
    ),
    "record or error": (record(), {**record(), "type": "error"}, []),
    "a nested record": (
        record(field("item", _ITEM)),
        record(field("item", _ITEM_MORE)),
        ["+ item.count:  → int"],
    ),
    "items of an array": (
        record(field("items", {"type": "array", "items": _ITEM})),
        record(field("items", {"type": "array", "items": _ITEM_MORE})),
        ["+ items[].count:  → int"],
    ),
    "values of a map": (
        record(field("by", {"type": "map", "values": "int"})),
        record(field("by", {"type": "map", "values": "long"})),
        ["~ by{}: int → long (promoted for readers)"],
    ),
    "an array of arrays at the top": (
        {"type": "array", "items": {"type": "array", "items": "int"}},
        {"type": "array", "items": {"type": "array", "items": "string"}},
        ["~ [][]: int → string"],
    ),
    "branches more and less": (
        record(field("a", ["null", "int"])),
        record(field("a", ["null", "string"])),
        ["~ a: [null, int] → [null, string] (+ string - int)"],
    ),
    "branches in another order": (
        record(field("a", ["null", "int"])),
        record(field("a", ["int", "null"])),
        ["~ a: [null, int] → [int, null] (other order)"],
    ),
    "inside a branch": (
        record(field("a", ["null", _ITEM])),
        record(field("a", ["null", _ITEM_MORE])),
        ["+ a.count:  → int"],
    ),
    "branches that differ in namespace only": (
        ["null", _INNER],
        ["null", _INNER_ELSEWHERE],
        ["~ : [null, Item] → [null, Item] (+ b.Item - a.Item)"],
    ),
    "symbols more and less": (
        record(field("e", _enum("A", "B"))),
        record(field("e", _enum("A", "C"))),
        ["+ e:  → symbol C", "- e: symbol B → "],
    ),
    "symbols in another order": (
        _enum("A", "B"),
        _enum("B", "A"),
        ["~ E: A, B → B, A (other order)"],
    ),
    "the default of an enum": (
        record(field("e", _enum("A", "B"))),
        record(field("e", _enum("A", "B", default="A"))),
        [f"~ e:  → enum default only ({IGNORED})"],
    ),
    "the size of a fixed": (_fixed(4), _fixed(8), ["~ : size 4 → size 8"]),
    "a logical type": (
        record(field("a", "bytes")),
        record(field("a", _MONEY)),
        [
            '~ a: logicalType – → logicalType "decimal"',
            "~ a: precision – → precision 10",
            "~ a: scale – → scale 2",
        ],
    ),
    "a logical type of another type is told whole": (
        record(field("a", _MONEY)),
        record(field("a", {"type": "long", "logicalType": "timestamp-millis"})),
        ["~ a: bytes (decimal 10,2) → long (timestamp-millis)"],
    ),
    "members that Avro does not know": (
        record(field("a", "int", unit="kg"), owner="x"),
        record(field("a", "int", unit="g"), owner={"team": ["y"]}),
        ['~ a: unit "kg" → unit "g"', '~ : owner "x" → owner {"team":["y"]}'],
    ),
    "members of a property in another order": (
        record(owner={"a": 1, "b": 2}),
        record(owner={"b": 2, "a": 1}),
        [],
    ),
    "recursion": (
        record(field("next", ["null", "Order"])),
        record(field("next", ["null", "Order"]), field("more", "int")),
        ["+ more:  → int"],
    ),
    "two records that contain each other": (
        record(field("b", record(field("a", ["null", "Order"]), name="B"))),
        record(field("b", record(field("a", ["null", "Order"]), field("x"), name="B"))),
        ["+ b.x:  → string"],
    ),
}


@pytest.mark.parametrize(("before", "after", "expected"), _CASES.values(), ids=_CASES)
def test_differences(before: object, after: object, expected: list[str]) -> None:
    assert _differences(before, after) == expected


@pytest.mark.parametrize(("before", "after", "_expected"), _CASES.values(), ids=_CASES)
def test_a_difference_is_seen_from_both_sides(
    before: object, after: object, _expected: list[str]
) -> None:
    there = [c for c in differences(_parsed(before), _parsed(after)) if not c.ignored]
    back = [c for c in differences(_parsed(after), _parsed(before)) if not c.ignored]

    assert bool(there) is bool(back)


@given(avro_definitions())
def test_a_schema_does_not_differ_from_itself(definition: object) -> None:
    assert _differences(definition, definition) == []
    # Two readings are distinct nodes.
    assert differences(_parsed(definition), parse(json.dumps(definition, indent=1))) == ()


@given(definition_pairs())
@example(
    (record(field("a", default={"x": 1, "y": 2})), record(field("a", default={"y": 2, "x": 1})))
)
@example(({"type": "int", "p": 1}, {"type": "int", "p": True}))
def test_what_the_diff_calls_a_change_is_what_the_broker_takes_for_another_schema(
    pair: tuple[object, object],
) -> None:
    try:
        before, after = _parsed(pair[0]), _parsed(pair[1])
    except AvroParseError:
        return  # a default that no parser takes: nothing to compare
    changes = differences(before, after)

    assert all(change.ignored for change in changes) is equal(before, after)


@pytest.mark.slow
@given(avro_definitions(), avro_definitions())
def test_two_schemas_drawn_apart_are_judged_as_the_broker_does(one: object, other: object) -> None:
    before, after = _parsed(one), _parsed(other)

    same = all(change.ignored for change in differences(before, after))

    assert same is equal(before, after)
