"""Files that people name, and files of a repository that commands write."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from gitops.model.errors import UsageError


def read_definition(path: Path) -> str:
    """The text of a file that somebody names on the command line; raises UsageError."""
    try:
        return path.read_bytes().decode()
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


def write_files(root: Path, files: Mapping[str, bytes]) -> int:
    """Write path → content below `root`; answers how many differed from what was there.

    Nothing is written through a symbolic link that leads outside. Raises UsageError.
    """
    changed = 0
    base = root.resolve()
    for path, content in sorted(files.items()):
        place = root / path
        try:
            if not real_path(place).is_relative_to(base):
                raise UsageError(f"{path} leads outside the repository")
            changed += _write(place, content)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from error
    return changed


def replace_files(root: Path, old: Iterable[str], files: Mapping[str, bytes]) -> int:
    """`write_files`, and remove the old files that are no longer wanted."""
    changed = write_files(root, files)
    for path in sorted(set(old) - set(files)):
        (root / path).unlink(missing_ok=True)
        changed += 1
    return changed


def _write(place: Path, content: bytes) -> bool:
    if place.is_file() and place.read_bytes() == content:
        return False
    place.parent.mkdir(parents=True, exist_ok=True)
    partial = place.with_name(f".{place.name}.partial")
    try:
        partial.write_bytes(content)
        if place.exists():
            shutil.copymode(place, partial)
        partial.replace(place)
    finally:
        partial.unlink(missing_ok=True)
    return True


def nearest_repository(folder: Path) -> Path:
    """The nearest folder upwards with a `gitops.yaml`; the folder itself where there is none."""
    above = folder
    for _ in folder.resolve().parents:
        if (above / "gitops.yaml").is_file():
            return above
        above = above / ".."
    return folder
