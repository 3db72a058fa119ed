"""`make demo` walks through to its end, in every kind of terminal, and stops where it must."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.docs.pages import ROOT

COMMANDS = Path(sys.executable).parent


def demo(variables: dict[str, str], bin_folder: Path = COMMANDS) -> CompletedProcess[str]:
    taken_out = ("NO_COLOR", "FORCE_COLOR", "COLUMNS")
    env = {key: value for key, value in os.environ.items() if key not in taken_out}
    return subprocess.run(
        [ROOT / "scripts" / "demo"],
        env=env | {"BIN": str(bin_folder), "ENGINE": "local", **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.mark.parametrize(
    ("variables", "colours"),
    [
        ({"COLUMNS": "100"}, False),
        ({"COLUMNS": "60", "FORCE_COLOR": "1", "TERM": "xterm-256color"}, True),
    ],
)
def test_every_step_does_what_it_says(
    variables: dict[str, str],
    colours: bool,  # noqa: FBT001
    tmp_path: Path,
) -> None:
    done = demo({**variables, "TMPDIR": str(tmp_path)})
    assert done.returncode == 0, done.stdout + done.stderr
    steps = re.findall(r"── (\d+)\. ", done.stdout)
    assert steps == [str(number) for number in range(1, 10)]
    assert "That was all of it" in done.stdout
    assert bool(re.search(r"\x1b\[[0-9;]*3[0-9]m", done.stdout)) is colours
    assert done.stderr == ""
    assert not list(tmp_path.iterdir()), "something is left behind"


def test_it_stops_where_a_step_does_not_do_what_it_says(tmp_path: Path) -> None:
    program = tmp_path / "pulsar-gitops"
    real = shutil.which("pulsar-gitops", path=COMMANDS)
    program.write_text(f'#!/bin/sh\n[ "$1" = plan ] && exit 0\nexec "{real}" "$@"\n')
    program.chmod(0o755)
    done = demo({"COLUMNS": "60", "FORCE_COLOR": "1", "NO_COLOR": "1"}, tmp_path)
    assert done.returncode == 1
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", done.stdout)
    assert "the demo stopped at step 2" in done.stderr
    assert "did not say: 5 to add" in done.stderr


def test_without_a_set_up_it_says_what_to_do(tmp_path: Path) -> None:
    done = demo({"PATH": "/usr/bin:/bin"}, tmp_path)
    assert done.returncode == 2
    assert "make setup" in done.stderr
