"""What is skipped is summed up in words that help, and Maven's are its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support import pulsar_class_path
from tests.support.pulsar_class_path import BrokerUnavailableError, class_path, maven_error
from tests.support.skips import not_tried

_MAVEN = """\
[WARNING] something
[ERROR] Failed to execute goal on project x: Could not transfer artifact a:b:1: Unknown host
[ERROR] -> [Help 1]
[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.
"""


def test_the_sum_names_the_most_first() -> None:
    reasons = ["Skipped: no curl", "Skipped: no java", "Skipped: no java"]
    assert not_tried(reasons) == "not tried: 2 tests (no java), 1 test (no curl)"


def test_where_all_was_tried_nothing_is_said() -> None:
    assert not not_tried([])


def test_mavens_first_error_is_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mvn = tmp_path / "mvn"
    mvn.write_text(f"#!/bin/sh\ncat <<'END'\n{_MAVEN}END\nexit 1\n", "utf-8")
    mvn.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(pulsar_class_path, "CACHE", tmp_path)
    with pytest.raises(BrokerUnavailableError) as raised:
        class_path()
    assert str(raised.value).endswith(
        "jars: Failed to execute goal on project x: Could not transfer artifact a:b:1: Unknown host"
    )


def test_of_maven_the_first_error_is_told_whatever_its_colours() -> None:
    printed = """\
\x1b[0m\x1b[0m[ERROR] No plugin found for prefix 'dependency' -> [Help 1]
[ERROR] \n[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch.
"""
    assert maven_error(printed) == "No plugin found for prefix 'dependency' -> [Help 1]"
