"""Where the template of a new schemas repository lies."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from gitops.model.errors import UsageError
from gitops.repository.own_wheel import own_wheel
from gitops.repository.shipped_files import shipped_folder

_ACTION: Final = Path(".github/actions/pulsar-gitops")


def template_root() -> Path:
    """The template's folder: inside the installed package, or in the checkout beside it."""
    return shipped_folder("template")


def copy_template(target: Path) -> int:
    """Copy the template into a new or empty folder; answers how many files were written.

    A folder that holds nothing but `.git` counts as empty. Raises UsageError for any other, and
    where the folder cannot be written.
    """
    try:
        if target.exists() and any(entry.name != ".git" for entry in target.iterdir()):
            raise UsageError(f"{target} is not empty", hint="name a new folder, or an empty one")
        source = template_root()
        files = [path for path in sorted(source.rglob("*")) if path.is_file()]
        for path in files:
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror}") from error
    return len(files)


def keep_own_wheel(target: Path) -> int:
    """Put this installation beside the action that installs it; answers how many files it made.

    `requirements.txt` names the wheel by its hash, without which pip does not take it. Raises
    UsageError where that is not possible.
    """
    try:
        wheel = own_wheel()
        (target / _ACTION / wheel.name).write_bytes(wheel.content)
        with (target / _ACTION / "requirements.txt").open("a", encoding="utf-8") as file:
            file.write(f"./{_ACTION.as_posix()}/{wheel.name} --hash=sha256:{wheel.sha256}\n")
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror}") from error
    return 1
