"""`gitlab note`: what it reads, what it writes, and how it ends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command_line import CommandLine
from tests.support.gitlab_stand_in import PAGE, TOKEN, GitLabStandIn, gitlab_stand_in


@pytest.fixture
def gitlab(monkeypatch: pytest.MonkeyPatch) -> Iterator[GitLabStandIn]:
    """GitLab, as the environment of a job names it."""
    for name in ("CI_MERGE_REQUEST_IID", "CI_MERGE_REQUEST_PROJECT_ID", "CI_JOB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with gitlab_stand_in() as stand_in:
        for name, value in stand_in.environment.items():
            monkeypatch.setenv(name, value)
        yield stand_in


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """What is to be said."""
    path = tmp_path / "report.md"
    path.write_text("# All good\n/merge\n", "utf-8")
    return path


def test_a_note_is_created_updated_and_then_left_alone(
    gitlab: GitLabStandIn, report: Path, command: CommandLine
) -> None:
    note = ("gitlab", "note", "--file", report, "--mr", 7)

    first = command(*note)
    again = command(*note)
    report.write_text("# Refused\n", "utf-8")
    second = command(*note)

    assert [each.code for each in (first, again, second)] == [0, 0, 0]
    assert first.err.startswith(f"created {PAGE}/-/merge_requests/7#note_")
    assert again.err.startswith("unchanged ")
    assert second.err.startswith("updated ")
    assert [method for method, _ in gitlab.writes] == ["POST", "PUT"]
    assert [each.body.partition("-->\n")[2] for each in gitlab.notes[7]] == ["# Refused\n"]


def test_the_job_says_which_merge_request(
    gitlab: GitLabStandIn, report: Path, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI_MERGE_REQUEST_IID", "7")

    assert command("gitlab", "note", "--file", report).code == 0
    (note,) = gitlab.notes[7]
    assert note.body.endswith("# All good\n\\/merge\n")


@pytest.mark.parametrize("args", [(), ("--mr", "0"), ("--mr", "-7")])
def test_without_a_merge_request_nothing_is_asked(
    gitlab: GitLabStandIn, report: Path, command: CommandLine, args: tuple[str, ...]
) -> None:
    assert command("gitlab", "note", "--file", report, *args).code == 2
    assert not gitlab.reads


def test_a_jobs_own_token_is_refused_with_what_to_do(
    gitlab: GitLabStandIn, report: Path, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI_JOB_TOKEN", TOKEN)

    ended = command("gitlab", "note", "--file", report, "--mr", 7)

    assert ended.code == 2
    assert "project access token" in ended.err
    assert TOKEN not in ended.err
    assert not gitlab.reads


def test_what_gitlab_refuses_is_told_without_the_token(
    gitlab: GitLabStandIn, report: Path, command: CommandLine
) -> None:
    gitlab.refuse("POST", 403, {"message": "403 Forbidden"})

    ended = command("gitlab", "note", "--file", report, "--mr", 7)

    assert ended.code == 4
    assert "the scope `api`" in ended.err
    assert TOKEN not in ended.err
