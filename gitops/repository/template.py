"""Where the template of a new schemas repository lies."""

from __future__ import annotations

from pathlib import Path

from gitops.model.errors import UsageError
from gitops.repository.shipped_files import shipped_folder


def template_root() -> Path:
    """The template's folder: inside the installed package, or in the checkout beside it."""
    return shipped_folder("template", "schemas_repo_template")


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
