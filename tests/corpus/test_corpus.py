"""Outputs of commands in situations that users meet; UPDATE_CORPUS=1 records them anew."""

from __future__ import annotations

import datetime
import difflib
import importlib
import os
import shutil
from pathlib import Path
from typing import Final

import git
import pytest
import time_machine

from tests.corpus.catalogue import SITUATIONS
from tests.corpus.shell import Shell
from tests.support.git_repos import GitRepository

_FOLDER: Final = Path(__file__).parent
_EXPECTED: Final = _FOLDER / "expected"
_UPDATE: Final = "UPDATE_CORPUS=1 pytest tests/corpus"
_NOW: Final = datetime.datetime(2026, 3, 2, 9, 30, tzinfo=datetime.UTC)
_FOREIGN: Final = ("GITHUB_", "GITLAB_", "CI", "PULSAR_", "GIT_", "NO_COLOR", "FORCE_COLOR")
_ENVIRONMENT: Final = {
    "COLUMNS": "100",
    "GIT_CONFIG_NOSYSTEM": "1",
}
_GIT: Final = {
    "GIT_AUTHOR_DATE": _NOW.isoformat(),
    "GIT_COMMITTER_DATE": _NOW.isoformat(),
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}
"""For the commits of a situation; the program removes most of these from its environment."""

_MODULES: Final = (
    "broker_lines",
    "clients",
    "edited_files",
    "errors",
    "histories",
    "policies",
    "registries",
    "replays",
    "reviews",
    "schema_types",
    "words",
)
"""Modules with situations, which are in the catalogue once these are imported."""

for _module in _MODULES:
    importlib.import_module(f"tests.corpus.{_module}")


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SITUATIONS))
def test_outputs_are_as_recorded(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in list(os.environ):
        if variable.startswith(_FOREIGN):
            monkeypatch.delenv(variable)
    for variable, value in _ENVIRONMENT.items():
        monkeypatch.setenv(variable, value)
    for variable in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
        monkeypatch.setenv(variable, str(tmp_path / "step" / variable))
    for variable in ("HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(variable, str(tmp_path / "home"))
    monkeypatch.setattr(GitRepository, "git", _git)
    with time_machine.travel(_NOW, tick=False) as clock:
        shell = Shell(tmp_path / "schemas", monkeypatch, clock)
        SITUATIONS[name](shell)

    folder = _EXPECTED / name
    if os.environ.get("UPDATE_CORPUS"):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for file, text in shell.files.items():
            (folder / file).write_bytes(text.encode())
    recorded = {path.name: path.read_bytes().decode() for path in folder.glob("*")}
    changes = "".join(
        _difference(f"{name}/{file}", recorded.get(file), shell.files.get(file))
        for file in sorted({*recorded, *shell.files})
    )
    if changes:
        pytest.fail(f"outputs changed; if that is intended: {_UPDATE}\n{changes}", pytrace=False)


def test_each_folder_has_a_situation() -> None:
    for folder in _EXPECTED.iterdir():
        if folder.name not in SITUATIONS and os.environ.get("UPDATE_CORPUS"):
            shutil.rmtree(folder)
    left = sorted({folder.name for folder in _EXPECTED.iterdir()} - set(SITUATIONS))
    assert not left, f"no situation writes them any more: {_UPDATE} removes them"


def _git(repository: GitRepository, *words: str) -> str:
    """A git command that makes the same commits everywhere."""
    return str(git.Git(repository.root).execute(["git", *words], env=_GIT))


def _difference(file: str, recorded: str | None, now: str | None) -> str:
    """A unified diff of one file; empty where both are the same."""
    if recorded == now:
        return ""
    lines = difflib.unified_diff(
        (recorded or "").splitlines(keepends=True),
        (now or "").splitlines(keepends=True),
        fromfile=f"recorded/{file}" if recorded is not None else "not recorded",
        tofile=f"now/{file}" if now is not None else "no longer written",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
