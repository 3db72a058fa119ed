"""Which files of a commit hold a word: found by git, without reading them here."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from typing import Final

from gitops.git.checkout import Checkout
from gitops.repository.broken_snapshots import SNAPSHOTS

_NONE: Final = 1
"""The exit status of `git grep` where nothing is found."""
_APART: Final = re.compile("[\n\0]")
"""What git takes no pattern with."""
_SPECIAL: Final = re.compile(r"([*?\[\\])")


def files_with(
    checkout: Checkout, commit: str, words: Iterable[str], endings: Iterable[str]
) -> frozenset[str]:
    """The files with one of these endings in which one of the words stands anywhere.

    Paths count from the folder of the schemas. A word with a line end is looked for line by line.
    Recorded histories are not searched: they are many, and mention what they are made from.
    """
    lines = [line for word in words for line in _APART.split(word) if line]
    if not lines:
        return frozenset()
    folder = _SPECIAL.sub(r"\\\1", checkout.prefix)
    found = checkout.ask(
        *("grep", "--files-with-matches", "--null", "--full-name", "--text", "--fixed-strings"),
        *("-f", "-", commit, "--"),
        *(f":(top){folder}*{ending}" for ending in endings),
        f":(top,exclude){folder}{SNAPSHOTS}*.json",
        stdin="\n".join(lines).encode("utf-8", "surrogatepass"),
        answers=(0, _NONE),
    )
    start = f"{commit}:{checkout.prefix}"
    paths = found.decode("utf-8", "surrogateescape").split("\0")
    return frozenset(path.removeprefix(start) for path in paths if path.startswith(start))


def is_known(checkout: Checkout, path: str, commits: Iterable[str]) -> bool:
    """Whether a file of the schemas' folder is in git's index, or in one of these commits."""
    place = posixpath.normpath(f"{checkout.prefix}{path}")
    if place.startswith(("/", "..")):
        return False
    pathspec = f":(top,literal){place}"
    listed = [checkout.ask("ls-files", "-z", "--", pathspec)]
    listed += [checkout.ask("ls-tree", "-z", "--full-tree", one, "--", place) for one in commits]
    return any(listed)
