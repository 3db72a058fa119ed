"""Every decision of a Pulsar 4.0.7 broker that the files here hold, decided here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.decisions import broker_answer, our_answer

_HERE: Final = Path(__file__).parent
_CASES: Final = {"generated": 6000, "parsing": 888}

# The descriptors inside a PROTOBUF_NATIVE envelope are not read yet: whether they link, and what
# the root message's full name is where the envelope leaves its package out.
_DESCRIPTORS: Final = (
    "00178 00571 00591 01144 01615 01738 01928 01970 02029 02229 03466 03516 03613 "
    "03667 03932 04006 04015 04072 04116 04439 04618 04795 05136 05572 05690 05696 "
    "05931 "
)

KNOWN_DIFFERENCES: Final = frozenset(f"gen-{number}" for number in _DESCRIPTORS.split())
"""Cases that are decided otherwise here; one more or one fewer fails the test."""


def _cases(name: str) -> list[dict[str, Any]]:
    text = (_HERE / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


@pytest.mark.parametrize("name", _CASES)
def test_every_case_is_decided_as_the_broker_decides(name: str) -> None:
    cases = _cases(name)
    assert len(cases) == _CASES[name]

    different = {
        case["id"]: (broker_answer(case, case["broker"]), our_answer(case))
        for case in cases
        if broker_answer(case, case["broker"]) != our_answer(case)
    }

    known = {case["id"] for case in cases} & KNOWN_DIFFERENCES
    assert different.keys() == known, {k: v for k, v in different.items() if k not in known}


def test_a_known_difference_is_a_case() -> None:
    assert {case["id"] for name in _CASES for case in _cases(name)} >= KNOWN_DIFFERENCES
