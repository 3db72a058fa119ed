"""Who upgrades first once the offered edits are made is who upgrades first after them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.command_line import captured
from tests.support.situations import SITUATIONS, build

if TYPE_CHECKING:
    from pathlib import Path

_WITH_EDIT = " (with the edit)"


@pytest.mark.parametrize("name", ["breaking", "mixed", "rename", "shared-type-bad"])
def test_what_is_said_with_the_edits_is_said_after_them(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (situation,) = (one for one in SITUATIONS if one.name == name)
    build(tmp_path / name, situation)
    monkeypatch.chdir(tmp_path / name)

    before = _comment()
    captured("check", "--base", "main", "--fix")
    after = _comment()

    promised = {topic: first for topic, first in _firsts(before) if first.endswith(_WITH_EDIT)}
    firsts = dict(_firsts(after))
    assert promised
    assert "refused" not in after
    for topic, first in promised.items():  # a change that is undone has no row
        assert first.removesuffix(_WITH_EDIT) == firsts.get(topic, "nobody")
    assert _steps(before) == _steps(after)


def _comment() -> str:
    return captured("check", "--base", "main", "--format", "markdown").out


def _firsts(comment: str) -> list[tuple[str, str]]:
    """Each topic of the table, and its last cell."""
    rows = [line.split(" | ") for line in comment.splitlines() if line.startswith("| `acme/")]
    return [(row[0].strip("|` "), row[-1].removesuffix(" |")) for row in rows if len(row) > 2]


def _steps(comment: str) -> list[str]:
    lines = comment.splitlines()
    return [line.removesuffix("<br>") for line in lines if line.startswith("- [ ] ")]
