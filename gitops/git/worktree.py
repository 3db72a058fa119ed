"""What is checked out, for people to read."""

from __future__ import annotations

import os
from pathlib import Path

from gitops.git.environment import forget_inherited


def describe(root: Path) -> str | None:
    """`4f1c9e2 main, clean` or `… with local changes`; None outside of git or before a commit."""
    forget_inherited()
    try:
        import git
    except ImportError:  # GitPython refuses to be imported where there is no git command
        return None
    try:
        with git.Repo(root, search_parent_directories=True) as repo:
            commit = repo.head.commit.hexsha[:7]
            branch = "detached" if repo.head.is_detached else repo.active_branch.name
            changed = repo.is_dirty(untracked_files=True, path=os.fspath(root.resolve()))
    except (git.GitError, ValueError):
        return None
    return f"{commit} {branch}, {'with local changes' if changed else 'clean'}"
