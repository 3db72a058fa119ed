"""Whatever two definitions look like, they are compared; what each rule says is in tests/cases."""

from __future__ import annotations

import base64
import json
from itertools import pairwise
from random import Random

import pytest

from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.model.decision import StoredSchema
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.schemas.payload import to_stored
from gitops.schemas.protobuf_native.review import remarks
from gitops.schemas.review import changes_of
from tests.oracle.protobuf_native_cases import Envelopes, Pair, encode
from tests.support.protos import native, order

_OLD = order("string id = 1; string note = 2;")
_NEW = order("string id = 1;")


def _rules(old: SchemaInfo, new: SchemaInfo, *, forward: bool = False) -> list[str]:
    found = remarks(old.schema.encode(), new.schema.encode(), forward=forward)
    return [remark.rule for remark in found]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_any_two_definitions_are_compared(seed: int) -> None:
    envelopes = Envelopes(Random(seed))  # noqa: S311 - no secret
    datas = [envelopes.text().encode("utf-8", "surrogatepass") for _ in range(30)]

    for old, new in pairwise(datas):
        assert all(one.path for one in remarks(old, new, forward=True))
        spaced = b" " + old
        assert remarks(old, spaced, forward=True) == ()


@pytest.mark.parametrize(
    "other",
    [
        b"",
        b"{}",
        b"\xff",
        _OLD.schema.replace("shop.Order", "shop.Gone").encode(),
        _OLD.schema.replace("order.proto", "gone.proto").encode(),
    ],
)
def test_nothing_is_said_about_data_that_the_broker_refuses(other: bytes) -> None:
    good = _OLD.schema.encode()

    assert remarks(good, other, forward=True) == ()
    assert remarks(other, good, forward=True) == ()


@pytest.mark.slow
@pytest.mark.parametrize("count", [3_000])
def test_messages_may_lead_from_one_to_the_next_without_end(count: int) -> None:
    found = remarks(_chain(count, last=9), _chain(count, last=5), forward=False)

    assert [remark.rule for remark in found] == ["PROTO-W004"]
    assert len(found[0].path) < 1_000


def _chain(count: int, last: int) -> bytes:
    """M0 has a field of M1, and so on; the last one has a field of the type `last`."""
    messages: list[Pair] = []
    for index in range(count):
        end = index == count - 1
        kind: list[Pair] = [(5, last)] if end else [(5, 11), (6, f".M{index + 1}".encode())]
        field: list[Pair] = [(1, b"f"), (3, 1), (4, 1), *kind]
        messages.append((4, [(1, f"M{index}".encode()), (2, field)]))
    data = encode([(1, [(1, b"a.proto"), *messages])])
    names = {"rootMessageTypeName": "M0", "rootFileDescriptorName": "a.proto"}
    return json.dumps({"fileDescriptorSet": base64.b64encode(data).decode(), **names}).encode()


def test_a_message_of_another_file_is_compared_under_whatever_name() -> None:
    def files(package: str, kind: str) -> dict[str, str]:
        order = f'import "money.proto"; message Order {{ repeated {package}.Money prices = 1; }}'
        return {
            "order.proto": f'syntax = "proto3"; package shop; {order}',
            "money.proto": f'syntax = "proto3"; package {package};'
            f" message Money {{ {kind} n = 1; }}",
        }

    def schema(package: str, kind: str) -> SchemaInfo:
        return native(files(package, kind), "order.proto", "shop.Order")

    moved = remarks(
        schema("a", "int64").schema.encode(), schema("b", "string").schema.encode(), forward=False
    )

    assert _rules(schema("a", "int64"), schema("b", "int64"), forward=True) == []
    assert [(one.rule, one.path, one.pointer) for one in moved] == [
        ("PROTO-W004", "prices[].n", "/b.Money/n")
    ]


def test_a_type_is_told_once_however_often_it_is_used() -> None:
    more = "enum Status {{ NEW = 0; {} }} message Item {{ {} }}"
    body = "Status a = 1; Status b = 2; Item c = 3; repeated Item d = 4; map<string, Item> e = 5;"

    old = order(body, more=more.format("PAID = 1;", "int32 n = 1;"))
    new = order(body, more=more.format("", ""))

    assert sorted(_rules(old, new)) == ["PROTO-W001", "PROTO-W009"]


@pytest.mark.parametrize("strategy", ["BACKWARD", "FORWARD"])
def test_the_strategy_says_which_consumers_count(strategy: str) -> None:
    old, new = (
        StoredSchema(type=SchemaType.PROTOBUF_NATIVE, data=one.schema.encode())
        for one in (order("int32 n = 1;"), order("int64 n = 1;"))
    )

    found = changes_of(PULSAR_4_0.types, old, new, SchemaCompatibilityStrategy(strategy))

    assert len(found) == (strategy == "FORWARD")


def test_a_half_of_a_pair_is_compared() -> None:
    old, new = (to_stored(_pair(value)) for value in (_OLD, _NEW))

    found = changes_of(PULSAR_4_0.types, old, new, SchemaCompatibilityStrategy.FULL)

    assert [(one.rule, one.path, one.pointer) for one in found] == [
        ("PROTO-W001", "value.note", "/value/shop.Order")
    ]


def _pair(value: SchemaInfo) -> SchemaInfo:
    types = {"key.schema.type": "STRING", "value.schema.type": value.type.value}
    text = json.dumps({"key": "", "value": json.loads(value.schema)})
    return SchemaInfo(type=SchemaType.KEY_VALUE, schema=text, properties=types)
