"""A CodeHost in memory, which counts what is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from gitops.model.posts import Post, Suggestion

ME = "github-actions[bot]"


def post(number: int, body: str, *, author: str = ME, title: str = "") -> Post:
    """A comment or an issue."""
    return Post(number=number, author=author, body=body, url=f"https://x/{number}", title=title)


@dataclass(slots=True, kw_only=True)
class FakeCodeHost:
    """One pull request with its comments, and the open issues of a repository."""

    name: str = "GitHub"
    most_characters: int = 65_536
    head: str = "a" * 40
    files: list[str] = field(default_factory=lambda: ["namespaces/shop/orders/a.avsc"])
    posts: list[Post] = field(default_factory=list)
    issues: list[Post] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    patches: dict[str, str] = field(default_factory=dict)
    on_lines: list[Post] = field(default_factory=list)
    refused: bool = False

    def login(self) -> str:
        return ME

    def head_of(self, _pull_request: int) -> str:
        return self.head

    def changed_paths(self, _pull_request: int) -> Iterator[str]:
        yield from self.files

    def comments(self, _pull_request: int) -> Iterator[Post]:
        yield from self.posts

    def add_comment(self, pull_request: int, body: str) -> Post:
        self.writes.append(f"comment on {pull_request}")
        self.posts.append(post(len(self.posts) + 1, body))
        return self.posts[-1]

    def edit_comment(self, _pull_request: int, comment: Post, body: str) -> None:
        self.writes.append(f"edit {comment.number}")
        self.posts = [replace(each, body=body) if each == comment else each for each in self.posts]

    def diffs(self, _pull_request: int) -> Iterator[tuple[str, str]]:
        yield from self.patches.items()

    def line_comments(self, _pull_request: int) -> Iterator[Post]:
        yield from self.on_lines

    def add_line_comment(
        self, pull_request: int, _head: str, suggestion: Suggestion, body: str
    ) -> bool:
        if not self.refused:
            self.writes.append(f"suggest on {pull_request} {suggestion.path}:{suggestion.first}")
            self.on_lines.append(post(len(self.writes), body))
        return not self.refused

    def delete_line_comment(self, _pull_request: int, comment: Post) -> None:
        self.writes.append(f"delete {comment.number}")
        self.on_lines.remove(comment)

    def open_issues(self) -> Iterator[Post]:
        yield from self.issues

    def add_issue(self, title: str, body: str) -> Post:
        self.writes.append(f"open {title}")
        self.issues.append(post(len(self.issues) + 1, body, title=title))
        return self.issues[-1]

    def edit_issue(self, issue: Post, title: str, body: str) -> None:
        self.writes.append(f"edit {issue.number}")
        self.issues = [
            replace(each, title=title, body=body) if each == issue else each for each in self.issues
        ]

    def close_issue(self, issue: Post) -> None:
        self.writes.append(f"close {issue.number}")
        self.issues.remove(issue)
