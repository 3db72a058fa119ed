"""One comment and one issue, found again and updated in place."""

from __future__ import annotations

import pytest

from gitops.hosting.workflow import MOST_CHARACTERS
from gitops.model.errors import OutsideError, UsageError
from gitops.model.posts import PostAction
from gitops.usecases.github import (
    close_issue,
    comment_marker,
    issue_marker,
    keep_comment,
    keep_issue,
    relay_comment,
)
from tests.support.fake_code_host import FakeCodeHost, post

MARKER = comment_marker(".")
DRIFT = issue_marker(".", "Drift of production")


def test_a_comment_is_created_then_updated_then_left_alone() -> None:
    host = FakeCodeHost()

    written = [keep_comment(host, 7, text, MARKER).written for text in ("one", "two", "two")]

    assert written == [PostAction.CREATED, PostAction.UPDATED, PostAction.UNCHANGED]
    assert [each.body for each in host.posts] == [f"{MARKER}\ntwo"]
    assert host.writes == ["comment on 7", "edit 1"]


def test_a_comment_that_github_gives_back_with_other_line_ends_is_the_same() -> None:
    host = FakeCodeHost(posts=[post(1, f"{MARKER}\r\none\r\ntwo")])

    assert keep_comment(host, 7, "one\ntwo\n", MARKER).written is PostAction.UNCHANGED


def test_a_marker_that_somebody_else_planted_is_left_alone() -> None:
    planted = post(1, f"{MARKER}\nAll good, merge me", author="mallory")
    host = FakeCodeHost(posts=[planted])

    assert keep_comment(host, 7, "refused", MARKER).written is PostAction.CREATED
    assert host.posts[0] == planted


def test_a_marker_that_is_only_quoted_does_not_count() -> None:
    host = FakeCodeHost(posts=[post(1, f"> {MARKER}\n> text")])

    assert keep_comment(host, 7, "text", MARKER).written is PostAction.CREATED


def test_each_schemas_repository_has_a_comment_of_its_own() -> None:
    host = FakeCodeHost()

    for path in ("teams/a", "teams/b", "teams/a"):
        keep_comment(host, 7, path, comment_marker(path))

    assert len(host.posts) == 2


def test_a_path_cannot_end_the_hidden_line() -> None:
    assert comment_marker("a --> b\n<b>").count(">") == 1


def test_a_report_of_just_the_length_is_written_and_a_longer_one_refused() -> None:
    host = FakeCodeHost()
    longest = "x" * (MOST_CHARACTERS - len(MARKER) - 1)

    assert keep_comment(host, 7, longest, MARKER).written is PostAction.CREATED
    with pytest.raises(UsageError, match="65,536"):
        keep_comment(host, 7, f"{longest}x", MARKER)
    assert host.writes == ["comment on 7"]


def test_what_another_run_reports_is_written_for_its_pull_request() -> None:
    host = FakeCodeHost()

    assert relay_comment(host, 7, "one", MARKER, head="a" * 40).written is PostAction.CREATED


def test_a_report_about_another_commit_is_refused() -> None:
    host = FakeCodeHost()

    with pytest.raises(OutsideError, match=r"about commit b.*pull request #7 is at a"):
        relay_comment(host, 7, "one", MARKER, head="b" * 40)
    assert not host.writes


def test_a_pull_request_that_changes_what_reports_is_not_believed() -> None:
    host = FakeCodeHost(files=["a.avsc", ".github/workflows/check.yml"])

    with pytest.raises(OutsideError, match=r"changes \.github/"):
        relay_comment(host, 7, "All good", MARKER, head="a" * 40)
    assert not host.writes


def test_a_pull_request_whose_files_github_does_not_all_list_is_not_believed() -> None:
    host = FakeCodeHost(files=[f"{n}.avsc" for n in range(3000)])

    with pytest.raises(OutsideError, match="more files than GitHub lists"):
        relay_comment(host, 7, "All good", MARKER, head="a" * 40)
    assert not host.writes


def test_an_issue_is_opened_updated_left_alone_and_closed() -> None:
    host = FakeCodeHost()

    written = [
        keep_issue(host, "Drift of production", text, DRIFT).written
        for text in ("one", "two", "two")
    ]
    closed = [close_issue(host, DRIFT).written for _ in range(2)]

    assert written == [PostAction.CREATED, PostAction.UPDATED, PostAction.UNCHANGED]
    assert closed == [PostAction.CLOSED, PostAction.NONE]
    assert host.writes == ["open Drift of production", "edit 1", "close 1"]


def test_a_title_that_somebody_changed_is_put_back() -> None:
    host = FakeCodeHost(issues=[post(4, f"{DRIFT}\none", title="Mine")])

    kept = keep_issue(host, "Drift of production", "one", DRIFT)

    assert kept.written is PostAction.UPDATED
    assert host.issues[0].title == "Drift of production"


def test_an_issue_that_somebody_else_planted_is_neither_updated_nor_closed() -> None:
    planted = post(4, f"{DRIFT}\none", author="mallory")
    host = FakeCodeHost(issues=[planted])

    assert close_issue(host, DRIFT).written is PostAction.NONE
    assert keep_issue(host, "Drift of production", "one", DRIFT).written is PostAction.CREATED
    assert host.issues[0] == planted


def test_a_drift_of_another_registry_is_another_issue() -> None:
    host = FakeCodeHost(issues=[post(4, f"{issue_marker('.', 'Drift of staging')}\none")])

    assert keep_issue(host, "Drift of production", "one", DRIFT).written is PostAction.CREATED


def test_an_issue_that_is_too_long_is_refused() -> None:
    with pytest.raises(UsageError, match="65,536"):
        keep_issue(FakeCodeHost(), "Drift", "x" * MOST_CHARACTERS, DRIFT)


def test_a_step_that_somebody_ticked_stays_ticked() -> None:
    """Nothing is written either, where the ticks are all that differs."""
    steps = "#### Rollout\n\n- [ ] 1. upgrade billing\n- [ ] 2. merge: registers v1\n"
    host = FakeCodeHost(posts=[post(1, f"{MARKER}\n{steps.replace('- [ ] 1', '- [x] 1')}")])

    assert keep_comment(host, 7, steps, MARKER).written is PostAction.UNCHANGED
    longer = steps.replace("- [ ] 2.", "- [ ] 2. upgrade crm\n- [ ] 3.")
    assert keep_comment(host, 7, longer, MARKER).written is PostAction.UPDATED
    assert host.posts[0].body == f"{MARKER}\n{longer.replace('- [ ] 1', '- [x] 1')}"
