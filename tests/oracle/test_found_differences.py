"""Disagreements that the random cases have found, with what the broker answers to them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from tests.oracle.oracle_lines import ORACLE_LINES
from tests.support.decisions import broker_answer, our_answer

_FOLDER: Final = Path(__file__).parent / "found"


@pytest.mark.parametrize("name", ORACLE_LINES)
def test_what_was_decided_otherwise_once_is_decided_as_the_broker_decides(name: str) -> None:
    lines = (_FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    cases: list[dict[str, Any]] = [json.loads(line) for line in lines]
    assert len({case["id"] for case in cases}) == len(cases)

    line = ORACLE_LINES[name].line
    different = {
        case["id"]: (broker_answer(case, case["broker"]), our_answer(case, line))
        for case in cases
        if broker_answer(case, case["broker"]) != our_answer(case, line)
    }

    assert not different
