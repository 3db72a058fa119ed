"""Files that people read in the repository and that the package carries, too."""

from __future__ import annotations

from pathlib import Path

import gitops


def shipped_folder(name: str, checkout: str) -> Path:
    """The folder of that name inside the installed package, else `checkout` beside it.

    `pyproject.toml` says what is shipped under which name.
    """
    package = Path(gitops.__file__).parent
    shipped = package / name
    return shipped if shipped.is_dir() else package.parent / checkout
