"""The past of files: the commits that changed them, when, and what they held before."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gitops.git.checkout import Checkout

_SPECIAL: Final = re.compile(r"([*?\[\\])")
"""What a pathspec with `glob` does not take as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileVersion:
    """What a file held at some commit: its path from the folder of the schemas, and the blob."""

    path: str
    blob: str


def first_parents(checkout: Checkout, commit: str, paths: Iterable[str], most: int) -> list[str]:
    """The commits that changed one of these files, newest first, `most` of them at most.

    Only along first parents: what was merged counts as one change, as it does for a registry.
    """
    wanted = [checkout.prefix + path for path in sorted(paths)]
    if not wanted:
        return []
    data = checkout.ask(
        *("--literal-pathspecs", "rev-list", "--first-parent", f"--max-count={most}", commit, "--"),
        *wanted,
    )
    return data.decode("ascii").split()


def last_change(checkout: Checkout, commit: str, folder: str) -> str:
    """The day, as `2026-11-20`, on which something in a folder last changed; empty if unknown."""
    return last_commit(checkout, commit, folder)[1]


def last_commit(checkout: Checkout, commit: str, folder: str) -> tuple[str, str]:
    """The commit that last changed something in a folder, and its day; both empty if unknown."""
    text = checkout.line(
        *("--literal-pathspecs", "log", "-1", "--format=%H %cs", commit, "--"),
        checkout.prefix + folder,
    )
    name, _, day = text.partition(" ")
    # At the cut of a shallow clone everything looks as if it had just been written.
    return ("", "") if name in _cuts(checkout) else (name, day)


def oldest_known(checkout: Checkout, commit: str) -> str | None:
    """The commit at which the first parents of a shallow clone end; None for a whole history."""
    cuts = _cuts(checkout)
    if not cuts:
        return None
    last = checkout.ask("rev-list", "--first-parent", commit).decode("ascii").split()[-1]
    return last if last in cuts else None


def replaced_files(checkout: Checkout, commit: str, pattern: str) -> frozenset[FileVersion]:
    """The versions of the files of a glob pattern that a commit up to this one took away.

    All parents count, and a merge counts with each of them: what was on a branch may have been
    applied from there.
    """
    folder = _SPECIAL.sub(r"\\\1", checkout.prefix)
    logged = checkout.ask(
        *("log", "-m", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff", "--format="),
        *("--diff-filter=DMT", commit, "--", f":(top,glob){folder}{pattern}"),
    )
    return frozenset(_replaced(checkout, logged))


def first_commit(checkout: Checkout, commit: str, blob: str) -> str:
    """The oldest of the commits up to this one with a blob; empty if git does not find it."""
    words = ("log", "-m", "--reverse", "--no-ext-diff", "--format=%H", f"--find-object={blob}")
    return checkout.ask(*words, commit).decode("ascii").partition("\n")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitPaths:
    """A commit, and the files below the folder of the schemas that it changed."""

    commit: str
    paths: frozenset[str]


def commits_before(checkout: Checkout, commit: str) -> list[CommitPaths]:
    """A commit and all its ancestors that changed a file, newest first.

    A merge is there once for each parent from which it differs.
    """
    logged = checkout.ask(
        *("log", "-m", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--format=%x00%H"),
        *(commit, "--", *([f":(top,literal){checkout.prefix}"] if checkout.prefix else [])),
    )
    texts: list[tuple[str, set[str]]] = []
    parts = iter(logged.decode("utf-8", "surrogateescape").split("\0"))
    for part in parts:
        if part:  # the first path of a commit is on a line of its own
            texts[-1][1].add(part.removeprefix("\n").removeprefix(checkout.prefix))
        elif name := next(parts, ""):
            texts.append((name, set()))
    return [CommitPaths(commit=name, paths=frozenset(paths)) for name, paths in texts]


def _replaced(checkout: Checkout, logged: bytes) -> Iterator[FileVersion]:
    """`:<mode> <mode> <blob before> <blob after> <status>`, then the path, each ended by NUL."""
    parts = iter(logged.decode("utf-8", "surrogateescape").split("\0"))
    for part in parts:
        head = part.lstrip("\n")
        if head.startswith(":"):
            path = next(parts).removeprefix(checkout.prefix)
            yield FileVersion(path=path, blob=head.split(" ")[2])


def _cuts(checkout: Checkout) -> frozenset[str]:
    if not checkout.is_shallow:
        return frozenset()
    file = Path(checkout.line("rev-parse", "--path-format=absolute", "--git-path", "shallow"))
    return frozenset(file.read_text("ascii").split())
