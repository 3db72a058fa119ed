"""One comment, or one issue, that always says how things are: found again, and updated in place."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from gitops.hosting.checklist import keep_ticks
from gitops.hosting.suggestions import (
    MOST_SUGGESTIONS,
    marker_start,
    placed,
    suggestion_marker,
    suggestion_text,
    suggestions_of,
)
from gitops.model.errors import OutsideError, UsageError
from gitops.model.posts import Post, PostAction, PostResult
from gitops.ports import CodeHost, CommentHost

_MOST_FILES = 3000
_WORKFLOWS = ".github/"


def comment_marker(path: str) -> str:
    """The first line of the comment about the schemas repository at `path`; nobody sees it."""
    return f"<!-- pulsar-gitops: check of {quote(path)} -->"


def issue_marker(path: str, title: str) -> str:
    """The first line of the issue with that title about the schemas repository at `path`."""
    return f"<!-- pulsar-gitops: {quote(title)} of {quote(path)} -->"


def keep_comment(host: CommentHost, pull_request: int, report: str, marker: str) -> PostResult:
    """Have one comment that says `report`; writes nothing where it is there already.

    Steps that people ticked stay ticked. Raises UsageError for a report that is too long.
    """
    body = _body(host, report, marker)
    comment = _own_post(host, host.comments(pull_request), marker)
    if comment is None:
        return PostResult(written=PostAction.CREATED, url=host.add_comment(pull_request, body).url)
    body = keep_ticks(comment.body, body)
    if _same(comment.body, body):
        return PostResult(written=PostAction.UNCHANGED, url=comment.url)
    host.edit_comment(pull_request, comment, body)
    return PostResult(written=PostAction.UPDATED, url=comment.url)


def relay_comment(
    host: CodeHost, pull_request: int, report: str, marker: str, *, head: str
) -> PostResult:
    """`keep_comment` with what a run for commit `head` claims; raises OutsideError if it lies.

    The pull request has to be the one whose newest commit that run checked, and may not change
    what the run itself does: then its author could have written anything into the report.
    """
    if (value := host.head_of(pull_request)) != head:
        raise OutsideError(
            f"the report is about commit {head}, and pull request #{pull_request} is at {value}",
            hint="nothing was written; the run for the newest commit comments by itself",
        )
    changed = list(host.changed_paths(pull_request))
    if len(changed) >= _MOST_FILES or any(path.startswith(_WORKFLOWS) for path in changed):
        raise OutsideError(
            f"pull request #{pull_request} changes {_WORKFLOWS}, and so perhaps what is reported"
            if len(changed) < _MOST_FILES
            else f"pull request #{pull_request} changes more files than GitHub lists",
            hint="nothing was written; the report is in the summary of the run that checked it",
        )
    return keep_comment(host, pull_request, report, marker)


def keep_suggestions(host: CodeHost, pull_request: int, report: str, folder: str) -> int:
    """Have each one-place edit of a report in JSON as a suggestion; answers how many are new.

    One that is there stays, one that the report no longer has is deleted. With more than
    MOST_SUGGESTIONS there are none: the comment has them all.

    A report that a stranger left is safe: a suggestion is only on lines which GitHub itself says
    the pull request changes to exactly that text, and does nothing until somebody accepts it.
    """
    wanted = placed(suggestions_of(report, folder), dict(host.diffs(pull_request)))
    if len(wanted) > MOST_SUGGESTIONS:
        wanted = []
    missing = {suggestion_marker(suggestion, folder): suggestion for suggestion in wanted}
    login = host.login()
    for post in list(host.line_comments(pull_request)):
        if post.author != login or not post.body.startswith(marker_start(folder)):
            continue
        if missing.pop(post.body.split("\n")[0].strip(), None) is None:
            host.delete_line_comment(pull_request, post)
    if not missing:
        return 0
    head = host.head_of(pull_request)
    return sum(
        host.add_line_comment(pull_request, head, suggestion, suggestion_text(suggestion, folder))
        for suggestion in missing.values()
    )


def keep_issue(host: CodeHost, title: str, report: str, marker: str) -> PostResult:
    """Have one open issue that says `report`; writes nothing where it is there already.

    Raises UsageError for a report that is too long.
    """
    body = _body(host, report, marker)
    issue = _own_post(host, host.open_issues(), marker)
    if issue is None:
        return PostResult(written=PostAction.CREATED, url=host.add_issue(title, body).url)
    if _same(issue.body, body) and issue.title == title:
        return PostResult(written=PostAction.UNCHANGED, url=issue.url)
    host.edit_issue(issue, title, body)
    return PostResult(written=PostAction.UPDATED, url=issue.url)


def close_issue(host: CodeHost, marker: str) -> PostResult:
    """Close the issue that `keep_issue` keeps, where it is open."""
    issue = _own_post(host, host.open_issues(), marker)
    if issue is None:
        return PostResult(written=PostAction.NONE)
    host.close_issue(issue)
    return PostResult(written=PostAction.CLOSED, url=issue.url)


def _own_post(host: CommentHost, posts: Iterable[Post], marker: str) -> Post | None:
    """The oldest post with the marker by whoever the token belongs to: others can copy a marker."""
    login = host.login()
    return next(
        (post for post in posts if post.author == login and post.body.startswith(marker)), None
    )


def _body(host: CommentHost, report: str, marker: str) -> str:
    body = f"{marker}\n{report}"
    if len(body) > host.most_characters:
        raise UsageError(
            f"the report has {len(report):,} characters, and {host.name} accepts "
            f"{host.most_characters:,} with the hidden line that we add",
            hint="reports of `check --format markdown` are cut to fit; cut this one too",
        )
    return body


def _same(there: str, body: str) -> bool:
    """A host may give line ends and blank ends back in another form."""
    return there.replace("\r\n", "\n").strip() == body.replace("\r\n", "\n").strip()
