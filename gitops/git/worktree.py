"""What is checked out, for people to read."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from gitops.git.checkout import open_checkout
from gitops.model.errors import GitopsError

_STATUS: Final = (
    "status",
    "--porcelain=v2",
    "-z",
    "--branch",
    "--no-ahead-behind",
    "--untracked-files=normal",
    # What is changed inside a submodule would be asked with the settings of the submodule.
    "--ignore-submodules=dirty",
)
_COMMIT: Final = "# branch.oid "
_BRANCH: Final = "# branch.head "


def describe(root: Path) -> str | None:
    """`4f1c9e2 main, clean` or `… with local changes`; None outside of git or before a commit."""
    try:
        with open_checkout(root) as checkout:
            listed = checkout.ask(*_STATUS, "--", *checkout.pathspec).decode("utf-8", "replace")
    except GitopsError:
        return None
    lines = listed.split("\0")
    commit, branch = (
        next((line.removeprefix(key) for line in lines if line.startswith(key)), "")
        for key in (_COMMIT, _BRANCH)
    )
    if not commit or commit == "(initial)":
        return None
    is_changed = any(line and not line.startswith("# ") for line in lines)
    name = "detached" if branch == "(detached)" else branch
    return f"{commit[:7]} {name}, {'with local changes' if is_changed else 'clean'}"
