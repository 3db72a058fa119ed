"""Each text on the page of broker errors is a broker's: recorded, or compared in a test."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Final

import pytest

from tests.support.project_files import ROOT

_PAGE: Final = ROOT / "docs" / "reference" / "broker-errors.md"
_RECORDED: Final = ("generated.jsonl", "parsing.jsonl")
_COMPARED: Final = (
    # What `serve` answers is compared with a running broker's answers.
    *sorted((ROOT / "gitops" / "registries" / "server").glob("*.py")),
    *sorted((ROOT / "gitops" / "registries" / "embedded").glob("*.py")),
    ROOT / "gitops" / "broker" / "connection.py",
    ROOT / "tests" / "unit" / "registries" / "pulsar" / "test_error_responses.py",
)
_SPLIT: Final = re.compile(r'"\n\s*f?"')


def _texts() -> list[str]:
    rows = [line.split(" | ") for line in _PAGE.read_text("utf-8").splitlines()]
    cells = [row[1] for row in rows if len(row) == 3 and "what to do" not in row[2]]
    return [text for cell in cells for text in re.findall("`([^`]+)`", cell)]


@cache
def _answers() -> str:
    reasons = {
        json.loads(line)["broker"].get("reason") or ""
        for name in _RECORDED
        for line in (ROOT / "tests" / "conformance" / name).read_text("utf-8").splitlines()
    }
    sources = (_SPLIT.sub("", path.read_text("utf-8")) for path in _COMPARED)
    return "\n".join((*sorted(reasons), *sources))


@pytest.mark.parametrize("text", _texts())
def test_a_broker_gave_this_text(text: str) -> None:
    pattern = ".{0,400}?".join(re.escape(part) for part in text.rstrip("… ").split("…"))

    assert re.search(pattern, _answers(), re.DOTALL), text


def test_there_are_texts() -> None:
    assert len(_texts()) > 25
