"""`github`: what it reads, what it writes, and how it ends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command_line import CommandLine
from tests.support.github_stand_in import TOKEN, GitHubStandIn, Stored, github_stand_in


@pytest.fixture
def github(monkeypatch: pytest.MonkeyPatch) -> Iterator[GitHubStandIn]:
    """GitHub, as the environment of a workflow names it."""
    monkeypatch.delenv("GH_TOKEN", raising=False)
    monkeypatch.delenv("GITHUB_REF", raising=False)
    with github_stand_in() as stand_in:
        for name, value in stand_in.environment.items():
            monkeypatch.setenv(name, value)
        yield stand_in


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """What is to be said."""
    path = tmp_path / "report.md"
    path.write_text("# All good\n", "utf-8")
    return path


@pytest.mark.slow
def test_a_comment_is_created_updated_and_then_left_alone(
    github: GitHubStandIn, report: Path, command: CommandLine
) -> None:
    comment = ("github", "comment", "--file", report, "--pr", 7)
    # Ours is not on the first page.
    github.comments[7] = [Stored(n, "ada", "hello") for n in range(3)]

    first = command(*comment)
    report.write_text("# Refused\n", "utf-8")
    second = command(*comment)
    third = command(*comment)

    assert [each.code for each in (first, second, third)] == [0, 0, 0]
    assert first.err.startswith("created https://github.example/acme/schemas/")
    assert second.err.startswith("updated ")
    assert third.err.startswith("unchanged ")
    assert [method for method, _ in github.writes] == ["POST", "PATCH"]
    assert github.comments[7][-1].body.endswith("-->\n# Refused\n")


@pytest.mark.slow
def test_a_ticked_step_survives_an_update(
    github: GitHubStandIn, report: Path, command: CommandLine
) -> None:
    """GitHub gives the text back with other line ends; a step that changed is to be done again."""
    steps = "#### Rollout\n\n- [ ] 1. upgrade billing\n- [ ] 2. merge: registers v1\n"
    comment = ("github", "comment", "--file", report, "--pr", 7)
    report.write_text(steps, "utf-8")
    command(*comment)
    (written,) = github.comments[7]
    written.body = written.body.replace("[ ]", "[x]").replace("\n", "\r\n")

    assert command(*comment).err.startswith("unchanged ")
    changed = steps.replace("v1", "v2").replace("1. ", "3. ")
    report.write_text(changed, "utf-8")
    assert command(*comment).err.startswith("updated ")
    assert written.body.endswith(f"-->\n{changed.replace('[ ] 3', '[x] 3')}")


def test_the_run_says_which_pull_request(
    github: GitHubStandIn, report: Path, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_REF", "refs/pull/7/merge")

    assert command("github", "comment", "--file", report).code == 0
    assert github.writes == [("POST", "/issues/7/comments")]


@pytest.mark.parametrize("args", [(), ("--pr", "0"), ("--pr", "-7"), ("--pr", "1; rm -rf")])
def test_without_a_pull_request_nothing_is_asked(
    github: GitHubStandIn, report: Path, command: CommandLine, args: tuple[str, ...]
) -> None:
    assert command("github", "comment", "--file", report, *args).code == 2
    assert not github.reads


@pytest.mark.slow
def test_what_github_refuses_names_the_permission_and_not_the_token(
    github: GitHubStandIn, report: Path, command: CommandLine
) -> None:
    github.refuse("POST", "/issues/7/comments", 403, "Resource not accessible by integration")

    ended = command("github", "comment", "--file", report, "--pr", 7)

    assert ended.code == 4
    assert "`pull-requests: write`" in ended.err
    assert TOKEN not in ended.err + ended.out


def test_a_report_that_is_not_there_is_said(
    github: GitHubStandIn, tmp_path: Path, command: CommandLine
) -> None:
    ended = command("github", "comment", "--file", tmp_path / "none.md", "--pr", 7)

    assert ended.code == 2
    assert "none.md" in ended.err
    assert not github.reads


def test_a_report_that_is_too_long_is_not_sent(
    github: GitHubStandIn, report: Path, command: CommandLine
) -> None:
    report.write_text("x" * 65_536, "utf-8")

    ended = command("github", "comment", "--file", report, "--pr", 7)

    assert ended.code == 2
    assert "GitHub accepts 65,536" in ended.err
    assert not github.writes


def test_the_report_of_another_run_is_written(
    github: GitHubStandIn, report: Path, command: CommandLine
) -> None:
    (report.parent / "pull-request.txt").write_text("7\n", "utf-8")

    ended = command("github", "relay", report.parent, "--head", "a" * 40)

    assert ended.code == 0
    assert github.writes == [("POST", "/issues/7/comments")]


@pytest.mark.parametrize(("number", "head"), [("7", "b" * 40), ("8", "a" * 40), ("7", "a" * 7)])
def test_a_report_for_another_pull_request_is_not_written(
    github: GitHubStandIn, report: Path, command: CommandLine, number: str, head: str
) -> None:
    (report.parent / "pull-request.txt").write_text(number, "utf-8")

    assert command("github", "relay", report.parent, "--head", head).code == 4
    assert not github.writes


def test_a_report_for_no_number_is_not_even_asked_about(
    github: GitHubStandIn, report: Path, command: CommandLine
) -> None:
    (report.parent / "pull-request.txt").write_text("1; rm -rf", "utf-8")

    assert command("github", "relay", report.parent, "--head", "a" * 40).code == 2
    assert not github.reads


@pytest.mark.slow
def test_an_issue_is_opened_updated_and_closed(
    github: GitHubStandIn, report: Path, command: CommandLine
) -> None:
    github.issues = [Stored(n, "ada", "hello") for n in range(3)]
    issue = ("github", "issue", "--title", "Drift of production")

    codes = [
        command(*issue, *rest).code
        for rest in (("--file", report), ("--file", report), ("--close",), ("--close",))
    ]

    assert codes == [0, 0, 0, 0]
    assert github.writes == [("POST", "/issues"), ("PATCH", "/issues/1003")]
    assert github.issues[-1].state == "closed"
    assert github.issues[-1].title == "Drift of production"


@pytest.mark.parametrize("both", [True, False])
def test_an_issue_needs_a_report_or_an_end(
    github: GitHubStandIn, report: Path, command: CommandLine, *, both: bool
) -> None:
    rest = ("--file", report, "--close") if both else ()

    assert command("github", "issue", "--title", "Drift", *rest).code == 2
    assert not github.reads
