"""Where a part of a definition is in the source of a Python class."""

from __future__ import annotations

import ast
import inspect
import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from gitops.extraction.extraction import Definition
from gitops.model.findings import Location
from gitops.repository.positions import child, parts

_PYTHON: Final = sys.stdlib_module_names


def definition_location(definition: Definition, cls: type, pointer: str) -> Location:
    """The line of the field or symbol that a JSON pointer leads to, or of the class around it."""
    inner, member = cls, ""
    for result, name in _members(definition, pointer):
        inner, member = result, name
    return class_location(inner, member, pointer)


def _members(definition: Definition, pointer: str) -> Iterator[tuple[type, str]]:
    """The classes on the way, each with its field or symbol; the last one is the innermost."""
    node, space, ahead = definition.content, "", list(parts(pointer))
    while True:
        if isinstance(node, dict) and node.get("type") in ("record", "enum"):
            space = node.get("namespace", space)
            full = f"{space}.{node['name']}" if space else node["name"]
            # What has no namespace of its own is in that of the record around it.
            cls = definition.classes.get(full) or definition.classes[node["name"]]
            yield cls, _member(node, ahead[:2])
        if not ahead:
            return
        step = ahead.pop(0)
        try:
            node = child(node, int(step) if isinstance(node, list) else step)
        except (KeyError, ValueError):
            return


def _member(node: dict[str, Any], ahead: list[str]) -> str:
    """The name of the field or of the symbol that the next two steps lead to."""
    try:
        value = child(child(node, ahead[0]), int(ahead[1]))
    except (KeyError, ValueError, IndexError):
        return ""
    return str(value["name"]) if isinstance(value, dict) else str(value)


def class_location(cls: type, member: str = "", pointer: str = "") -> Location:
    """The line of a class, or of one of its members, which a base class may define.

    Without a source it is the class as a whole.
    """
    for base in cls.__mro__:
        place = _place(base, member)
        if place:
            file, node = place
            length = len(member) or len("class")
            return Location(
                file=file,
                line=node.lineno,
                column=node.col_offset + 1,
                length=length,
                pointer=pointer,
            )
    return Location(file=f"{cls.__module__}:{cls.__qualname__}", pointer=pointer)


def class_sources(classes: Iterable[type]) -> dict[str, str]:
    """The texts of the files that define classes, by the names that locations give them."""
    bases = {base for cls in classes for base in cls.__mro__}
    own = (base for base in bases if base.__module__.partition(".")[0] not in _PYTHON)
    files = {file for file in map(_source_file, own) if file}
    return {_shown(file): _text(file) for file in files}


def _source_file(cls: type) -> str | None:
    """The file of a class's source; None for one that is built in."""
    try:
        return inspect.getsourcefile(cls)
    except (TypeError, OSError):
        return None


def _place(cls: type, member: str) -> tuple[str, ast.stmt] | None:
    file = _source_file(cls)
    class_def = _class_node(file, cls.__qualname__) if file else None
    if file is None or class_def is None:
        return None
    node = class_def if not member else next(_assignments(class_def, member), None)
    return (_shown(file), node) if node else None


def _class_node(file: str, qualname: str) -> ast.ClassDef | None:
    node: ast.AST | None = _tree(file)
    for name in qualname.split("."):
        if node is None or name == "<locals>":
            continue
        inside = ast.iter_child_nodes(node)
        node = next(
            (
                item
                for item in inside
                if isinstance(item, ast.ClassDef | ast.FunctionDef) and item.name == name
            ),
            None,
        )
    return node if isinstance(node, ast.ClassDef) else None


def _assignments(node: ast.ClassDef, name: str) -> Iterator[ast.stmt]:
    """The statements of a class that give a member its type or its value."""
    for stmt in node.body:
        targets: list[ast.expr] = []
        if isinstance(stmt, ast.AnnAssign):
            targets = [stmt.target]
        elif isinstance(stmt, ast.Assign):
            targets = stmt.targets
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            yield stmt


@cache
def _text(file: str) -> str:
    """The text of a file; empty where it cannot be read."""
    try:
        return Path(file).read_bytes().decode("utf-8", "replace")
    except OSError:
        return ""


@cache
def _tree(file: str) -> ast.Module | None:
    try:
        return ast.parse(_text(file))
    except (SyntaxError, ValueError):
        return None


def _shown(file: str) -> str:
    """A file as people here name it: from the current folder where it is inside."""
    relative = os.path.relpath(file)
    return file if relative.startswith("..") else relative
