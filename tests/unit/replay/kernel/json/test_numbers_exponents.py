"""Numbers with long exponents: whatever stands beside them, they are read as they are alone."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pyarrow
import pytest

from gitops.replay.kernel.json.kernel import FEW, JsonKernel
from gitops.replay.kernel.json.numbers import rows_with_long_exponents
from gitops.replay.kernel.json.rows import read
from gitops.replay.kernel.json.schema_pair import pair
from gitops.replay.kernel.payload_column import column
from gitops.replay.kernel.protocol import READ, Unreadable
from gitops.schemas.avro.parser import AVRO_1_11

parse = AVRO_1_11.parse

_BEYOND = "9" * 20
_TYPES: tuple[Any, ...] = (
    "double",
    "float",
    ["null", "double"],
    {"type": "long", "logicalType": "timestamp-millis"},
    {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
    {"type": "string", "java-class": "java.math.BigDecimal"},
)


def _is_read(plan: Any, payload: bytes) -> bool:  # noqa: ANN401 - a Node
    try:
        read(plan, payload)
    except Unreadable:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("few", [1, FEW])
@pytest.mark.parametrize("kind", _TYPES, ids=json.dumps)
def test_a_row_is_read_alike_whatever_stands_beside_it(kind: Any, few: int) -> None:  # noqa: ANN401
    definition = {"type": "record", "name": "R", "fields": [{"name": "t", "type": kind}]}
    schema = parse(json.dumps(definition))
    plan = pair(schema, schema)
    neighbour = b'{"t":1.5,"zz":1}'  # which nobody is sure of
    for number, sign, size in product(
        ("0", "0.0", "-0", "1"), ("", "+", "-"), ("2147483647", "2147483648", "9" * 10, _BEYOND)
    ):
        payload = f'{{"t":{number}e{sign}{size}}}'.encode()
        for rows in ([payload], [payload, neighbour], [neighbour] * FEW + [payload]):
            walk = JsonKernel(plan, few=few).walk(pyarrow.array(rows, pyarrow.binary()))
            found = [verdict == READ for verdict in walk.verdicts.tolist()]
            assert found == [_is_read(plan, row) for row in rows], payload


@pytest.mark.parametrize("number", ["0e-9999999999", f"1e-{_BEYOND}", f"0E+{_BEYOND}"])
def test_a_double_is_what_java_makes_of_it(number: str) -> None:
    schema = parse('{"type": "record", "name": "R", "fields": [{"name": "t", "type": "double"}]}')
    assert read(pair(schema, schema), f'{{"t":{number}}}'.encode())[0] == {"t": 0.0}


def test_which_rows_are_doubted() -> None:
    rows = [b'{"a":1e12345678}', b'{"a":1e123456789}', b'"1", "e123456789"', b"2E-000000001 e", b""]
    assert rows_with_long_exponents(column(pyarrow.array(rows, pyarrow.binary()))).tolist() == [
        1,
        3,
    ]
    assert rows_with_long_exponents(column(pyarrow.array([], pyarrow.binary()))).size == 0
    cut = [b"1e12345", b"6789"]
    assert rows_with_long_exponents(column(pyarrow.array(cut, pyarrow.binary()))).tolist() == [0]
