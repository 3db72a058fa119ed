"""Files that people name and commands write: their names, reading, writing all or nothing."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from errno import EISDIR
from pathlib import Path
from typing import Final

from gitops.model.errors import UsageError
from gitops.model.names import TopicName
from gitops.schemas.protobuf_native.wire_format import (
    DESCRIPTOR_SET,
    DESCRIPTOR_SET_HINT,
    is_descriptor_set,
)

_SAFE: Final = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9_-])?")
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]+")
_DEVICE: Final = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_NUMBER: Final = re.compile(r"(?:-\d+)?")
_LAST_NUMBER: Final = re.compile(r"-\d+$")
_MAX_SLUG: Final = 60


class FileNames:
    """Gives each topic a stem of its own, on file systems that fold case too."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = {path.lower() for path in taken}

    def stem(self, topic: TopicName, files: Callable[[str], Iterable[str]]) -> str:
        """A stem for which all of `files(stem)` are free; they are taken from now on.

        The topic's own name if that will do, else one made of it and a part of its hash.
        """
        for stem in self._candidates(topic):
            wanted = {path.lower() for path in files(stem)}
            if not wanted & self._taken:
                self._taken |= wanted
                return stem
        raise AssertionError("there are endless candidates")

    def is_taken(self, path: str) -> bool:
        """Whether a file is there already, or will be, under whatever case."""
        return path.lower() in self._taken

    @classmethod
    def fits(cls, topic: TopicName, stem: str) -> bool:
        """Whether a stem is one that this topic may have got."""
        return cls.fitting(topic)(stem)

    @classmethod
    def fitting(cls, topic: TopicName) -> Callable[[str], bool]:
        """`fits` for many stems of one topic."""
        own, made = cls.bases(topic)

        def fits(stem: str) -> bool:
            if stem == own:
                return True
            return stem.startswith(made) and _NUMBER.fullmatch(stem, len(made)) is not None

        return fits

    @classmethod
    def bases(cls, topic: TopicName) -> tuple[str, str]:
        """What the stems of a topic begin with: its own name, and the one that may get a number."""
        own = topic.local_name
        return own, next(candidate for candidate in cls._candidates(topic) if candidate != own)

    @staticmethod
    def base(stem: str) -> str:
        """The stem without the number at its end."""
        return _LAST_NUMBER.sub("", stem)

    @staticmethod
    def _candidates(topic: TopicName) -> Iterable[str]:
        name = topic.local_name
        if _SAFE.fullmatch(name) and not _DEVICE.fullmatch(name):
            yield name
        slug = _UNSAFE.sub("-", name).strip("-")[:_MAX_SLUG] or "topic"
        digest = hashlib.sha256(str(topic).encode("utf-8", "surrogatepass")).hexdigest()
        yield f"{slug}-{digest[:8]}"
        count = 2
        while True:
            yield f"{slug}-{digest[:8]}-{count}"
            count += 1


# Files that people name, and files of a repository that commands write.


def read_definition(path: Path) -> str:
    """The text of a file that somebody names on the command line; raises UsageError."""
    try:
        data = path.read_bytes()
        if is_descriptor_set(data):
            raise UsageError(f"{path} is {DESCRIPTOR_SET}", hint=DESCRIPTOR_SET_HINT)
        return data.decode()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8") from None


def real_path(path: Path) -> Path:
    """Where a path leads through symbolic links, whether or not anything is there.

    Raises OSError for a link that leads to itself, on which `Path.resolve` raises RuntimeError
    before Python 3.13 and nothing from then on.
    """
    try:
        return Path(os.path.realpath(path, strict=True))
    except (FileNotFoundError, NotADirectoryError):
        return Path(os.path.realpath(path))


def require_inside(root: Path, path: Path) -> None:
    """Raise UsageError for a path below `root` that a symbolic link leads out of it.

    Whoever commits a link must not choose what a command writes elsewhere. A path that is outside
    by its own words was named on purpose.
    """
    try:
        leads_out = not real_path(path).is_relative_to(real_path(root))
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
    except ValueError:  # a NUL in the name
        raise UsageError(f"cannot write {path}: no such file can be") from None
    if leads_out and Path(os.path.abspath(path)).is_relative_to(os.path.abspath(root)):  # noqa: PTH100
        raise UsageError(
            f"{path} leads outside the repository: a symbolic link is on its way",
            hint="remove the link, or name another file",
        )


def write_files(root: Path, files: Mapping[str, bytes], removed: Iterable[str] = ()) -> int:
    """Write path → content below `root`; answers how many differed from what was there.

    All are written beside their places before the first one takes its own, so that an error
    leaves everything as it was; `removed` are then deleted. Nothing is written through a symbolic
    link that leads outside. Raises UsageError.
    """
    base = root.resolve()
    staged: list[tuple[str, Path]] = []
    try:
        for path, content in sorted(files.items()):
            with _naming_errors("write", path):
                if not real_path(root / path).is_relative_to(base):
                    raise UsageError(f"{path} leads outside the repository")
                if not _is_so(root / path, content):
                    staged.append((path, root / path))
                    _stage(root / path, content)
        _put_in_place(staged)
    finally:
        for _, place in staged:
            with suppress(OSError):  # mostly it has its place, or there was none for it
                _partial(place).unlink()
    gone = sorted(set(removed))
    for path in gone:
        with _naming_errors("remove", path):
            if not real_path((root / path).parent).is_relative_to(base):
                raise UsageError(f"{path} leads outside the repository")
            (root / path).unlink(missing_ok=True)
    return len(staged) + len(gone)


def replace_files(root: Path, old: Iterable[str], files: Mapping[str, bytes]) -> int:
    """`write_files`, and remove the old files that are no longer wanted."""
    return write_files(root, files, set(old) - set(files))


@contextmanager
def _naming_errors(what: str, path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"cannot {what} {path}: {error.strerror}") from error


def _put_in_place(staged: Sequence[tuple[str, Path]]) -> None:
    done: list[str] = []
    for path, place in staged:
        try:
            _partial(place).replace(place)
        except OSError as error:
            hint = f"written before it: {', '.join(done)}" if done else ""
            raise UsageError(f"cannot write {path}: {error.strerror}", hint=hint) from error
        done.append(path)


def _is_so(place: Path, content: bytes) -> bool:
    return place.is_file() and place.read_bytes() == content


def _stage(place: Path, content: bytes) -> None:
    """Write what a file shall be beside it."""
    if place.is_dir():
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
    place.parent.mkdir(parents=True, exist_ok=True)
    partial = _partial(place)
    partial.write_bytes(content)
    if place.exists():
        shutil.copymode(place, partial)


def _partial(place: Path) -> Path:
    return place.with_name(f".{place.name}.partial")


def nearest_repository(folder: Path) -> Path:
    """The nearest folder upwards with a `gitops.yaml`; the folder itself where there is none."""
    above = folder
    for _ in folder.resolve().parents:
        if (above / "gitops.yaml").is_file():
            return above
        above = above / ".."
    return folder
