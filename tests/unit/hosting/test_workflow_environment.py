"""What a workflow's environment says, and what it may not say."""

from __future__ import annotations

import pytest

from gitops.hosting.workflow import access, pull_request_of
from gitops.model.errors import UsageError

GOOD = {"GITHUB_REPOSITORY": "acme/schemas", "GITHUB_TOKEN": "ghs_secret"}


def test_github_itself_is_the_default() -> None:
    found = access(GOOD)

    assert found.repository == "acme/schemas"
    assert found.api == "https://api.github.com"
    assert found.token == "ghs_secret"


def test_a_github_enterprise_server_has_its_own_address() -> None:
    assert access(GOOD | {"GITHUB_API_URL": "https://git.acme.example/api/v3/"}).api == (
        "https://git.acme.example/api/v3"
    )


def test_gh_token_will_do() -> None:
    assert access({"GITHUB_REPOSITORY": "acme/schemas", "GH_TOKEN": "other"}).token == "other"


def test_the_token_is_not_shown() -> None:
    assert "ghs_secret" not in repr(access(GOOD))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"GITHUB_TOKEN": ""}, "neither GITHUB_TOKEN nor GH_TOKEN"),
        ({"GITHUB_TOKEN": "ghs_secret\n"}, "characters that no token has"),
        ({"GITHUB_REPOSITORY": ""}, "GITHUB_REPOSITORY is not set"),
        ({"GITHUB_REPOSITORY": "acme/schemas/../other"}, "GITHUB_REPOSITORY is"),
        ({"GITHUB_REPOSITORY": "acme/.."}, "GITHUB_REPOSITORY is"),
        ({"GITHUB_API_URL": "git.acme.example"}, "not the URL of an API"),
        ({"GITHUB_API_URL": "https://[::1"}, "not the URL of an API"),
        ({"GITHUB_API_URL": "https://ada:pw@git.acme.example"}, "not the URL of an API"),
        ({"GITHUB_API_URL": "http://git.acme.example"}, "could be overheard"),
        ({"GITHUB_API_URL": "ftp://git.acme.example"}, "could be overheard"),
    ],
)
def test_what_will_not_do_is_said(changed: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said) as stopped:
        access(GOOD | changed)
    assert "ghs_secret" not in stopped.value.what
    assert stopped.value.hint


def test_the_run_says_which_pull_request_it_is_for() -> None:
    assert pull_request_of({"GITHUB_REF": "refs/pull/7/merge"}) == 7


@pytest.mark.parametrize("ref", ["", "refs/heads/main", "refs/pull/0/merge", "refs/pull/7/merge\n"])
def test_another_run_is_for_none(ref: str) -> None:
    with pytest.raises(UsageError, match="not for a pull request"):
        pull_request_of({"GITHUB_REF": ref})
