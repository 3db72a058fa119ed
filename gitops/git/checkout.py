"""A clone of a repository, opened for one command: how git is asked, and where the files lie."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gitops.git.environment import forget_inherited
from gitops.model.errors import OutsideError, UnreadableFileError, UsageError
from gitops.repository.files import MAX_FILE_BYTES

if TYPE_CHECKING:
    import git

_SAID: Final = 300
"""How many characters of git's own words stand in an error."""
_MOST_HELD: Final = 32 * 1024 * 1024
"""How many bytes of blobs are kept."""


class GitFailedError(OutsideError):
    """Git ended with an error; `where` is the command."""


class Checkout:
    """A clone and the folder in it that holds the schemas.

    `prefix` is that folder from the top of the clone, with a slash at its end; empty for the top.
    """

    def __init__(self, repo: git.Repo, root: Path) -> None:
        self._repo = repo
        self._blobs: dict[str, bytes] = {}
        self._held = 0
        self.root: Final = root
        top = repo.working_tree_dir
        inside = root.resolve().relative_to(Path(top).resolve()).as_posix() if top else "."
        self.prefix: Final = "" if inside == "." else f"{inside}/"

    def ask(self, *words: str, stdin: bytes = b"", answers: tuple[int, ...] = (0,)) -> bytes:
        """What a git command prints.

        Raises GitFailedError for an exit status that is not among `answers`.
        """
        with tempfile.TemporaryFile() as given:
            given.write(stdin)
            given.seek(0)
            status, out, said = self._repo.git.execute(
                ["git", *words],
                istream=given,
                with_extended_output=True,
                with_exceptions=False,
                stdout_as_string=False,
                strip_newline_in_stdout=False,
            )
        if status not in answers:
            text = str(said)[:_SAID].strip() or f"exit status {status}"
            raise GitFailedError(f"git failed: {text}", where=f"git {words[0]}")
        return bytes(out)

    def line(self, *words: str, answers: tuple[int, ...] = (0,)) -> str:
        """What a command prints, of which a single line is expected."""
        return self.ask(*words, answers=answers).decode("utf-8", "replace").strip()

    def blob(self, name: str, path: str) -> bytes:
        """The content of a blob; raises UnreadableFileError for one that is too large.

        Most blobs of a change are read again in its other version: the first of them are kept.
        """
        if (known := self._blobs.get(name)) is not None:
            return known
        content = self._read(name, path)
        if self._held + len(content) <= _MOST_HELD:
            self._held += len(content)
            self._blobs[name] = content
        return content

    def _read(self, name: str, path: str) -> bytes:
        try:
            size = self._repo.git.get_object_header(name)[2]
            if size > MAX_FILE_BYTES:
                limit = MAX_FILE_BYTES // 1024 // 1024
                raise UnreadableFileError(f"larger than {limit} MiB", where=path)
            return bytes(self._repo.git.get_object_data(name)[3])
        except ValueError as error:
            raise GitFailedError(
                "the clone lacks the content of a file",
                where=path,
                hint="fetch it: git fetch --refetch, or clone without --filter",
            ) from error

    @property
    def is_shallow(self) -> bool:
        """Whether its history is cut off."""
        return self.line("rev-parse", "--is-shallow-repository") == "true"


@contextmanager
def open_checkout(root: Path) -> Iterator[Checkout]:
    """The clone around a folder; raises UsageError where there is none, GitFailedError."""
    forget_inherited()
    try:
        import git
    except ImportError as error:
        raise UsageError(
            "there is no git command", hint="install git, or put it on PATH"
        ) from error
    try:
        repo = git.Repo(root.resolve(), search_parent_directories=True)
    except (git.InvalidGitRepositoryError, git.NoSuchPathError) as error:
        raise UsageError(
            "this folder is not in a git repository",
            where=str(root),
            hint="`check` compares commits: run it in a clone, or use `validate` and `plan`",
        ) from error
    with repo:
        top = repo.working_tree_dir
        if top and not root.resolve().is_relative_to(Path(top).resolve()):
            raise UsageError("this folder is not among the files of its clone", where=str(root))
        checkout = Checkout(repo, root)
        _require_trust(checkout)
        yield checkout


def _require_trust(checkout: Checkout) -> None:
    """Fail now where git will not work in a folder that belongs to somebody else."""
    try:
        checkout.line("rev-parse", "--git-dir")
    except GitFailedError as error:
        raise GitFailedError(
            error.what,
            where=str(checkout.root),
            hint="if the folder is yours to trust: git config --global --add safe.directory "
            f"{checkout.root.resolve()}",
        ) from error
