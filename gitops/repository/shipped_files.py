"""Files that people read in the repository and that the package carries, too."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import gitops

SHIPPED: Final = {
    "template": "schemas_repo_template",
    "rules": "docs/reference/rules",
    "json": "docs/reference/json",
}
"""A folder inside the installed package, and where a checkout has it: as in `pyproject.toml`."""


def shipped_folder(name: str) -> Path:
    """The folder of that name inside the installed package, else that of the checkout."""
    package = Path(gitops.__file__).parent
    shipped = package / name
    return shipped if shipped.is_dir() else package.parent / SHIPPED[name]
