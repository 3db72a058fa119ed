"""A report that another run left as an artifact. Whoever sent the pull request may have made it."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from gitops.model.errors import UsageError

REPORT = "report.md"
PULL_REQUEST = "pull-request.txt"
MOST_BYTES = 4 * 65_536
"""No comment is longer: GitHub takes 65,536 characters, and one has four bytes at most."""

_NUMBER = re.compile(r"[1-9][0-9]{0,9}\n?")
_NUMBER_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """What it claims: a report, and the pull request that it is for."""

    pull_request: int
    report: str


def read_artifact(folder: Path) -> Artifact:
    """Read `report.md` and `pull-request.txt` of a folder; raises UsageError for anything odd.

    Refused are symbolic links and whatever else is no plain file, files that are too large, text
    that is not UTF-8, and a number that is none.
    """
    number = read_plain(folder / PULL_REQUEST, most=_NUMBER_BYTES)
    if not _NUMBER.fullmatch(number):
        raise UsageError(
            f"{folder / PULL_REQUEST} does not hold the number of a pull request",
            hint="nothing of this artifact is used",
        )
    report = read_plain(folder / REPORT, most=MOST_BYTES)
    return Artifact(pull_request=int(number), report=report)


def read_plain(path: Path, *, most: int = MOST_BYTES) -> str:
    """The text of a plain file of at most `most` bytes; raises UsageError."""
    try:
        # Neither does a link lead elsewhere, nor does a pipe keep us waiting.
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(number, "rb") as file:
            if not stat.S_ISREG(os.fstat(number).st_mode):
                raise UsageError(f"{path} is not a plain file")
            content = file.read(most + 1)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {_why(path, error)}") from error
    if len(content) > most:
        raise UsageError(
            f"{path} is larger than {most:,} bytes", hint="GitHub would not take it as a comment"
        )
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not text in UTF-8") from None


def _why(path: Path, error: OSError) -> str:
    return "it is a symbolic link" if path.is_symlink() else str(error.strerror)
