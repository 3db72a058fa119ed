"""Measures of the house that have been reached, so that they stay so; architecture.md has all."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path
from typing import Final

import pytest

from gitops.cli.app import COMMANDS
from gitops.reports.formats import FORMATS
from tests.support.project_files import ROOT, project_files

_MODULES: Final = [path for path in project_files("gitops/**.py") if path.stem != "__init__"]
_SLIP: Final = 80
"""Lines below which a module that one neighbour alone imports belongs into that neighbour."""


@pytest.mark.slow
def test_modules_lines_and_imports_stay_what_the_page_says() -> None:
    """Within a twentieth, so that not each commit changes the page; and below the bounds."""
    texts = [path.read_text("utf-8") for path in project_files("gitops/**.py")]
    lines = sum(len(text.splitlines()) for text in texts)
    imports = sum(map(_import_lines, texts))
    measured = (len(_MODULES), lines / 1000, 100 * imports / lines)

    shown = (*_now("modules, lines in `gitops/`"), *_now("lines that are imports"))
    assert measured == pytest.approx(shown, rel=0.05), f"now they are {measured}"
    modules, thousand_lines, percent = measured
    assert modules <= 580
    assert thousand_lines <= 98.0
    assert percent <= 9.5


def _now(measure: str) -> tuple[float, ...]:
    """The numbers of the column `now` in the page's row of a measure."""
    page = (ROOT / "docs" / "explanation" / "architecture.md").read_text("utf-8")
    (row,) = (line for line in page.splitlines() if line.startswith(f"| {measure} |"))
    return tuple(float(number) for number in re.findall(r"[0-9.]+", row.split(" | ")[3]))


def _import_lines(source: str) -> int:
    return sum(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
    )


def test_each_use_case_is_a_command() -> None:
    commands = {row.module for row in COMMANDS}
    assert {path.stem for path in _MODULES if path.parent.name == "usecases"} <= commands


@pytest.mark.slow
def test_few_modules_are_slips_of_one_neighbour() -> None:
    users = _users()
    slips = [
        _name(path)
        for path in _MODULES
        if len(path.read_text("utf-8").splitlines()) < _SLIP
        and {user.parent for user in users[_name(path)]} == {path.parent}
        and len(users[_name(path)]) == 1
    ]
    assert len(slips) <= 15, slips


def test_few_files_choose_by_one_schema_type() -> None:
    named = [_name(path) for path in _MODULES if "SchemaType.PROTOBUF_NATIVE" in path.read_text()]
    assert 0 < len(named) <= 4, named
    word = re.compile(r"SchemaType\.[A-Z_]+\b")
    named = [_name(path) for path in _MODULES if word.search(path.read_text("utf-8"))]
    assert len(named) <= 31, named


def test_no_file_but_the_table_names_a_report_format() -> None:
    """Words of GitHub, SARIF and HTML with the same letters are in the modules about them."""
    words = re.compile(rf'"(?:{"|".join({*FORMATS} - {"text", "json"})})"')
    named = {_name(path) for path in _MODULES if words.search(path.read_text("utf-8"))}
    other_words = {
        "gitops.cli.app",  # the command `github`
        "gitops.cli.commands.github",  # the extra `github`
        "gitops.registries.pulsar.error_responses",  # error pages in HTML
        "gitops.reports.sarif",  # SARIF's own member `markdown`
    }
    assert named - other_words == {"gitops.reports.formats"}


def _users() -> dict[str, set[Path]]:
    """The modules of the project that import each module."""
    users: dict[str, set[Path]] = defaultdict(set)
    known = {_name(path) for path in _MODULES}
    for path in _MODULES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                for name in (f"{node.module}.{alias.name}" for alias in node.names):
                    users[name if name in known else node.module].add(path)
    return users


def _name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)
