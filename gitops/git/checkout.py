"""A clone of a repository, opened for one command without its settings, hooks and filters."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gitops.model.errors import OutsideError, UnreadableFileError, UsageError
from gitops.repository.file_trees import MAX_FILE_BYTES

if TYPE_CHECKING:
    from git import Git

# How git is started: nothing that a clone's settings, hooks or attributes name is run.
#
# A clone may have come in an archive, on a shared folder or from a job that somebody else's code
# ran in: git runs programs that its `.git/config` names. Checked with git 2.39.5.

_KEPT: Final = re.compile(
    r"GIT_(CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+)"
    r"|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM)"
)
"""Where people's own settings are, such as `safe.directory`, and how far up clones are sought."""
_SETTINGS: Final = {
    # A command that is run whenever the index is read
    "core.fsmonitor": "false",
    # post-index-change
    "core.hooksPath": os.devnull,
    # `git log` would run gpg.program
    "log.showSignature": "false",
    # What is in a submodule has settings of its own.
    "submodule.recurse": "false",
}
_VARIABLES: Final = {
    # Nothing is written into the clone.
    "GIT_OPTIONAL_LOCKS": "0",
    # What a partial clone lacks is not fetched: that runs core.sshCommand, credential.helper and
    # remote.*.uploadpack. Git before 2.39.4 knows no such variable, and without any protocol it
    # starts no transport either.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}


def remove_inherited_variables() -> None:
    """Take away the variables that a hook hands down, and those that name programs.

    A hook's GIT_DIR would make git answer for another repository.
    """
    for name in [key for key in os.environ if key.startswith("GIT_")]:
        if not _KEPT.fullmatch(name):
            os.environ.pop(name)


def restrictions(filters: Iterable[str] = ()) -> dict[str, str]:
    """The variables to start git with; they override every file of settings.

    `filters` are the names in `filter.NAME.clean`: git has no switch for all of them. Conversions
    that need no program (line ends, encodings) stay. Git reads them from 2.31 on.
    """
    settings = dict(_SETTINGS)
    for name in filters:
        settings |= {f"filter.{name}.{way}": "" for way in ("clean", "smudge", "process")}
        settings[f"filter.{name}.required"] = "false"
    count = os.environ.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isdecimal() else 0
    grouped = dict(_VARIABLES) | {"GIT_CONFIG_COUNT": str(first + len(settings))}
    for number, (key, value) in enumerate(settings.items(), first):
        grouped |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return grouped


def filter_names(listed: str) -> frozenset[str]:
    """The names of the filters in what `git config --null --list` prints."""
    keys = (text.partition("\n")[0] for text in listed.split("\0"))
    parts = (key.partition(".")[2].rpartition(".") for key in keys if key.startswith("filter."))
    return frozenset(name for name, _, _ in parts if name)


def is_restricted(listed: str) -> bool:
    """Whether git took the restrictions: they are in what `git config --null --list` prints."""
    values = dict(text.partition("\n")[::2] for text in listed.split("\0"))
    return all(values.get(key.lower()) == value for key, value in _SETTINGS.items())


# A clone of a repository, opened for one command: how git is asked, and where the files lie.


_SAID: Final = 300
"""How many characters of git's own words stand in an error."""
_MOST_HELD: Final = 32 * 1024 * 1024
"""How many bytes of blobs are kept."""
_FETCH: Final = "fetch it: git fetch --refetch --no-filter, or clone without --filter"
"""Nothing is fetched here: that would run programs that the clone's settings name."""
_LACKING: Final = "from promisor remote"
_NO_CLONE: Final = "not a git repository"
_NOT_TRUSTED: Final = ("dubious ownership", "unsafe repository")
"""Git's own words, from 2.36 on and before."""


class GitFailedError(OutsideError):
    """Git ended with an error; `where` is the command."""


class Checkout:
    """A clone and the folder in it that holds the schemas.

    `prefix` is that folder from the top of the clone, with a slash at its end; empty for the top.
    """

    def __init__(self, command: Git, root: Path, prefix: str) -> None:
        self._command = command
        self._blobs: dict[str, bytes] = {}
        self._held = 0
        self.root: Final = root
        self.prefix: Final = prefix

    def ask(self, *words: str, stdin: bytes = b"", answers: tuple[int, ...] = (0,)) -> bytes:
        """What a git command prints, run at the top of the clone.

        Raises GitFailedError for an exit status that is not among `answers`.
        """
        return _ask(self._command, *words, stdin=stdin, answers=answers)

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
            size = self._command.get_object_header(name)[2]
            if size > MAX_FILE_BYTES:
                limit = MAX_FILE_BYTES // 1024 // 1024
                raise UnreadableFileError(f"larger than {limit} MiB", where=path)
            return bytes(self._command.get_object_data(name)[3])
        except ValueError as error:
            raise GitFailedError(
                "the clone lacks the content of a file",
                where=path,
                hint=_FETCH,
            ) from error

    @property
    def pathspec(self) -> tuple[str, ...]:
        """The folder for the end of a command; nothing for the top of the clone."""
        return (f":(top,literal){self.prefix}",) if self.prefix else ()

    @property
    def is_shallow(self) -> bool:
        """Whether its history is cut off."""
        return self.line("rev-parse", "--is-shallow-repository") == "true"


@contextmanager
def open_checkout(root: Path) -> Iterator[Checkout]:
    """The clone around a folder; raises UsageError where there is none, GitFailedError."""
    remove_inherited_variables()
    try:
        from git import Git
    except ImportError as error:
        if shutil.which("git"):
            raise UsageError(
                "the git command cannot be started", hint="see `git version` in the same shell"
            ) from error
        raise UsageError(
            "there is no git command", hint="install git, or put it on PATH"
        ) from error
    if not os.access(root, os.X_OK):  # GitPython would run git in the current folder
        raise UsageError("this folder cannot be entered", where=str(root))
    around = Git(root)
    _restrict(around)
    top, prefix = _place(around, root)
    command = Git(top)
    command.update_environment(**around.environment())
    try:
        yield Checkout(command, root, prefix)
    finally:
        command.clear_cache()


def _ask(command: Git, *words: str, stdin: bytes = b"", answers: tuple[int, ...] = (0,)) -> bytes:
    with tempfile.TemporaryFile() as given:
        given.write(stdin)
        given.seek(0)
        status, out, message = command.execute(
            ["git", *words],
            istream=given,
            with_extended_output=True,
            with_exceptions=False,
            stdout_as_string=False,
            strip_newline_in_stdout=False,
        )
    if status not in answers:
        text = " ".join(str(message).split())[:_SAID] or f"exit status {status}"
        hint = _FETCH if _LACKING in text else ""
        raise GitFailedError(f"git failed: {text}", where=f"git {words[0]}", hint=hint)
    return bytes(out)


def _restrict(command: Git) -> None:
    """Switch off what settings name, in the end also the filters; raises GitFailedError."""
    command.update_environment(**restrictions())
    listed = _ask(command, "config", "--null", "--list").decode("utf-8", "surrogateescape")
    if not is_restricted(listed):
        raise GitFailedError(
            "this git cannot be kept from running programs that a clone's settings name",
            where="git config",
            hint="install git 2.31 or newer",
        )
    command.update_environment(**restrictions(filter_names(listed)))


def _place(command: Git, root: Path) -> tuple[Path, str]:
    """The top of the clone and the folder from there; raises UsageError where it is in none."""
    asked = ("rev-parse", "--is-inside-work-tree", "--absolute-git-dir", "--show-prefix")
    try:
        value = _ask(command, *asked).decode("utf-8", "surrogateescape")
    except GitFailedError as error:
        raise _strip_clone(error, root) from error
    inside, _, rest = value.partition("\n")
    git_dir, _, prefix = rest.removesuffix("\n").rpartition("\n")
    whole = root.resolve()
    if not _is_own(whole, Path(git_dir).resolve(), inside=inside == "true"):
        raise UsageError("this folder is not among the files of its clone", where=str(root))
    return [whole, *whole.parents][prefix.count("/")], prefix


def _is_own(root: Path, git_dir: Path, *, inside: bool) -> bool:
    """Whether what git found around a folder is the clone of its files, or a bare repository.

    A bare repository among the files of a clone is none: whoever made the files made its history.
    """
    if root.is_relative_to(git_dir):
        return root == git_dir and not any((above / ".git").exists() for above in git_dir.parents)
    return inside


def has_git_folder(root: Path) -> bool:
    """Whether the folder or one around it has a `.git`, whether or not git can read it."""
    return any((folder / ".git").exists() for folder in (root.resolve(), *root.resolve().parents))


def _strip_clone(error: GitFailedError, root: Path) -> UsageError | GitFailedError:
    """Why git finds no clone around a folder, with what to do."""
    if _NO_CLONE in error.what:
        return UsageError(
            "this folder is not in a git repository",
            where=str(root),
            hint="`check` compares commits: run it in a clone, or use `validate` and `plan`",
        )
    if not any(words in error.what for words in _NOT_TRUSTED):
        return error
    return GitFailedError(
        error.what,
        where=str(root),
        hint="if the folder is yours to trust: git config --global --add safe.directory "
        f"{root.resolve()}",
    )
