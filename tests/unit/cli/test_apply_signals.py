"""Wherever a signal comes while a plan is carried out, what was done is in the report."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest

from gitops import interrupts
from gitops.cli import console
from gitops.cli import plan_execution as apply_command
from gitops.cli.answer import Display
from gitops.model.errors import InterruptedApplyError
from gitops.reports.json import documents
from gitops.usecases import apply
from tests.support.fake_registry import FakeRegistry
from tests.support.interrupts import ctrl_c_as_ever
from tests.support.plans import EVERYTHING

_STRIDE: Final = int(os.environ.get("SIGNAL_STRIDE", "11"))
"""Only each so many steps of the program is tried; 1 tries all, which takes minutes."""
_FILES: Final = frozenset(
    str(module.__file__) for module in (apply, console, apply_command, interrupts, documents)
)
"""Where signals come: in the steps of an apply and of its report."""
_PLAN: Final = replace(EVERYTHING, actions=EVERYTHING.actions[3:6], observed={}, expected={})

Trace = Callable[[FrameType, str, Any], Any]


@contextmanager
def _pressed(chosen: Callable[[int], bool]) -> Iterator[list[int]]:
    """Ctrl-C at the chosen bytecodes of those files; answers how many there were, at the end."""
    count = [0]

    def step(frame: FrameType, event: str, _argument: object) -> Trace | None:
        if frame.f_code.co_filename not in _FILES:
            return None
        frame.f_trace_opcodes = True
        if event in ("line", "opcode"):
            count[0] += 1
            if chosen(count[0]):
                signal.raise_signal(signal.SIGINT)
        return step

    before = sys.gettrace()
    sys.settrace(step)
    try:
        yield count
    finally:
        sys.settrace(before)


def _carry_out(registry: FakeRegistry, output: Path) -> str:
    """How it ended."""
    run = apply_command.Execution(plan=_PLAN, digest="sha256:" + "0" * 64)
    display = Display(output_format="json", output=output)
    try:
        apply_command.carry_out(run, registry, display)
    except InterruptedApplyError:
        return "stopped"
    except KeyboardInterrupt:
        return "cut"
    return "finished"


def _check(registry: FakeRegistry, output: Path, ended: str) -> None:
    if not registry.calls and ended == "cut":
        return  # before anything was done
    outcomes = [one["outcome"] for one in json.loads(output.read_text())["results"]]
    done, unknown = outcomes.count("done"), outcomes.count("unknown")
    assert done <= len(registry.calls) <= done + unknown
    assert unknown <= 1
    assert len(outcomes) == len(_PLAN.actions)
    # What comes once the report is written ends the command, and hides nothing.
    assert (ended == "stopped") is (done < len(_PLAN.actions)) or ended == "cut"


def _count(tmp_path: Path) -> int:
    with _pressed(lambda _step: False) as count:
        assert _carry_out(FakeRegistry(versions=[0, 4]), tmp_path / "all.json") == "finished"
    return count[0]


@pytest.mark.slow
@pytest.mark.parametrize("presses", ["one", "two", "all"])
def test_a_signal_at_any_step_hides_nothing_that_was_done(
    presses: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ends: set[str] = set()
    for first in range(1, _count(tmp_path) + 1, _STRIDE):
        registry, output = FakeRegistry(versions=[0, 4]), tmp_path / f"{first}.json"
        last = {"one": first, "two": first + 40, "all": sys.maxsize}[presses]

        def chosen(step: int, first: int = first, last: int = last) -> bool:
            return step in (first, last) or (last == sys.maxsize and step > first)

        with ctrl_c_as_ever(), _pressed(chosen):
            ended = _carry_out(registry, output)
        _check(registry, output, ended)
        ends.add(ended)
    assert ends >= {"stopped"}
    capfd.readouterr()
