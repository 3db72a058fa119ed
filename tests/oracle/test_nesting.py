"""Which cases are left to a JVM's stack: only those that nest far down."""

from __future__ import annotations

import pytest

from tests.oracle.nesting import is_up_to_the_stack
from tests.oracle.over_rest import is_for_rest


def _case(schema: str | None, *existing: str) -> dict[str, object]:
    history = [{"type": "AVRO", "schema": each} for each in existing]
    return {"existing": history, "candidate": {"type": "AVRO", "schema": schema}}


@pytest.mark.parametrize("schema", ["[" * 401 + "]" * 401, '{"items":' * 401 + "}" * 401])
def test_deep_definitions_are_left_to_the_stack_wherever_they_stand(schema: str) -> None:
    for case in (_case(schema), _case('"int"', schema)):
        assert is_up_to_the_stack(case)
        assert not is_for_rest(case)


@pytest.mark.parametrize("schema", [None, "", "[" * 400 + "]" * 400, "[{}]," * 2000])
def test_long_definitions_and_missing_ones_are_cases(schema: str | None) -> None:
    case = _case(schema, '"int"')

    assert not is_up_to_the_stack(case)
    assert is_for_rest(case)
