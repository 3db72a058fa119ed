"""The contract of `CommentHost`, kept by GitHub's adapter and by GitLab's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from gitops.hosting.github import GitHubRepository
from gitops.hosting.gitlab import GitLabProject, project_of
from gitops.hosting.workflow import access
from gitops.model.errors import OutsideError, UsageError
from gitops.model.posts import PostAction
from gitops.ports import CommentHost
from gitops.usecases.github import comment_marker, keep_comment
from tests.support import github_stand_in as github
from tests.support import gitlab_stand_in as gitlab

MARKER = comment_marker(".")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A host on its stand-in: request 7, how others write there, and how it refuses to write."""

    host: CommentHost
    stand_in: github.GitHubStandIn | gitlab.GitLabStandIn
    plant: Callable[[str | None, str], None]
    refuse: Callable[[int], None]
    bodies: Callable[[], list[str]]
    token: str


@pytest.fixture(params=["github", "gitlab"])
def case(request: pytest.FixtureRequest) -> Iterator[Case]:
    yield from _github() if request.param == "github" else _gitlab()


def _github() -> Iterator[Case]:
    with github.github_stand_in() as stand_in:
        there = stand_in.comments.setdefault(7, [])
        host = GitHubRepository(access(stand_in.environment))
        yield Case(
            host=host,
            stand_in=stand_in,
            plant=lambda author, body: there.append(github.Stored(len(there), author, body)),
            refuse=lambda status: stand_in.refuse("POST", "/issues/7/comments", status, "no"),
            bodies=lambda: [each.body for each in there],
            token=github.TOKEN,
        )
        host.close()


def _gitlab() -> Iterator[Case]:
    with gitlab.gitlab_stand_in() as stand_in:
        there = stand_in.notes[7]
        host = GitLabProject(project_of(stand_in.environment))
        yield Case(
            host=host,
            stand_in=stand_in,
            plant=lambda author, body: there.append(gitlab.Note(len(there), author, body)),
            refuse=lambda status: stand_in.refuse("POST", status, {"message": "no"}),
            bodies=lambda: [each.body for each in there],
            token=gitlab.TOKEN,
        )
        host.close()


@pytest.mark.slow
def test_there_is_one_comment_that_is_kept_up_to_date(case: Case) -> None:
    for number in range(3):  # ours is not on the first page
        case.plant("ada", f"text {number}")

    written = [keep_comment(case.host, 7, text, MARKER).written for text in ("one", "two", "two")]

    assert written == [PostAction.CREATED, PostAction.UPDATED, PostAction.UNCHANGED]
    assert case.bodies()[3:] == [f"{MARKER}\ntwo"]
    assert len(case.stand_in.writes) == 2


def test_what_is_written_can_be_visited(case: Case) -> None:
    first = keep_comment(case.host, 7, "one", MARKER)
    assert first.url.startswith("https://")
    assert keep_comment(case.host, 7, "one", MARKER).url == first.url


def test_a_marker_of_somebody_else_is_left_alone(case: Case) -> None:
    case.plant("mallory", f"{MARKER}\nAll good")
    case.plant(None, f"{MARKER}\nof an account that is gone")

    assert keep_comment(case.host, 7, "refused", MARKER).written is PostAction.CREATED


def test_a_ticked_step_survives(case: Case) -> None:
    steps = "#### Rollout\n\n- [ ] 1. upgrade billing\n- [ ] 2. merge\n"
    ticked = steps.replace("[ ] 1", "[x] 1").replace("\n", "\r\n")
    case.plant(case.host.login(), f"{MARKER}\r\n{ticked}")

    assert keep_comment(case.host, 7, steps, MARKER).written is PostAction.UNCHANGED
    keep_comment(case.host, 7, f"{steps}- [ ] 3. look\n", MARKER)
    assert "- [x] 1. upgrade billing\n- [ ] 2. merge\n- [ ] 3. look" in case.bodies()[0]


def test_a_text_of_just_the_length_is_written_and_a_longer_one_refused(case: Case) -> None:
    longest = "x" * (case.host.most_characters - len(MARKER) - 1)

    assert keep_comment(case.host, 7, longest, MARKER).written is PostAction.CREATED
    with pytest.raises(UsageError, match=case.host.name):
        keep_comment(case.host, 7, f"{longest}x", MARKER)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 500, 503])
def test_a_refusal_says_so_once_and_never_the_token(case: Case, status: int) -> None:
    """A write is not tried again: it could be done twice."""
    case.refuse(status)

    with pytest.raises(OutsideError, match=f"{case.host.name} did not write.*{status}") as refused:
        keep_comment(case.host, 7, "text", MARKER)

    assert case.token not in f"{refused.value!r}{refused.value.where}{refused.value.hint}"
    assert not case.bodies()
