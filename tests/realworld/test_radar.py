"""Consecutive versions of real schemas, decided as a Pulsar 4.0.7 broker decided them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.decisions import broker_answer, our_answer
from tests.support.shared_files import shared_file


def _lines(name: str) -> list[dict[str, Any]]:
    """Of a file that is no part of the project: the schemas belong to others."""
    text = shared_file(f"realworld/{name}").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


@pytest.mark.parametrize("name", ["radar.jsonl", "pulsar-unit-tests.jsonl"])
def test_real_schemas_are_decided_as_the_broker_decides(name: str) -> None:
    different = {
        case["id"]: (broker_answer(case, case["broker"]), our_answer(case))
        for case in _lines(name)
        if broker_answer(case, case["broker"]) != our_answer(case)
    }

    assert not different
