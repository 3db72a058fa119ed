"""What GitHub says when it does not do something, in words that tell what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from github import (
    BadAttributeException,
    GithubException,
    RateLimitExceededException,
)
from requests import RequestException

from gitops.model.errors import OutsideError

_NEEDED = "x-accepted-github-permissions"
_FORBIDDEN = 403
_SERVER_ERROR = 500
_UNLOCK = "somebody locked the conversation: unlock it"
_TROUBLE = "GitHub is in trouble: run this again later"
_LATER = "its limit of requests is used up: run this again later"
_HINTS = {
    401: "the token is wrong or has expired: look at GITHUB_TOKEN or GH_TOKEN",
    404: "it does not exist, or the token may not see it (`{permission}`)",
    410: "the repository has no issues: switch them on in its settings",
    429: _LATER,
}


@contextmanager
def answering(what: str, *, permission: str, where: str) -> Iterator[None]:
    """Turn what goes wrong inside into an OutsideError.

    `what` completes "GitHub did not …", `permission` is the one that a workflow's token needs for
    it, as `issues: write`, and `where` names the repository.
    """
    try:
        yield
    except GithubException as error:
        raise OutsideError(
            f"GitHub did not {what}: {_said(error)}",
            where=where,
            hint=_hint(error, permission),
        ) from error
    except RequestException as error:
        # Its message can quote what was sent; the kind of failure says enough.
        raise OutsideError(
            f"GitHub did not {what}: no answer ({type(error).__name__})",
            where=where,
            hint="look at the network, and at GITHUB_API_URL",
        ) from error
    except TimeoutError as error:
        raise OutsideError(
            f"GitHub did not {what}: no answer ({error})",
            where=where,
            hint="run this again later: it looks at what is there before it writes",
        ) from error
    except (BadAttributeException, AssertionError, AttributeError, TypeError, ValueError) as error:
        # The library takes for granted that what answers is GitHub.
        raise OutsideError(
            f"GitHub did not {what}: the answer makes no sense",
            where=where,
            hint="does GITHUB_API_URL lead to GitHub's API, and is there a proxy between?",
        ) from error


def _said(error: GithubException) -> str:
    data: object = error.data
    message = data.get("message") if isinstance(data, dict) else None
    return f"{message or 'no reason given'} (HTTP {error.status})"


def _hint(error: GithubException, permission: str) -> str:
    if isinstance(error, RateLimitExceededException):
        return _LATER
    if error.status == _FORBIDDEN:
        locked = "locked" in _said(error)
        return _UNLOCK if locked else _missing(error.headers or {}, permission)
    if error.status >= _SERVER_ERROR:
        return _TROUBLE
    return _HINTS.get(error.status, "").format(permission=permission)


def _missing(headers: Mapping[str, str | int], permission: str) -> str:
    """The permissions that GitHub itself names, `;` between sets that would each do."""
    named = {name.lower(): str(value) for name, value in headers.items()}.get(_NEEDED, "")
    sets = [
        " and ".join(f"`{_as_key(each)}`" for each in one.split(",")) for one in named.split(";")
    ]
    needed = " or ".join(sets) if named else f"`{permission}`"
    return (
        f"the token lacks {needed}: add it to the job's `permissions:` (the token of a run for a "
        "pull request from a fork can only read: comment from a workflow_run instead)"
    )


def _as_key(text: str) -> str:
    """`pull_requests=write` as a workflow has it: `pull-requests: write`."""
    return text.strip().replace("_", "-").replace("=", ": ")
