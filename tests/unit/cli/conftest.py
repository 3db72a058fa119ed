"""A command line, and repositories for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.command_line import CommandLine
from tests.support.git_repos import GitRepository


@pytest.fixture(autouse=True)
def _no_git_of_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [key for key in os.environ if key.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """Runs command lines as on a machine where nobody asks for colours or a width."""
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    return CommandLine(capsys)


@pytest.fixture
def repo(tmp_path: Path, command: CommandLine) -> Path:
    """The template, with an embedded registry that holds nothing."""
    folder = tmp_path / "repo"
    assert command("init", folder).code == 0
    return folder


@pytest.fixture
def applied(repo: Path, command: CommandLine) -> Path:
    """The template, applied."""
    assert command("apply", "--repo", repo, "--auto-approve").code == 0
    return repo


@pytest.fixture
def clone(repo: Path) -> GitRepository:
    """The template, committed."""
    made = GitRepository(repo)
    made.commit()
    return made
