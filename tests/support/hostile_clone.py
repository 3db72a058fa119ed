"""A clone whose settings, hooks and attributes name programs, each of which notes that it ran."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

from tests.support.git_repos import GitRepository

_HOOKS: Final = ("post-index-change", "post-checkout", "pre-auto-gc", "reference-transaction")
_FILTERS: Final = {"plain": "*.yaml", "with=sign": "*.avsc", "in.two.parts": ".gitignore"}
_SETTINGS: Final = (
    "alias.diff",
    "alias.ls-tree",
    "core.alternateRefsCommand",
    "core.askPass",
    "core.editor",
    "core.gitProxy",
    "core.pager",
    "core.sshCommand",
    "credential.helper",
    "diff.external",
    "diff.shown.command",
    "diff.shown.textconv",
    "gpg.program",
    "gpg.ssh.program",
    "gpg.x509.program",
    "interactive.diffFilter",
    "merge.shown.driver",
    "pager.diff",
    "pager.log",
    "pager.status",
    "remote.origin.receivepack",
    "remote.origin.uploadpack",
    "sequence.editor",
    "submodule.vendor.update",
    "trailer.shown.command",
    "uploadpack.packObjectsHook",
)
_VARIABLES: Final = (
    "GIT_ASKPASS",
    "GIT_EDITOR",
    "GIT_EXTERNAL_DIFF",
    "GIT_PAGER",
    "GIT_PROXY_COMMAND",
    "GIT_SEQUENCE_EDITOR",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
)


class HostileClone:
    """Plants programs in a clone that has a commit; `ran` names those that git started since."""

    def __init__(self, repo: GitRepository, folder: Path) -> None:
        self.repo = repo
        self._notes = folder / "notes"
        self._notes.mkdir(parents=True)
        self._programs = folder / "programs"
        self._programs.mkdir()
        self._other = folder / "included"

    def program(self, name: str, then: str = "exit 1") -> str:
        """A program that notes `name` first; its path needs no quoting."""
        number = len(list(self._programs.iterdir()))
        path = self._programs / f"p{number}"
        path.write_text(f"#!/bin/sh\necho >'{self._notes}/{name}'\n{then}\n", "utf-8")
        path.chmod(0o755)
        return str(path)

    def ran(self) -> set[str]:
        """The names of the programs that were started since the last call."""
        found = {note.name for note in self._notes.iterdir()}
        for name in found:
            (self._notes / name).unlink()
        return found

    def plant(self) -> None:
        """Name a program wherever git would take one from the clone."""
        repo = self.repo
        repo.git("config", "--unset", "core.hooksPath")
        for key in _SETTINGS:
            value = self.program(key)
            repo.git(
                "config", key, f"!{value}" if key.startswith(("alias", "submodule")) else value
            )
        for name in _FILTERS:
            for way in ("clean", "smudge"):
                repo.git("config", f"filter.{name}.{way}", self.program(f"{way} {name}", "cat"))
            repo.git("config", f"filter.{name}.required", "true")
        repo.git("config", "filter.long.process", self.program("process"))
        repo.git("config", "log.showSignature", "true")
        repo.git("config", "submodule.recurse", "true")
        self._submodule()
        self._signature()
        self._hooks(repo.root / ".git" / "hooks")
        self._included()
        self._attributes()
        self.ran()

    def environment(self) -> dict[str, str]:
        """Variables that name programs."""
        override = f"'core.fsmonitor={self.program('GIT_CONFIG_PARAMETERS')}'"
        named = {name: self.program(name) for name in _VARIABLES}
        return {**named, "GIT_CONFIG_PARAMETERS": override}

    def touch(self) -> None:
        """Change the times of all files: git has to look into each."""
        for path in self.repo.root.rglob("*"):
            if ".git" not in path.parts and path.is_file():
                path.touch()

    def _hooks(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        for name in _HOOKS:
            (folder / name).symlink_to(self.program(name))

    def _included(self) -> None:
        """`core.fsmonitor` by way of an included file, hooks by way of the worktree's own."""
        text = f"[core]\n\tfsmonitor = {self.program('fsmonitor')}\n"
        self._other.write_text(text, "utf-8")
        self.repo.git("config", "include.path", str(self._other))
        self.repo.git("config", "extensions.worktreeConfig", "true")
        self.repo.git("config", "--worktree", "core.hooksPath", ".git/hooks")

    def _attributes(self) -> None:
        """Each filter for other files, wherever attributes are read from."""
        info = self.repo.root / ".git" / "info" / "attributes"
        info.parent.mkdir(exist_ok=True)
        info.write_text("*.md filter=long diff=shown\n*.json diff=shown\n", "utf-8")
        lines = [f"{files} filter={name} diff=shown\n" for name, files in _FILTERS.items()]
        (self.repo.root / ".gitattributes").write_text("".join(lines), "utf-8")

    def _submodule(self) -> None:
        inner = GitRepository(self.repo.root / "vendor")
        inner.commit({"a": "1"})
        inner.git("config", "core.fsmonitor", self.program("fsmonitor of a submodule"))
        link = f"160000,{inner.head},vendor"
        self.repo.git("update-index", "--add", "--cacheinfo", link)

    def _signature(self) -> None:
        """A commit on top that says it is signed."""
        tree = self.repo.git("write-tree")
        who = "Ada <ada@example.com> 1767225600 +0000"
        lines = [
            f"tree {tree}",
            f"parent {self.repo.head}",
            f"author {who}",
            f"committer {who}",
            "gpgsig -----BEGIN PGP SIGNATURE-----",
            " ",
            " AAAA",
            " -----END PGP SIGNATURE-----",
            "",
            "signed",
            "",
        ]
        made = subprocess.run(
            ["git", "hash-object", "-t", "commit", "-w", "--stdin"],
            cwd=self.repo.root,
            input="\n".join(lines).encode(),
            capture_output=True,
            check=True,
        )
        self.repo.git("update-ref", "HEAD", made.stdout.decode().strip())
