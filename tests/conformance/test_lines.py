"""The same cases, decided by each broker line: recorded from the classes of its brokers."""

from __future__ import annotations

import json
import sys
from itertools import accumulate
from typing import Any, Final

import pytest

from gitops.broker.lines.line import BrokerLine
from gitops.broker.lines.pulsar_3_0 import PULSAR_3_0
from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.broker.lines.pulsar_4_2 import PULSAR_4_2
from gitops.broker.lines.pulsar_5_0 import PULSAR_5_0, PULSAR_5_0_M1
from gitops.broker.lines.table import with_legacy_json
from gitops.repository.documents.decision_cases import decide_lines
from tests.support.decisions import broker_answer, our_answer
from tests.support.shared_files import shared_file

_LINES: Final = {
    "3.0.7": (PULSAR_3_0, 1583),
    "4.0.7": (PULSAR_4_0, 1583),
    "4.2.4": (PULSAR_4_2, 1674),
    "4.2.4-legacy": (with_legacy_json(PULSAR_4_2), 673),
    "5.0.0-M1": (PULSAR_5_0_M1, 1674),
    "5.0.1": (PULSAR_5_0, 1760),
}


_DEEPEST: Final = 20_000 if sys.version_info < (3, 12) else 700
"""From 3.12 on Python bounds nested calls in C whatever its limit (3.12.1: 1,500): definitions that
nest deeper than this are refused there."""


def _nests_too_deep(case: dict[str, Any]) -> bool:
    steps = {"[": 1, "{": 1, "]": -1, "}": -1}
    texts = [entry.get("schema", "") for entry in (*case["existing"], case["candidate"]) if entry]
    return any(
        max(accumulate(steps.get(letter, 0) for letter in text), default=0) > _DEEPEST
        for text in texts
    )


def _cases(release: str) -> list[dict[str, Any]]:
    file = shared_file(f"conformance-lines/conformance-{release}.jsonl")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]


@pytest.mark.parametrize(("release", "line", "count"), [(k, *v) for k, v in _LINES.items()])
def test_every_case_is_decided_as_the_line_decides(
    release: str, line: BrokerLine, count: int
) -> None:
    cases = _cases(release)
    assert len(cases) == count

    different = {
        case["id"]: (broker_answer(case, case["broker"]), our_answer(case, line))
        for case in cases
        if not _nests_too_deep(case)
        and broker_answer(case, case["broker"]) != our_answer(case, line)
    }

    assert different == {}


def test_a_stream_decides_the_cases_of_the_switch_alike() -> None:
    cases = _cases("4.2.4-legacy")
    switch = {"broker": "4.2.4", "schemaJsonAllowLegacyJacksonFormat": True}

    verdicts = decide_lines(json.dumps({**case, **switch}) for case in cases)

    assert [json.loads(verdict)["accepted"] for verdict, _ in verdicts] == [
        case["broker"]["accepted"] for case in cases
    ]


@pytest.mark.skipif(_DEEPEST < 1000, reason="this Python cannot read the deepest definitions")
def test_lines_differ() -> None:
    """So that no line is only called otherwise."""
    by_line = {
        release: {case["id"].partition("/")[2]: our_answer(case, line) for case in _cases(release)}
        for release, (line, _) in _LINES.items()
    }

    old, new, next_one = by_line["4.0.7"], by_line["4.2.4"], by_line["5.0.0-M1"]
    assert sum(by_line["3.0.7"][name].accepted != old[name].accepted for name in old) == 66
    assert sum(new[name].accepted != old[name].accepted for name in old.keys() & new.keys()) > 400
    assert sum(new[name].accepted != next_one[name].accepted for name in new) == 112
