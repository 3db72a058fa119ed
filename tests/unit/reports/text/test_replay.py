"""A replay in a terminal."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Group

from gitops.model.findings import Location
from gitops.model.replay import FieldReplay, ReplayFailure
from gitops.reports.text.replay import replay_report, replay_section
from tests.support.consoles import shown
from tests.support.replays import CREATED, REPORT, reader

_GOLDEN = Path(__file__).parents[1] / "golden"


def _excerpt(where: Location) -> str | None:
    return "  - {format: avro, path: ../orders.avro}" if where.line == 8 else None


@pytest.mark.parametrize("width", [100, 50])
def test_everything_at_once(width: int) -> None:
    text = shown(replay_report(REPORT, _excerpt, seconds=1.25), width)
    golden = _GOLDEN / f"replay-{width}.txt"
    if os.environ.get("UPDATE_DOCS"):
        golden.write_text(text, "utf-8")
    assert text == golden.read_text("utf-8")
    assert max(map(len, text.split("\n"))) <= width


def test_below_a_check_the_findings_stand_elsewhere() -> None:
    text = shown(Group(*replay_section(REPORT)))
    assert "12   0.02 %" in text
    assert "REPLAY-R001" not in text


def test_long_lists_are_cut_and_say_so() -> None:
    failures = [ReplayFailure(path=f"p{n}", reason="bad", rows=1) for n in range(25)]
    fields = tuple(FieldReplay(path=f"f{n}", dropped=1) for n in range(45))
    many = reader(CREATED, 0, "proposed", 50, *failures, fields=fields)
    text = shown(replay_report(replace(REPORT, readers=(many,)), _excerpt, seconds=0))
    assert "… 5 more reasons; `--format json` has all" in text
    assert "… 5 more fields; `--format json` has all" in text


def test_a_message_that_is_one_value_has_a_name() -> None:
    one = reader(CREATED, 0, "proposed", 5, fields=(FieldReplay(path="", changed=1),))
    text = shown(replay_report(replace(REPORT, readers=(one,)), _excerpt, seconds=0))
    assert "  (message)   changed 1" in text


def test_nothing_acts_in_a_terminal() -> None:
    bad = ReplayFailure(path="\x1b[2J", reason="\n::error::x", rows=1)
    text = shown(
        replay_report(
            replace(REPORT, readers=(reader(CREATED, 0, "proposed", 5, bad),), registry="\x1b[31m"),
            _excerpt,
            seconds=0,
        )
    )
    assert "\x1b" not in text
    assert not any(line.lstrip().startswith("::") for line in text.split("\n"))
