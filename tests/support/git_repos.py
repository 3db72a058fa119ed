"""Git repositories for tests: made anew, with nobody's own settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import git


class GitRepository:
    """A repository with a branch `main`, made with GitPython."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.root = folder
        # An empty template: git's own would write a dozen sample hooks.
        self.git("init", "--quiet", "--initial-branch=main", "--template=")
        with git.Repo(folder) as repo, repo.config_writer() as config:
            config.set_value("user", "name", "Ada")
            config.set_value("user", "email", "ada@example.com")
            config.set_value("commit", "gpgsign", "false")
            config.set_value("core", "hooksPath", "/dev/null")

    @classmethod
    def at(cls, folder: Path) -> GitRepository:
        """One that is there already."""
        found = cls.__new__(cls)
        found.root = folder
        return found

    def git(self, *words: str) -> str:
        """Run a git command; answers what it prints."""
        command = git.Git(self.root)
        return str(command.execute(["git", *words]))

    def write(self, files: Mapping[str, str | bytes | None]) -> None:
        """Write files by path; None removes one."""
        for path, content in files.items():
            place = self.root / path
            if content is None:
                place.unlink()
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(
        self, files: Mapping[str, str | bytes | None] | None = None, *, message: str = "a change"
    ) -> str:
        """Write files and commit everything that lies there; answers the commit."""
        self.write(files or {})
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.head

    @property
    def head(self) -> str:
        """The 40 hex digits of what is checked out."""
        return self.git("rev-parse", "HEAD")
