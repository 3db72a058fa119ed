"""Every kind of difference between two PROTOBUF_NATIVE definitions."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from random import Random

import pytest

from gitops.model.plan import SchemaChange
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.schemas.diff import schema_changes
from gitops.schemas.protobuf_native.diff import differences
from gitops.schemas.protobuf_native.errors import InvalidEnvelopeError
from tests.oracle.protobuf_native_cases import Envelopes
from tests.support.protos import native, order

_NOTE = "no message or enum differs, and yet it is a new version to Pulsar"
_STATUS = "enum Status {{ NEW = 0; {} }}"
_ITEM = "message Item {{ {} }}"


def _shown(change: SchemaChange) -> str:
    arrow = " → " if change.before and change.after else ""
    note = f" ({change.note})" if change.note else ""
    return f"{change.kind.value} {change.path}: {change.before}{arrow}{change.after}{note}"


def _differences(before: SchemaInfo, after: SchemaInfo) -> list[str]:
    return [_shown(change) for change in schema_changes(before, after)]


def _order(body: str, *, syntax: str = "proto3", more: str = "") -> Callable[[], SchemaInfo]:
    """Compiled only once a test asks for it."""
    return lambda: order(body, syntax=syntax, more=more)


_CASES: dict[str, tuple[Callable[[], SchemaInfo], Callable[[], SchemaInfo], list[str]]] = {
    "a field more and a field less": (
        _order("string note = 2;"),
        _order("string coupon = 7; repeated int32 counts = 8;"),
        ["+ coupon: string = 7", "+ counts: repeated int32 = 8", "- note: string = 2"],
    ),
    "another type": (
        _order("int32 quantity = 1;"),
        _order("int64 quantity = 1;"),
        ["~ quantity: int32 → int64"],
    ),
    "another number": (
        _order("int32 quantity = 1;"),
        _order("int32 quantity = 2;"),
        ["~ quantity: number 1 → number 2"],
    ),
    "another name": (
        _order("int32 qty = 1;"),
        _order("int32 quantity = 1;"),
        ["~ quantity: name qty → name quantity"],
    ),
    "another label": (
        _order("string note = 1; string tag = 2;"),
        _order("repeated string note = 1; optional string tag = 2;"),
        [
            "~ note: string → repeated string",
            "~ tag: presence implicit → presence explicit",
        ],
    ),
    "another default": (
        _order("optional int32 n = 1;", syntax="proto2"),
        _order("optional int32 n = 1 [default = 5];", syntax="proto2"),
        ["~ n: default – → default 5"],
    ),
    "not packed": (
        _order("repeated int32 n = 1;"),
        _order("repeated int32 n = 1 [packed = false];"),
        ["~ n: packed → not packed (readers accept both)"],
    ),
    "into a oneof": (
        _order("string card = 1;"),
        _order("oneof payment { string card = 1; }"),
        ["~ card: oneof – → oneof payment"],
    ),
    "reserved": (
        _order(""),
        _order('reserved 2, 4 to 6; reserved "note";'),
        ['~ shop.Order: reserved – → reserved 2, 4 to 6, "note"'],
    ),
    "values of an enum": (
        _order("Status status = 1;", more=_STATUS.format("PAID = 1; SENT = 2; GONE = 3;")),
        _order("Status status = 1;", more=_STATUS.format("PAYED = 1; SENT = 4; OPEN = 5;")),
        [
            "~ status: value PAID = 1 → value PAYED = 1 (renamed)",
            "~ status: SENT 2 → SENT 4",
            "+ status: value OPEN = 5",
            "- status: value GONE = 3",
        ],
    ),
    "inside a map and a list": (
        _order("map<string, Item> a = 1;", more=_ITEM.format("repeated Item b = 1; int32 n = 2;")),
        _order("map<string, Item> a = 1;", more=_ITEM.format("repeated Item b = 1; bool n = 2;")),
        ["~ a{}.n: int32 → bool"],
    ),
    "another map": (
        _order("map<string, int32> a = 1;"),
        _order("map<string, int64> a = 1;"),
        ["~ a: map<string, int32> → map<string, int64>", "~ a{}: int32 → int64"],
    ),
    "another message": (
        _order("Item item = 1;", more="message Item { int32 n = 1; }"),
        _order("Box item = 1;", more="message Box { int32 n = 1; }"),
        ["~ item: Item → Box"],
    ),
    "messages and enums that the root does not lead to": (
        _order("", more="message A { int32 n = 1; } message Gone {} enum C { NONE = 0; }"),
        _order("", more="message A { bool n = 1; } message B {} enum C { NONE = 0; ONE = 1; }"),
        [
            "~ shop.A.n: int32 → bool",
            "+ shop.C: value ONE = 1",
            "+ shop.B: message",
            "- shop.Gone: message",
        ],
    ),
    "another syntax": (
        _order("optional Status s = 1;", syntax="proto2", more=_STATUS.format("")),
        _order("optional Status s = 1;", more=_STATUS.format("")),
        ["~ syntax: proto2 → proto3", "~ s: enum closed → enum open"],
    ),
    "comments and order alone": (
        _order("int32 a = 1; int32 b = 2;"),
        _order("int32 b = 2; /* of it */ int32 a = 1;"),
        [
            f"~ definition: layout only ({_NOTE})",
        ],
    ),
}


@pytest.mark.parametrize("name", _CASES)
def test_a_difference_is_said_as_a_person_would(name: str) -> None:
    before, after = (body() for body in _CASES[name][:2])
    expected = _CASES[name][2]

    assert _differences(before, after) == expected
    assert not any(change.ignored for change in schema_changes(before, after))
    assert _differences(after, after) == []


def test_another_root_and_other_files() -> None:
    def files(package: str, *imports: str) -> dict[str, str]:
        used = "".join(f'import "{name}";' for name in imports)
        own = f'syntax = "proto3"; package {package}; {used} message A {{}} message B {{}}'
        empty = dict.fromkeys(("x.proto", "y.proto"), 'syntax = "proto3";')
        return {"old.proto": own, "new.proto": own, **empty}

    before = native({**files("a", "x.proto")}, "old.proto", "a.A")
    after = native({**files("b", "y.proto")}, "new.proto", "b.B")

    assert _differences(before, after)[:5] == [
        "~ root message: a.A → b.B",
        "~ file: old.proto → new.proto",
        "~ package: a → b",
        "+ import: y.proto",
        "- import: x.proto",
    ]


def test_definitions_that_the_broker_refuses_are_not_compared_part_by_part() -> None:
    broken = SchemaInfo(type=SchemaType.PROTOBUF_NATIVE, schema="{}")

    assert [change.path for change in schema_changes(broken, order(""))] == ["definition"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_any_two_definitions_are_compared(seed: int) -> None:
    envelopes = Envelopes(Random(seed))  # noqa: S311 - no secret
    datas = [envelopes.text().encode("utf-8", "surrogatepass") for _ in range(30)]

    for before, after in pairwise(datas):
        try:
            found = differences(before, after)
        except InvalidEnvelopeError:
            continue
        assert bool(found) == (before != after)
        assert differences(after, after) == ()
