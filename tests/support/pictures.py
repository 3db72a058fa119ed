"""The pictures of the documentation: what reviewers see, for each of the nine situations.

`scripts/pictures` writes them anew; tests/docs/test_pictures.py looks whether they are current.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support.command_line import captured
from tests.support.situations import SITUATIONS, Situation, build
from tests.support.terminal_pictures import terminal_svg

WIDTH: Final = 100
_UNSTABLE: Final = (
    (re.compile(r"\b[0-9a-f]{7}(?=\.\.| with the files)"), "4f1c9e2"),
    (re.compile(r"(?<=compared with `)[0-9a-f]{7}"), "4f1c9e2"),
    (re.compile(r"(?<=expires: )\d{4}-\d\d-\d\d"), "2026-12-01"),
    (re.compile(r"(?<=waived until )\d{4}-\d\d-\d\d"), "2026-12-01"),
    (re.compile(r"\d+\.\d s\b"), "0.3 s"),
)
"""What is another at each run: the commit, the day, how long it took."""
_UNSTABLE_FILES: Final = (
    (re.compile(r"(?<=files digest )[0-9a-f]{7}"), "16fa1f2"),
    (re.compile(r"(?<=files `)[0-9a-f]{12}(?=` · compared)"), "16fa1f28c0d3"),
    (re.compile(r"(?<=· plan `)[0-9a-f]{12}"), "6ad1f3762819"),
)
"""What is another on each day: the digests of files and of a plan with a waiver."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a check of a situation shows in a terminal, with colours, and as a comment."""

    command: str
    terminal: str
    comment: str

    @property
    def svg(self) -> str:
        """The terminal as a picture."""
        return terminal_svg(f"pulsar-gitops {self.command}", self.terminal, width=WIDTH)


def reports(folder: Path) -> Iterator[tuple[Situation, Report]]:
    """Each situation, built below a folder, and what its check shows."""
    for situation in SITUATIONS:
        build(folder / situation.name, situation)
        yield situation, report(folder / situation.name, replayed=situation.replayed)


def report(root: Path, *, replayed: bool = False, width: int = WIDTH) -> Report:
    """What `check` shows of the branch that is checked out."""
    words = ["check", "--base", "main", *(["--replay"] if replayed else [])]
    with _environment({"COLUMNS": str(width), "FORCE_COLOR": "1"}), _inside(root):
        terminal = captured(*words).out
        comment = captured(*words, "--format", "markdown").out
    unstable = (*_UNSTABLE, *(_UNSTABLE_FILES if (root / "waivers").is_dir() else ()))
    terminal, comment = (_stable(text, unstable) for text in (terminal, comment))
    return Report(command=" ".join(words), terminal=terminal, comment=comment)


def _stable(text: str, unstable: Iterable[tuple[re.Pattern[str], str]]) -> str:
    for pattern, value in unstable:
        text = pattern.sub(value, text)
    return text


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.pop("NO_COLOR", None)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def main() -> None:
    """Write all pictures into a folder; the second argument is GitHub's stylesheet."""
    from tests.support.comment_pictures import comment_png

    folder, css = Path(sys.argv[1]), Path(sys.argv[2]).read_text("utf-8")
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        for situation, shown in reports(Path(scratch)):
            (folder / f"{situation.name}.svg").write_text(shown.svg, "utf-8")
            png = comment_png(shown.comment, css, Path(scratch))
            (folder / f"{situation.name}.png").write_bytes(png)


if __name__ == "__main__":
    main()
