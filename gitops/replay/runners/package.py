"""The code of this project as a zip, for workers elsewhere: they run what the driver runs.

What it imports beside the standard library has to be installed there: numpy, pyarrow, msgspec, and
protobuf for Protobuf topics.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import gitops


def write_package(folder: Path) -> Path:
    """The zip file, with the modules only."""
    root = Path(gitops.__file__).parent
    place = folder / "gitops.zip"
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as packed:
        for module in sorted(root.rglob("*.py")):
            packed.write(module, Path("gitops", module.relative_to(root)))
    return place
