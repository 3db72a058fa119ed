"""A clone of a remote repository for one command: its latest commit, in a temporary folder."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from gitops.git.checkout import GitFailedError, filter_names, restrictions
from gitops.model.errors import UsageError

_URL: Final = re.compile(r"(?:https|ssh|file)://.+|[\w.-]+@[\w.-]+:(?!/?/).+")
"""What is cloned; git itself also runs programs (`ext::`), and reads without encryption."""
_SECRET: Final = re.compile(r"https://[^/]*@|[a-z]+://[^/@]*:[^/@]*@")
_OTHER_FOLDERS: Final = re.compile(
    r"GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|NAMESPACE|PREFIX|OBJECT_DIRECTORY"
    r"|ALTERNATE_OBJECT_DIRECTORIES|TEMPLATE_DIR|QUARANTINE_PATH|CONFIG|CONFIG_PARAMETERS)"
)
"""Variables with which a hook makes git work on another repository."""
_SECONDS: Final = 300
_SAID: Final = 300
"""How many characters of git's own words an error has."""


def is_git_url(text: str) -> bool:
    """Whether it is the URL of a git repository, and no folder."""
    return _URL.fullmatch(text) is not None and not Path(text).exists()


@contextmanager
def clone(url: str) -> Iterator[Path]:
    """The files of the default branch; raises UsageError, GitFailedError.

    Nothing that the repository contains is run: no hooks, no filters, no submodules. Credentials
    are those of the user's own git.
    """
    if _SECRET.match(url):
        raise UsageError(
            "a git URL on a command line contains a user name or a password",
            hint="leave it out; git asks its credential helper, and ssh its agent",
        )
    with tempfile.TemporaryDirectory(prefix="pulsar-gitops-") as made:
        folder = Path(made, "repository")
        _clone(url, folder)
        yield folder


def _clone(url: str, folder: Path) -> None:
    environment = {
        key: value for key, value in os.environ.items() if not _OTHER_FOLDERS.fullmatch(key)
    }
    environment |= restrictions() | {
        "GIT_ALLOW_PROTOCOL": "https:ssh:file",
        "GIT_TERMINAL_PROMPT": "0",
    }
    listed = _git(["config", "--null", "--list"], environment)
    environment |= restrictions(filter_names(listed)) | {"GIT_ALLOW_PROTOCOL": "https:ssh:file"}
    _git(
        [
            *("clone", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules"),
            *("--template=", "--", url, str(folder)),
        ],
        environment,
    )


def _git(words: list[str], environment: dict[str, str]) -> str:
    """What a git command prints; raises UsageError without git, GitFailedError."""
    try:
        done = subprocess.run(  # noqa: S603 - arguments of our own, behind `--` the user's
            ["git", *words],  # noqa: S607 - the user's own git
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_SECONDS,
        )
    except FileNotFoundError as error:
        raise UsageError(
            "there is no git command", hint="install git, or put it on PATH"
        ) from error
    except subprocess.TimeoutExpired:
        raise GitFailedError(
            f"git has not finished after {_SECONDS} s", where=f"git {words[0]}"
        ) from None
    if done.returncode:
        text = done.stderr.decode("utf-8", "replace").strip()[:_SAID]
        raise GitFailedError(
            f"git failed: {text or f'exit status {done.returncode}'}",
            where=f"git {words[0]}",
            hint="clone it by hand to see whether git has access: git clone URL",
        )
    return done.stdout.decode("utf-8", "surrogateescape")
