"""A command line, and repositories for it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.support.command_line import CommandLine, captured
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


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `init` writes, made once."""
    folder = tmp_path_factory.mktemp("template") / "repo"
    assert captured("init", folder).code == 0
    return folder


@pytest.fixture(scope="session")
def applied_template(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The template, applied once."""
    folder = shutil.copytree(template, tmp_path_factory.mktemp("applied") / "repo")
    assert captured("apply", "--repo", folder, "--auto-approve").code == 0
    return folder


@pytest.fixture
def repo(tmp_path: Path, template: Path) -> Path:
    """The template, with an embedded registry that holds nothing."""
    return shutil.copytree(template, tmp_path / "repo")


@pytest.fixture
def applied(repo: Path, applied_template: Path) -> Path:
    """The template, applied."""
    return shutil.copytree(applied_template, repo, dirs_exist_ok=True)


@pytest.fixture(scope="session")
def committed_template(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The template, committed once."""
    folder = shutil.copytree(template, tmp_path_factory.mktemp("committed") / "repo")
    made = GitRepository(folder)
    made.commit()
    # A copy has the same files at other places of the disk.
    made.git("config", "core.checkStat", "minimal")
    made.git("config", "core.trustctime", "false")
    return folder


@pytest.fixture
def clone(repo: Path, committed_template: Path) -> GitRepository:
    """The template, committed."""
    return GitRepository.at(shutil.copytree(committed_template, repo, dirs_exist_ok=True))
