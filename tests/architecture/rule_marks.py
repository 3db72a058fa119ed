"""Which tests are marked with `@pytest.mark.rule("PLAN-R001")`, read from their sources."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache

from tests.support.project_files import ROOT, project_files


@dataclass(frozen=True, slots=True)
class MarkedTest:
    """A test and a rule of its marks; `names_rule`: the code of its module names the rule too."""

    rule: str
    name: str
    names_rule: bool


@cache
def marked_tests() -> tuple[MarkedTest, ...]:
    """All of the project."""
    files = project_files("tests/*/test_*.py")
    sources = ((file.relative_to(ROOT).as_posix(), file.read_text("utf-8")) for file in files)
    return tuple(test for name, source in sources for test in marks_in(name, source))


def marks_in(module: str, source: str) -> list[MarkedTest]:
    """Those of one module; a docstring does not count as code that names a rule."""
    if "mark.rule(" not in source:
        return []
    reader = _Reader()
    reader.visit(ast.parse(source))
    return [
        MarkedTest(rule, f"{module}::{test}", any(rule in text for text in reader.texts))
        for test, rule in reader.marks
    ]


class _Reader(ast.NodeVisitor):
    """The marks on tests, and all texts apart from marks and docstrings."""

    def __init__(self) -> None:
        self.marks: list[tuple[str, str]] = []
        self.texts: list[str] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if node.name.startswith("test_"):
            self.marks += [
                (node.name, rule) for each in node.decorator_list for rule in _rule(each)
            ]
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if not _rule(node):
            self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self.texts.append(node.value)


def _rule(node: ast.expr) -> list[str]:
    """The rule of a mark; nothing for any other expression."""
    if not isinstance(node, ast.Call) or ast.unparse(node.func) != "pytest.mark.rule":
        return []
    (rule,) = node.args
    return [str(ast.literal_eval(rule))]
