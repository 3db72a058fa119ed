"""What a report shows after `reproduce:` runs in a shell as it is printed."""

from __future__ import annotations

import html
import os
import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.support.command_line import CommandLine
from tests.support.git_repos import GitRepository
from tests.support.prepared_command import prepared_program
from tests.support.replayed_template import LOCAL, lose_a_symbol

pytestmark = pytest.mark.slow

_CHECK: Final = ("check", "--base", "main")


def _run(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    paths = f"{prepared_program().parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env={**os.environ, "PATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "args", [_CHECK, (*_CHECK, "--replay", *LOCAL), ("replay", "--gate", "both", *LOCAL)]
)
def test_the_line_in_a_comment(
    clone: GitRepository,
    command: CommandLine,
    monkeypatch: pytest.MonkeyPatch,
    args: tuple[str, ...],
) -> None:
    monkeypatch.chdir(clone.root)
    lose_a_symbol(clone.root)
    said = command(*args, "--format", "markdown")
    (line,) = re.findall(r"reproduce: `([^`]*)`", said.out)
    done = _run(f"{line} --format markdown", clone.root)
    assert (done.returncode, done.stderr) == (said.code, "")
    assert done.stdout == said.out


def test_the_lines_in_a_narrow_terminal(
    clone: GitRepository, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lose_a_symbol(clone.root)
    said = command(*_CHECK, "--repo", clone.root, "--replay", *LOCAL)
    line = said.out.partition("reproduce: ")[2]
    assert line.count("\\\n") >= 2
    done = _run(line, clone.root.parent)
    assert done.returncode == said.code
    assert "10 of 200 sample messages cannot be read" in " ".join(done.stdout.split())


def test_the_line_of_a_page(clone: GitRepository, command: CommandLine) -> None:
    lose_a_symbol(clone.root)
    page = clone.root.parent / "replay.html"
    said = command("replay", "--repo", clone.root, *LOCAL, "--show-values", "--html", page)
    (line,) = re.findall(r"reproduce: <code>(.*?)</code>", page.read_text("utf-8"))
    done = _run(html.unescape(line), clone.root.parent)
    assert (done.returncode, done.stderr) == (said.code, "")
    assert done.stdout.partition("\n")[0] == said.out.partition("\n")[0]


@pytest.mark.parametrize("args", [("plan",), ("plan", "--as-if-broker", "4.2"), ("validate",)])
def test_the_line_of_a_plan_or_of_files_in_another_folder(
    clone: GitRepository, command: CommandLine, args: tuple[str, ...]
) -> None:
    lose_a_symbol(clone.root)
    moved = clone.root.rename(clone.root.parent / "my schemas")
    said = command(*args, "--repo", moved, "--format", "markdown")
    (line,) = re.findall(r"reproduce: `([^`]*)`", said.out)
    done = _run(f"{line} --format markdown", moved.parent)
    assert (done.returncode, done.stderr) == (said.code, "")
    assert done.stdout == said.out
