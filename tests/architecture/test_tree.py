"""The page about the architecture names every module; with UPDATE_DOCS=1 it is written anew."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.support.project_files import ROOT, project_files

_PAGE: Final = ROOT / "docs" / "explanation" / "architecture.md"
_START: Final = "<!-- the tree: UPDATE_DOCS=1 writes it anew -->\n"
_END: Final = "<!-- the end of the tree -->\n"


def test_the_page_has_every_module() -> None:
    page = _PAGE.read_text("utf-8")
    before, found, rest = page.partition(_START)
    shown, _, after = rest.partition(_END)
    assert found
    now = "".join(_lines())
    if os.environ.get("UPDATE_DOCS"):
        _PAGE.write_text(f"{before}{_START}{now}{_END}{after}", "utf-8")
        shown = now
    assert shown == now, "run with UPDATE_DOCS=1: pytest tests/architecture/test_tree.py"


def _lines() -> Iterator[str]:
    """A row for each package: its folder, its subject, its modules."""
    yield "| folder | subject | modules |\n|---|---|---|\n"
    for package in sorted(path.parent for path in project_files("gitops/**__init__.py")):
        modules = sorted(path.stem for path in package.glob("*.py") if path.stem != "__init__")
        if modules:
            names = ", ".join(f"`{name}`" for name in modules)
            yield f"| `{package.relative_to(ROOT).as_posix()}` | {_subject(package)} | {names} |\n"


def _subject(package: Path) -> str:
    text = ast.get_docstring(ast.parse((package / "__init__.py").read_text("utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split()).rstrip(".")
