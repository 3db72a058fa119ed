"""Files in `../shared`, beside the checkout: not part of the project, and used where they are.

No other module looks there, so that where they are missing nothing fails, and nothing passes
without a word.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.support.project_files import ROOT

SHARED_FOLDER: Final = ROOT.parent / "shared"


def shared_file(name: str, folder: Path = SHARED_FOLDER) -> Path:
    """The file; skips the test where there is none."""
    path = folder / name
    if not path.is_file():
        pytest.skip(f"there is no ../shared/{name} beside the checkout")
    return path
