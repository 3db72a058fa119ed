"""Where messages, fields and values stand in `.proto` files."""

from __future__ import annotations

import pytest

from gitops.repository.definitions.proto_positions import ProtoPositions
from gitops.repository.definitions.protoc import Protoc
from tests.support.protos import sources

pytestmark = pytest.mark.slow


_ORDER = """\
syntax = "proto2";
package shop;
import "common/money.proto";

message Order {
  optional string id = 1; /* é */ optional int32 quantity = 2;
\toptional common.Money price = 3;
  map<string, Line> lines = 4;
  message Line {
    optional group Part = 1 {
      optional string sku = 1;
    }
  }
  enum Status {
    NEW = 0;
    PAID = 1;
  }
  extensions 100 to 200;
}
extend Order { optional string note = 100; }
"""
_MONEY = 'syntax = "proto3";\r\npackage common;\r\nmessage Money {\r\n  int64 amount = 1;\r\n}\r\n'
_FILES = {"a/order.proto": _ORDER, "common/money.proto": _MONEY}


@pytest.mark.parametrize(
    ("pointer", "place", "length"),
    [
        ("/shop.Order", "a/order.proto:5:9", 5),
        ("/shop.Order/id", "a/order.proto:6:19", 2),
        ("/shop.Order/quantity", "a/order.proto:6:50", 8),
        ("/shop.Order/price", "a/order.proto:7:24", 5),
        ("/shop.Order/lines", "a/order.proto:8:21", 5),
        ("/shop.Order.Line.Part/sku", "a/order.proto:11:23", 3),
        ("/shop.Order.Status", "a/order.proto:14:8", 6),
        ("/shop.Order.Status/PAID", "a/order.proto:16:5", 4),
        ("/shop.note", "a/order.proto:20:32", 4),
        ("/common.Money/amount", "common/money.proto:4:9", 6),
        ("/common.Money", "common/money.proto:3:9", 5),
        ("/shop.Order/gone", "a/order.proto:5:9", 5),
        ("/shop.Order.LinesEntry/value", "a/order.proto:5:9", 5),
        ("/elsewhere.Gone/a", "a/order.proto:1:1", 1),
        ("", "a/order.proto:1:1", 1),
    ],
)
def test_a_place_is_found_or_what_is_around_it(pointer: str, place: str, length: int) -> None:
    found = ProtoPositions(sources(_FILES), "a/order.proto").at_pointer(pointer)

    assert str(found) == place
    assert found.length == length
    assert found.pointer == pointer


def test_a_mark_of_byte_order_does_not_count() -> None:
    text = b"\xef\xbb\xbfmessage A { optional int32 n = 1; }"

    found = ProtoPositions(sources({"a.proto": text}), "a.proto").at_pointer("/A/n")

    assert str(found) == "a.proto:1:28"


@pytest.mark.parametrize("text", ["message A {", "", b"\xff\xfe"])
def test_a_file_that_does_not_compile_is_found_at_its_start(text: str | bytes) -> None:
    places = ProtoPositions(sources({"a.proto": text}), "a.proto")

    assert str(places.at_pointer("/A/n")) == "a.proto:1:1"


def test_a_message_that_comes_with_protoc_is_found_at_the_file() -> None:
    text = 'syntax = "proto3"; import "google/protobuf/any.proto"; message A {}'

    found = ProtoPositions(sources({"a.proto": text}), "a.proto").at_pointer(
        "/google.protobuf.Any/value"
    )

    assert str(found) == "a.proto:1:1"


def test_what_goes_to_a_registry_says_nothing_of_places() -> None:
    protoc = Protoc(sources(_FILES))
    before = protoc.compile("a/order.proto")
    with_places = protoc.compile("a/order.proto", source_info=True)
    after = protoc.compile("a/order.proto")
    protoc.close()

    assert before == after
    assert sum(map(len, with_places.files)) > sum(map(len, after.files))
