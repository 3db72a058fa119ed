"""What stands on GitHub: comments and issues."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """A comment or an issue.

    `number` is a comment's id or an issue's number, `author` the login of who wrote it (empty
    where the account is gone), `url` its page for people.
    """

    number: int
    author: str
    body: str
    url: str
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """An edit of neighbouring lines of one file: from line `first` on, `old` becomes `new`."""

    path: str
    first: int
    old: tuple[str, ...]
    new: tuple[str, ...]


class PostAction(Enum):
    """What was done so that a post says what it should."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    CLOSED = "closed"
    NONE = "nothing to close"


@dataclass(frozen=True, slots=True, kw_only=True)
class PostResult:
    """A post that is as it should be, and what that took; `url` is empty where there is none."""

    written: PostAction
    url: str = ""
