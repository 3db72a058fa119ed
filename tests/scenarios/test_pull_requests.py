"""The past of a repository, checked commit by commit: some good, some bad, some hostile.

The schemas lie in a folder of a larger repository. Each step is a pull request against `main`;
those that are merged become its history, the others are left. The same table holds whether known
versions come from git, from committed snapshots or from the registry itself.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from git import Git

from gitops.changes import change
from gitops.ports import FileTree
from gitops.repository.affected_files import AffectedFiles, affected_files
from gitops.repository.template import copy_template
from tests.scenarios.pull_requests import CREATED, STEPS, Step
from tests.scenarios.repository_edits import Schemas
from tests.support.command_line import CommandLine, Outcome
from tests.support.git_repos import GitRepository

SOURCES: Final = ("git", "snapshot", "registry")


@pytest.fixture(params=SOURCES)
def source(request: pytest.FixtureRequest) -> str:
    """Where known versions come from."""
    return str(request.param)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    return CommandLine(capsys)


def test_each_pull_request_gets_the_right_verdict(
    source: str, command: CommandLine, tmp_path: Path
) -> None:
    _live_through(source, command, tmp_path)


def test_the_verdicts_are_the_same_if_every_file_is_read(
    command: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is left out to be fast must not count."""

    def reach_all(trees: tuple[FileTree, FileTree], *rest: Any) -> AffectedFiles:  # noqa: ANN401
        found = affected_files(trees, *rest)
        files = {path for tree in trees for path in tree.paths()}
        return replace(found, files=found.files | files)

    monkeypatch.setattr(change, "affected_files", reach_all)
    _live_through("git", command, tmp_path)


def _live_through(source: str, command: CommandLine, tmp_path: Path) -> None:
    repo = GitRepository(tmp_path / "repo")
    repo.commit({"app/main.py": ""})
    schemas = Schemas(repo)
    copy_template(schemas.root)
    repo.commit(message="the schemas")
    _record(source, schemas, command)
    for step in STEPS:
        before = repo.head
        repo.git("switch", "--quiet", "--create", "pr", step.start)
        step.edit(schemas)
        repo.commit(message=step.name)
        said = command("check", "--base", "main", "--repo", schemas.root, "--format", "json")
        _compare(step, source, said)
        repo.git("switch", "--quiet", "main")
        if step.merged:
            repo.git("merge", "--quiet", "--no-ff", "pr", "--message", f"merge: {step.name}")
            _compare_merge(step, source, command, schemas, before)
            _record(source, schemas, command)
        repo.git("branch", "--quiet", "-D", "pr")


def _record(source: str, schemas: Schemas, command: CommandLine) -> None:
    """Do what happens after a merge: apply it, and perhaps commit a snapshot."""
    if source == "git":
        return
    live = schemas.root / ".gitops"  # the registry and its journals, which no other clone has
    hidden = schemas.repo.root.with_name("elsewhere")
    if hidden.exists():
        hidden.rename(live)
    done = command("apply", "--repo", schemas.root, "--auto-approve")
    assert done.code == 0, done
    if source == "snapshot":
        assert command("snapshot", "--repo", schemas.root).code == 0
        schemas.repo.commit(message="snapshot")
        live.rename(hidden)


def _compare_merge(
    step: Step, source: str, command: CommandLine, schemas: Schemas, before: str
) -> None:
    """A merge commit does what its pull request did."""
    if source == "git":
        said = command(
            "check", "--base", before, "--head", "main", "--repo", schemas.root, "--format", "json"
        )
        _compare(step, source, said)


def _compare(step: Step, source: str, said: Outcome) -> None:
    document = json.loads(said.out)
    (registry,) = document["registries"]
    findings = [*document["findings"], *registry["plan"]["findings"]]
    topics = tuple(sorted(name.rpartition("/")[2] for name in document["touched"]["topics"]))
    assert (
        step.name,
        said.code,
        sorted(
            {*map(_action, registry["plan"]["actions"]), *map(_notice, registry["plan"]["notices"])}
        ),
        sorted({_finding(each) for each in findings if each["severity"] != "info"}),
        registry["history"]["source"],
    ) == (step.name, step.code, sorted(step.plan), sorted(step.findings), source)
    if step.touched is not None:
        assert (step.name, topics) == (step.name, tuple(sorted(step.touched)))


def _action(action: dict[str, Any]) -> str:
    if action["action"] == "SetPolicy":
        subject = action["subject"].partition(" ")[2]
        return f"{subject} {action['key']} {action['before']} → {action['after']}"
    assert action["action"] == "RegisterSchema"
    old = "new" if action["latestVersion"] is None else f"v{action['latestVersion']}"
    return f"{_short(action['topic'])} {old} → v{action['version']}"


def _notice(notice: dict[str, Any]) -> str:
    name = _short(notice["topic"])
    if notice["notice"] == "WithoutEffect":
        return f"{name} same as v{notice['equalVersion']}"
    return f"{name} {notice['notice'].lower()}"


def _finding(finding: dict[str, Any]) -> str:
    where = finding["location"]
    return f"{finding['rule']} {where['file'] if where else '-'}"


def _short(topic: str) -> str:
    return topic.rpartition("/")[2]


def _breaking(tmp_path: Path) -> GitRepository:
    """A repository with a few merges, and a branch `pr` that breaks a schema."""
    repo = GitRepository(tmp_path / "repo")
    schemas = Schemas(repo)
    copy_template(schemas.root)
    repo.commit(message="the schemas")
    for step in [step for step in STEPS if step.merged][:4]:
        repo.git("switch", "--quiet", "--create", "pr")
        step.edit(schemas)
        repo.commit(message=step.name)
        repo.git("switch", "--quiet", "main")
        repo.git("merge", "--quiet", "--no-ff", "pr", "--message", f"merge: {step.name}")
        repo.git("branch", "--quiet", "-D", "pr")
    repo.git("switch", "--quiet", "--create", "pr")
    schemas.add_field(CREATED, "region")
    repo.commit(message="breaks it")
    repo.git("switch", "--quiet", "main")
    return repo


def _verdict(said: Outcome) -> tuple[int, list[str], list[str]]:
    document = json.loads(said.out)
    (registry,) = document["registries"]
    rules = sorted({each["rule"] for each in registry["plan"]["findings"]})
    return said.code, sorted(map(_notice, registry["plan"]["notices"])), rules


REFUSED: Final = (1, ["order-created refused"], ["AVRO-R002"])


def test_a_branch_in_a_worktree_gets_the_same_verdict(command: CommandLine, tmp_path: Path) -> None:
    repo, there = _breaking(tmp_path), tmp_path / "there"
    repo.git("worktree", "add", "--quiet", str(there), "pr")

    for folder in (there / "schemas", there / "schemas" / "namespaces" / ".."):
        said = command("check", "--base", "main", "--repo", folder, "--format", "json")
        assert _verdict(said) == REFUSED


def test_a_shallow_clone_says_what_to_fetch_and_then_gets_the_same_verdict(
    command: CommandLine, tmp_path: Path
) -> None:
    """As actions/checkout makes one by default: the newest commit of one branch."""
    repo, there = _breaking(tmp_path), tmp_path / "there"
    source = f"file://{repo.root}"
    repo.git("clone", "--quiet", "--depth=1", "--branch=pr", source, str(there))
    words = ("check", "--repo", there / "schemas", "--format", "json")
    clone = Git(there)

    lacking = command(*words, "--base", "origin/main")
    assert lacking.code == 2
    assert "git fetch origin main" in lacking.err
    clone.execute(
        ["git", "fetch", "--quiet", "--depth=1", "origin", "main:refs/remotes/origin/main"]
    )
    too_shallow = command(*words, "--base", "origin/main")
    assert too_shallow.code == 4
    assert "git fetch --unshallow" in too_shallow.err
    clone.execute(["git", "fetch", "--quiet", "--unshallow"])

    assert _verdict(command(*words, "--base", "origin/main")) == REFUSED
    assert not Path(there / "schemas" / ".gitops").exists()
