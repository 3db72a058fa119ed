"""Each package documents what it is for, and the core changes no process-wide setting."""

from __future__ import annotations

import ast

import pytest

from tests.support.project_files import ROOT, project_files


def test_every_folder_of_modules_is_a_package() -> None:
    folders = {path.parent for path in project_files("gitops/**.py")}
    assert folders
    assert not {str(folder) for folder in folders if not (folder / "__init__.py").is_file()}


def test_every_package_says_what_it_is_for() -> None:
    packages = project_files("gitops/**__init__.py")
    assert packages
    silent = [
        str(path.relative_to(ROOT))
        for path in packages
        if not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert not silent


@pytest.mark.slow
def test_only_the_edges_change_the_recursion_limit() -> None:
    """A setting of the whole process: the core never touches it."""
    naming = {
        str(path.relative_to(ROOT))
        for path in project_files("gitops/**.py")
        if "recursion_limit" in path.read_text() or "setrecursionlimit" in path.read_text()
    }
    assert naming == {
        "gitops/recursion_limit.py",
        "gitops/cli/app.py",
        "gitops/replay/engines/spark_tasks.py",
        "gitops/testing/__init__.py",
    }
