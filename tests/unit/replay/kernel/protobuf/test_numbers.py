"""The numbers of Protobuf messages, against what the protobuf library reads."""

from __future__ import annotations

from collections import defaultdict
from random import Random
from typing import Any

import pyarrow
import pytest
from google.protobuf.message import Message
from numpy.typing import NDArray

from gitops.replay.kernel.protocol import NumberReader
from gitops.replay.kernel.schema_types import kernel_for
from tests.support.proto_rows import fill, message_class
from tests.support.protos import order

FIELDS = """int32 a = 1; sint64 b = 2; uint64 c = 3; fixed32 d = 4; double e = 5; bool f = 6;
    repeated int32 g = 7; map<int32, float> h = 8; Inner i = 9; optional int32 j = 10;
    Color k = 11; message Inner { sfixed64 x = 1; } enum Color { RED = 0; GREEN = 1; }"""

_ORDER: type[Message] = message_class(order(FIELDS))


def _numbers(writer: str, reader: str, messages: list[bytes]) -> dict[tuple[str, str], list[Any]]:
    kernel = kernel_for(order(writer), order(reader))
    assert isinstance(kernel, NumberReader)
    found: dict[tuple[str, str], list[Any]] = defaultdict(list)

    def add(path: str, unit: str, numbers: NDArray[Any]) -> None:
        found[path, unit] += numbers.tolist()

    kernel.numbers(pyarrow.array(messages, pyarrow.binary()), add)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_they_are_what_the_library_reads(seed: int) -> None:
    chance = Random(seed)  # noqa: S311
    messages: list[Any] = [fill(_ORDER(), chance) for _ in range(20)]

    found = _numbers(FIELDS, FIELDS, [one.SerializeToString() for one in messages])

    assert _as_text(found) == _as_text(_expected(messages))


def _as_text(found: dict[tuple[str, str], list[Any]]) -> dict[tuple[str, str], list[str]]:
    """A map has no order, and NaN is not equal to itself."""
    return {at: sorted(str(float(one)) for one in its) for at, its in found.items() if its}


def _expected(messages: list[Any]) -> dict[tuple[str, str], list[Any]]:
    inner = [one.i for one in messages if one.HasField("i")]
    wholes: dict[str, list[Any]] = {name: [getattr(m, name) for m in messages] for name in "abcd"}
    wholes["g[]"] = [each for one in messages for each in one.g]
    wholes["i.x"] = [one.x for one in inner]
    wholes["j"] = [one.j for one in messages if one.HasField("j")]
    reals = {
        "e": [one.e for one in messages],
        "h{}": [each for one in messages for each in one.h.values()],
    }
    units = [("integer", wholes), ("number", reals)]
    return {(path, unit): its for unit, found in units for path, its in found.items()}


def test_what_the_reader_fills_in_is_none_of_them() -> None:
    made: type[Message] = message_class(order("int32 a = 1;"))
    zero, set_one = made(), made(a=3)
    messages = [zero.SerializeToString(), set_one.SerializeToString()]

    assert _numbers("int32 a = 1;", "int64 a = 1; int32 b = 2;", messages) == {
        ("a", "integer"): [0, 3]
    }


def test_a_number_beyond_a_long_is_one() -> None:
    made: type[Message] = message_class(order("uint64 a = 1;"))
    (numbers,) = _numbers(
        "uint64 a = 1;", "uint64 a = 1;", [made(a=2**63).SerializeToString()]
    ).values()

    assert numbers == [2.0**63]
