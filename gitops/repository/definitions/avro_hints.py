"""What somebody may have meant by a part of a definition that Avro does not know."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from gitops.repository.definitions.shared_types import named_types
from gitops.repository.positions import child, parts
from gitops.repository.suggestions import closest
from gitops.schemas.avro.errors import AvroProblem
from gitops.schemas.avro.schema import LOGICAL_TYPES

_NEEDED: Final = {
    "no-fields": "fields", "no-symbols": "symbols", "bad-size": "size", "no-items": "items",
    "no-values": "values", "no-name": "name", "no-type": "type",
}  # fmt: skip
"""The member that is missing, by the kind of the problem."""

_KNOWN: Final = frozenset({
    "aliases", "default", "doc", "fields", "items", "logicalType", "name", "namespace", "order",
    "precision", "scale", "size", "symbols", "type", "values",
})  # fmt: skip
_PRIMITIVES: Final = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")
_MAX_SHOWN: Final = 80
_TYPES: Final = (*_PRIMITIVES, "record", "enum", "array", "map", "fixed")


def misspelt_member(problem: AvroProblem, definition: Any) -> tuple[str, str] | None:  # noqa: ANN401
    """The member that seems to be meant for the one that is missing: (as written, as meant)."""
    needed, node = _NEEDED.get(problem.kind), _node(definition, problem.pointer)
    if needed is None or not isinstance(node, dict) or needed in node:
        return None
    written = closest(needed, [key for key in node if key not in _KNOWN])
    return (written, needed) if written else None


def type_hint(problem: AvroProblem, definition: Any, shared: Iterable[str]) -> str:  # noqa: ANN401
    """What to write for a type that nobody knows; `shared` are full names of other files."""
    name = _node(definition, problem.pointer)
    if not isinstance(name, str):
        return _instead(problem, name)
    if name in LOGICAL_TYPES:
        base = LOGICAL_TYPES[name][0]
        return f'it is a logicalType: write {{"type": "{base}", "logicalType": "{name}"}}'
    if problem.kind != "undefined-name":
        return ""
    own = [full for full, _, _ in named_types(definition)]
    full_names = dict.fromkeys([*own, *shared])
    short = {full.rpartition(".")[2]: full for full in full_names}
    words = {**short, **{text: text for text in (*full_names, *_TYPES)}}
    near = closest(name, words)
    if near:
        return f"did you mean {words[near]}?"
    if "." in name:
        return "define it in this file, or in another .avsc of the repository"
    return (
        f"use one of {', '.join(_PRIMITIVES)}, or a type that some .avsc of the repository defines"
    )


def _instead(problem: AvroProblem, written: Any) -> str:  # noqa: ANN401 - JSON
    """What to write where no name of a type is."""
    if problem.kind == "no-type":
        return 'add one, as "type": "string"'
    if problem.kind == "no-schema":
        return f"use one of {', '.join(_PRIMITIVES)} in quotes"
    if problem.kind != "bad-type":
        return ""
    if not isinstance(written, list | dict):
        return f"use one of {', '.join(_TYPES)}"
    what = "union" if isinstance(written, list) else "inner type"
    text = json.dumps(written, ensure_ascii=False)
    shown = f": {text}" if len(text) <= _MAX_SHOWN else ""
    return f"put the {what} itself in place of the object{shown}"


def _node(definition: Any, pointer: str) -> Any:  # noqa: ANN401 - JSON
    here = definition
    for part in parts(pointer):
        step = int(part) if isinstance(here, list) and part.isdigit() else part
        try:
            here = child(here, step)
        except KeyError:
            return None
    return here
