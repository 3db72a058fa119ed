"""Variables and arguments are named by what they contain."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

import pytest

from tests.support.project_files import ROOT, project_files

_VAGUE: Final = frozenset(
    {"each", "found", "its", "mine", "more", "one", "said", "theirs", "told"}
    | {"checking", "rolling", "replaying"}
)
"""They say nothing of the value: a finding, a waiver, a reader, a request."""


def vague_names(source: str) -> Iterator[str]:
    """The variables and arguments of a module that have such a name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        elif isinstance(node, ast.arg):
            name = node.arg
        else:
            continue
        if name in _VAGUE:
            yield name


@pytest.mark.slow
def test_no_variable_has_a_name_that_says_nothing() -> None:
    vague = {
        path.relative_to(ROOT).as_posix(): names
        for path in project_files("gitops/**.py")
        if (names := sorted(set(vague_names(path.read_text("utf-8")))))
    }
    assert vague == {}


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def f(findings):\n    return [one for one in findings]\n", ["one"]),
        ("def f(told):\n    found = told\n", ["found", "told"]),
        ("def f(finding):\n    return finding.found\n", []),
    ],
)
def test_vague_names_are_seen(source: str, names: list[str]) -> None:
    assert sorted(set(vague_names(source))) == names
