"""Programs that the settings of a clone name are not run by any command."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.command_line import CommandLine
from tests.support.git_repos import GitRepository
from tests.support.hostile_clone import HostileClone

MANIFEST = "namespaces/shop/orders/order-status.yaml"
COMMANDS = (
    ("validate",),
    ("fmt", "--check"),
    ("plan",),
    ("plan", "--format", "markdown"),
    ("apply", "--auto-approve"),
    ("snapshot",),
    ("check", "--base", "HEAD^"),
    ("check", "--base", "HEAD^", "--head", "HEAD"),
    ("check", "--base", "HEAD^", "--history", "git"),
    ("rollout", "--base", "HEAD^"),
    ("replay", "--base", "HEAD^", "--engine", "local"),
)


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [key for key in os.environ if key.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def clone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> HostileClone:
    """The template with a change, in a clone with everything planted."""
    command = CommandLine(capsys)
    command("init", tmp_path / "repo")
    repo = GitRepository(tmp_path / "repo")
    repo.commit()
    path = repo.root / MANIFEST
    path.write_text(path.read_text("utf-8") + "# changed\n", "utf-8")
    repo.git("add", "--all")
    planted = HostileClone(repo, tmp_path)
    planted.plant()
    planted.touch()
    return planted


def test_git_itself_would_run_them(clone: HostileClone) -> None:
    def git(*words: str) -> None:
        subprocess.run(
            ["git", *words], cwd=clone.repo.root, capture_output=True, check=False, timeout=60
        )

    git("status")  # it ends where the filter of long.process breaks off
    git("config", "--unset", "filter.long.process")
    git("status")
    git("diff", "HEAD^", "--", MANIFEST)
    git("log", "-1")
    assert clone.ran() >= {
        "fsmonitor",
        "fsmonitor of a submodule",
        "clean plain",
        "clean with=sign",
        "clean in.two.parts",
        "process",
        "post-index-change",
        "gpg.program",
        "diff.shown.command",
    }


@pytest.mark.parametrize("args", COMMANDS, ids=" ".join)
def test_no_planted_program_is_run(
    args: tuple[str, ...],
    clone: HostileClone,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in clone.environment().items():
        monkeypatch.setenv(name, value)
    done = CommandLine(capsys)(*args, "--repo", clone.repo.root)
    assert clone.ran() == set()
    assert done.code in {0, 1}, done.err


def test_what_the_clone_lacks_is_not_fetched(
    clone: HostileClone, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A partial clone would fetch it by the program that its settings name."""
    source, partial = GitRepository(tmp_path / "source"), tmp_path / "partial"
    CommandLine(capsys)("init", source.root / "s")
    source.commit()
    source.commit({f"s/{MANIFEST}": "kind: Topic\n"})
    source.git("config", "uploadpack.allowFilter", "true")
    source.git("clone", "--quiet", "--filter=blob:none", source.root.as_uri(), str(partial))
    for key, value in {
        "protocol.ext.allow": "always",
        "remote.origin.url": f"ext::{clone.program('ext')}",
    }.items():
        source.git("-C", str(partial), "config", key, value)
    subprocess.run(
        ["git", "diff", "HEAD^"], cwd=partial, capture_output=True, check=False, timeout=60
    )
    assert clone.ran() == {"ext"}

    for args in (["check"], ["check", "--head", "HEAD"], ["rollout"], ["replay"]):
        done = CommandLine(capsys)(*args, "--base", "HEAD^", "--repo", partial / "s")
        assert clone.ran() == set()
        assert (done.code, "git fetch --refetch --no-filter" in done.err) == (4, True), done.err
