"""What a definition says once every type is found and every default rule is applied."""

from __future__ import annotations

from random import Random

import pytest

from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.broker.lines.pulsar_5_0 import PULSAR_5_0
from gitops.model.schema import SchemaInfo
from gitops.schemas.protobuf_native.descriptors import DescriptorRules, Label, Type
from gitops.schemas.protobuf_native.errors import InvalidEnvelopeError
from gitops.schemas.protobuf_native.parser import resolve
from gitops.schemas.protobuf_native.root_message import root_message
from gitops.schemas.protobuf_native.schema import Field, Schema
from tests.oracle.protobuf_native_cases import Envelopes
from tests.support.protos import native, order

_RULES = (PULSAR_4_0.rules.descriptors, PULSAR_5_0.rules.descriptors)
_ITEM = "message Item { int32 n = 1; }"


def _resolved(info: SchemaInfo) -> Schema:
    return resolve(info.schema.encode())


def _field(body: str, syntax: str, more: str = "") -> Field:
    return _resolved(order(body, syntax=syntax, more=more)).root.fields[0]


@pytest.mark.parametrize(
    ("body", "syntax", "presence"),
    [
        ("int32 a = 1;", "proto3", False),
        ("optional int32 a = 1;", "proto3", True),
        ("oneof o { int32 a = 1; }", "proto3", True),
        ("Order a = 1;", "proto3", True),
        ("repeated int32 a = 1;", "proto3", False),
        ("optional int32 a = 1;", "proto2", True),
        ("int32 a = 1;", "2023", True),
        ("int32 a = 1 [features.field_presence = IMPLICIT];", "2023", False),
    ],
)
def test_whether_unset_is_told_from_zero(body: str, syntax: str, *, presence: bool) -> None:
    assert _field(body, syntax).presence is presence


@pytest.mark.parametrize(
    ("body", "syntax", "packed"),
    [
        ("repeated int32 a = 1;", "proto3", True),
        ("repeated int32 a = 1 [packed = false];", "proto3", False),
        ("repeated string a = 1;", "proto3", False),
        ("int32 a = 1;", "proto3", False),
        ("repeated int32 a = 1;", "proto2", False),
        ("repeated int32 a = 1 [packed = true];", "proto2", True),
        ("repeated int32 a = 1;", "2023", True),
        ("repeated int32 a = 1 [features.repeated_field_encoding = EXPANDED];", "2023", False),
    ],
)
def test_whether_numbers_are_packed(body: str, syntax: str, *, packed: bool) -> None:
    assert _field(body, syntax).packed is packed


@pytest.mark.parametrize(
    ("syntax", "option", "closed"),
    [
        ("proto2", "", True),
        ("proto3", "", False),
        ("2023", "", False),
        ("2023", "option features.enum_type = CLOSED;", True),
    ],
)
def test_whether_an_enum_is_closed(syntax: str, option: str, *, closed: bool) -> None:
    found = _resolved(order("", syntax=syntax, more=f"enum E {{ {option} NONE = 0; }}"))

    assert [enum.closed for enum in found.enums] == [closed]


def test_an_edition_says_required_and_group_by_features() -> None:
    required = _field("int32 a = 1 [features.field_presence = LEGACY_REQUIRED];", "2023")
    group = _field("Item a = 1 [features.message_encoding = DELIMITED];", "2023", _ITEM)

    assert required.label is Label.REQUIRED
    assert group.type is Type.GROUP


def test_only_a_real_oneof_counts() -> None:
    root = _resolved(order("optional int32 a = 1; oneof o { int32 b = 2; }")).root

    assert [field.oneof for field in root.fields] == [None, 0]
    assert root.oneofs[0] == "o"


def test_types_are_found_in_nested_messages_and_in_other_files() -> None:
    files = {
        "a/order.proto": 'syntax = "proto3"; package shop; import "common/money.proto";'
        " message Order { message Line { common.Money price = 1; } map<string, Line> lines = 1; }",
        "common/money.proto": 'syntax = "proto3"; package common; message Money { int64 n = 1; }',
    }

    found = _resolved(native(files, "a/order.proto", "shop.Order"))

    entry = found.root.fields[0].entry
    assert entry is not None
    line = entry.fields[1].message
    assert line is not None
    assert line.fields[0].message is found.messages[0]
    assert line.fields[0].pointer == "/shop.Order.Line/price"
    assert [file.name for file in found.files] == ["common/money.proto", "order.proto"]


def test_an_extension_is_a_field_of_the_message_that_it_extends() -> None:
    body = "extensions 100 to 200; optional int32 a = 1; extend Order { optional int32 b = 101; }"
    more = "extend Order { optional int32 c = 100; }"

    root = _resolved(order(body, syntax="proto2", more=more)).root

    assert [field.name for field in root.fields] == ["a", "[shop.c]", "[shop.Order.b]"]
    assert root.fields[1].pointer == "/shop.c"


def test_what_is_reserved() -> None:
    more = "enum E { NONE = 0; reserved 7 to 9, 12; }"

    found = _resolved(order('reserved 2, 4 to 6; reserved "note";'))
    enum = _resolved(order("", more=more)).enums[0]

    assert [n for n in range(14) if found.root.reserved.has(n)] == [2, 4, 5, 6]
    assert found.root.reserved.names == {"note"}
    assert [n for n in range(14) if enum.reserved.has(n)] == [7, 8, 9, 12]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_every_envelope_that_a_broker_accepts_is_resolved(seed: int) -> None:
    envelopes = Envelopes(Random(seed))  # noqa: S311 - no secret
    for _ in range(60):
        data = envelopes.text().encode("utf-8", "surrogatepass")
        envelopes.renew()

        accepted = {root for rules in _RULES if (root := _root(data, rules))}
        assert not accepted or resolve(data).root.full_name in accepted


def _root(data: bytes, rules: DescriptorRules) -> str | None:
    try:
        return root_message(data, rules)
    except InvalidEnvelopeError:
        return None
