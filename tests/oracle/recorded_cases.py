"""Recorded cases, to be changed: what people and other generators have thought of.

Those beside the checkout are not part of the project and are used where they are found.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

from tests.support.shared_files import SHARED_FOLDER

_TESTS: Final = Path(__file__).parents[1]
_BESIDE: Final = SHARED_FOLDER / "realworld"
_FILES: Final = (
    _TESTS / "conformance" / "generated.jsonl",
    _TESTS / "conformance" / "parsing.jsonl",
    _BESIDE / "pulsar-unit-tests.jsonl",
)
_HISTORIES: Final = _BESIDE / "radar-histories.json"


@cache
def recorded_cases() -> tuple[dict[str, Any], ...]:
    """Every recorded case, and each step of a real history as one; without the answers."""
    cases = [
        {"existing": case["existing"], "candidate": case["candidate"]}
        for path in _FILES
        if path.is_file()
        for line in path.read_text(encoding="utf-8").split("\n")
        if line and (case := json.loads(line))
    ]
    return (*cases, *_real_steps())


def _real_steps() -> list[dict[str, Any]]:
    if not _HISTORIES.is_file():
        return []
    histories = json.loads(_HISTORIES.read_text(encoding="utf-8")).values()
    return [
        {"existing": [*map(_avro, texts[:at])], "candidate": _avro(texts[at])}
        for texts in histories
        for at in range(len(texts))
    ]


def _avro(text: str) -> dict[str, Any]:
    return {"type": "AVRO", "schema": text, "properties": {}}
