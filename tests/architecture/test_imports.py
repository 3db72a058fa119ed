"""A test module is imported by nobody: what several tests use is in a module of its own."""

from __future__ import annotations

import ast
from typing import Final

import pytest

from tests.support.project_files import ROOT, project_files

_SHARED: Final = ("tests.support", "tests.oracle", "tests.replay")
"""For all tests: what several use, and random cases (also as programs)."""


@pytest.mark.slow
def test_tests_import_only_what_is_shared_and_helpers_from_their_own_folder() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {module}"
        for path in project_files("tests/*.py", "benchmarks/*.py")
        for module in _imports(path.read_text("utf-8"))
        if not _is_allowed(module, ".".join(path.relative_to(ROOT).parent.parts))
    ]
    assert not wrong, "move what is shared to tests/support"


@pytest.mark.parametrize(
    ("line", "is_allowed"),
    [
        ("from tests.support.trees import MemoryTree", True),
        ("from tests.support import trees", True),
        ("import tests.oracle.random_source", True),
        ("from tests.broker import rest_requests", True),
        ("from tests.broker.rest_requests import REQUESTS", True),
        ("from tests.scenarios.repository_edits import edit", False),
        ("from tests.unit.usecases.helpers import FILES", False),
        ("from tests.broker.test_contract import FILES", False),
        ("from tests.broker import test_contract", False),
        ("def inside():\n    import tests.oracle.test_cases", False),
        ("from tests.conftest import pulsar", False),
        ("from . import rest_requests", False),
        ("from gitops.model.names import test_of", True),
    ],
)
def test_what_a_test_with_the_broker_may_import(line: str, *, is_allowed: bool) -> None:
    assert all(_is_allowed(each, "tests.broker") for each in _imports(line)) == is_allowed


def _imports(source: str) -> list[str]:
    """The names from `tests` that the source imports, each with its module."""
    nodes = list(ast.walk(ast.parse(source)))
    whole = [each.name for node in nodes if isinstance(node, ast.Import) for each in node.names]
    parts = [
        f"{'.' * node.level}{node.module or ''}.{each.name}"
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for each in node.names
    ]
    return [name for name in (*whole, *parts) if name.startswith(("tests.", "."))]


def _is_allowed(name: str, folder: str) -> bool:
    is_test = any(part == "conftest" or part.startswith("test_") for part in name.split("."))
    return not is_test and name.startswith(tuple(f"{room}." for room in (*_SHARED, folder)))
