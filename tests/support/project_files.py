"""Where the project's files are, for the tests that look at them."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]


def project_files(*patterns: str) -> tuple[Path, ...]:
    """All files that git tracks or would track, sorted; with patterns, those that match one.

    A pattern is git's: `*.py` matches in every folder. A file that was deleted and not committed
    yet is left out.
    """
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    paths = {ROOT / name for name in listed.split("\0") if name}
    return tuple(sorted(path for path in paths if path.is_file()))
