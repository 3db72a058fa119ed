"""Files that people name, and files of a repository that commands write."""

from __future__ import annotations

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


def write_files(root: Path, files: Mapping[str, bytes]) -> int:
    """Write path → content below `root`; answers how many differed from what was there.

    Nothing is written through a symbolic link that leads outside. Raises UsageError.
    """
    changed = 0
    base = root.resolve()
    for path, content in sorted(files.items()):
        place = root / path
        if not _is_inside(place, base):
            raise UsageError(f"{path} leads outside the repository")
        try:
            changed += _write(place, content)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from error
    return changed


def _is_inside(place: Path, base: Path) -> bool:
    try:
        return place.resolve().is_relative_to(base)
    except (OSError, RuntimeError):  # a link that leads to itself leads nowhere
        return False


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
