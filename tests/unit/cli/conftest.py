"""A command line, and repositories for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import CommandLine


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
