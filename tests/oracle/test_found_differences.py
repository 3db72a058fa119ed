"""Disagreements that the random cases have found, with what the broker answers to them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.decisions import broker_answer, our_answer

_FILE = Path(__file__).parent / "found.jsonl"


def test_what_was_decided_otherwise_once_is_decided_as_the_broker_decides() -> None:
    lines = _FILE.read_text(encoding="utf-8").splitlines()
    cases: list[dict[str, Any]] = [json.loads(line) for line in lines]
    assert len({case["id"] for case in cases}) == len(cases)

    different = {
        case["id"]: (broker_answer(case, case["broker"]), our_answer(case))
        for case in cases
        if broker_answer(case, case["broker"]) != our_answer(case)
    }

    assert not different
