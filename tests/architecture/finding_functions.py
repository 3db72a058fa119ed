"""Whether a function decides that a finding is made: read from its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_ENDS = (ast.Return, ast.Continue, ast.Raise, ast.Break)
_CONDITIONS = (ast.If, ast.IfExp, ast.For, ast.While, ast.match_case, ast.ExceptHandler)
_LISTS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


def decides(source: str, function: str, rule: str, constants: frozenset[str]) -> bool:
    """Whether `function` makes the finding under a condition, or for each thing that it finds.

    It names the rule, or calls what names it in the same module; `constants` are names of the
    rule. Nor is a condition needed of what is in a table, whose key is one.
    """
    functions = _functions(source)
    own = functions[function]
    makers = {
        name.rpartition(".")[2]
        for name, each in functions.items()
        if any(_names_rule(node, rule, constants) for node, _ in _expressions(each))
    }
    if function.rpartition(".")[2] in makers & _in_tables(source):
        return True
    return any(
        _maps(node, makers)
        or (is_guarded and (_names_rule(node, rule, constants) or _calls(node, makers)))
        for node, is_guarded in _expressions(own)
    )


def _names_rule(node: ast.expr, rule: str, constants: frozenset[str]) -> bool:
    if isinstance(node, ast.Constant):
        return bool(node.value == rule)
    return isinstance(node, ast.Name) and node.id in constants


def _calls(node: ast.expr, functions: set[str]) -> bool:
    return isinstance(node, ast.Call) and _name(node.func) in functions


def _maps(node: ast.expr, functions: set[str]) -> bool:
    """Whether one of the functions is applied to each of some things."""
    if not isinstance(node, ast.Call) or _name(node.func) != "map":
        return False
    return any(_name(each) in functions for each in node.args)


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


@cache
def _functions(source: str) -> dict[str, ast.FunctionDef]:
    """Those of a module by name, those of a class as `Class.name`."""
    found: dict[str, ast.FunctionDef] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = node
        elif isinstance(node, ast.ClassDef):
            methods = (each for each in node.body if isinstance(each, ast.FunctionDef))
            found |= {f"{node.name}.{each.name}": each for each in methods}
    return found


@cache
def _in_tables(source: str) -> frozenset[str]:
    """The functions that a dictionary of the module contains, or a row under their own name."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Dict):
            calls = (each.func if isinstance(each, ast.Call) else each for each in node.values)
            found |= {_name(each) for each in calls}
        elif isinstance(node, ast.keyword) and _name(node.value) == node.arg:
            found.add(node.arg)
    return frozenset(found)


def _expressions(node: ast.AST, *, guarded: bool = False) -> Iterator[tuple[ast.expr, bool]]:
    """Every expression but those of comparisons, and whether it is evaluated under a condition."""
    if isinstance(node, ast.Compare):
        return
    if isinstance(node, ast.expr):
        yield node, guarded
    below = guarded or isinstance(node, (*_CONDITIONS, *_LISTS, ast.BoolOp))
    for child in ast.iter_child_nodes(node):
        yield from _expressions(child, guarded=below)
        if isinstance(child, ast.If | ast.Try) and _may_end(child):
            below = True


def _may_end(node: ast.If | ast.Try) -> bool:
    """Whether what follows is reached only sometimes."""
    return any(isinstance(each, _ENDS) for each in ast.walk(node))


def source_with_row(path: Path) -> str:
    """The source of a module, with that of the table's row of its schema type behind it."""
    row = path.with_name("row.py")
    both = [path] if row == path or not row.is_file() else [path, row]
    return "\n".join(each.read_text("utf-8") for each in both)
