"""Every decision of a Pulsar 4.0.7 broker that the files here hold, decided here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from tests.support.decisions import broker_answer, our_answer

_HERE: Final = Path(__file__).parent
_CASES: Final = {"generated": 6000, "parsing": 888}
_RECORDED_WRONG: Final = frozenset(("gen-03405", "gen-03927", "gen-04677"))
"""Consumers with an invalid definition on an idle topic. The file has them refused, as the
validator refuses them; a running 4.0.7 drops that and lets them in (see test_lines.py)."""


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

    assert {name: each for name, each in different.items() if name not in _RECORDED_WRONG} == {}
    assert all(ours.accepted and ours.version is None for _, ours in different.values())
