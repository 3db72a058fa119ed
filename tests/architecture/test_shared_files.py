"""A clone alone is enough: what needs files from beside the checkout is skipped without them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from tests.support.project_files import ROOT, project_files
from tests.support.shared_files import shared_file

_BESIDE: Final = re.compile(r"""\.\./shared|/ ["']shared["'/]|\bSHARED_FOLDER\b""")
_READERS: Final = {
    "tests/support/shared_files.py",
    "tests/oracle/recorded_cases.py",  # adds to the random cases; tested in test_recorded_cases.py
    "tests/architecture/test_shared_files.py",
    "benchmarks/mutants.py",  # runs tests in copies of the checkout
}


def test_a_missing_file_is_the_reason_for_a_skip(tmp_path: Path) -> None:
    with pytest.raises(pytest.skip.Exception) as raised:
        shared_file("realworld/a.jsonl", tmp_path)
    assert raised.value.msg == "there is no ../shared/realworld/a.jsonl beside the checkout"


def test_a_file_that_is_there_is_used(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").touch()

    assert shared_file("a.jsonl", tmp_path) == tmp_path / "a.jsonl"


@pytest.mark.slow
def test_nothing_else_looks_beside_the_checkout() -> None:
    files = project_files("*.py", "*.sh", "scripts/*", "Makefile")
    looking = {
        path.relative_to(ROOT).as_posix()
        for path in files
        if _BESIDE.search(path.read_text("utf-8"))
    }
    assert looking <= _READERS


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ('ROOT.parents[1] / "shared" / "realworld"', True),
        ('Path("../shared/realworld")', True),
        ("SHARED_FOLDER / name", True),
        ('(tmp_path / "shared.avsc")', False),
        ('found["shared"]', False),
    ],
)
def test_looking_beside_the_checkout_is_seen(line: str, *, is_found: bool) -> None:
    assert bool(_BESIDE.search(line)) == is_found
