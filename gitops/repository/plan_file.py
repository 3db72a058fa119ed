"""A plan as it comes from its file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final, NoReturn

from gitops.model.errors import UsageError
from gitops.planning.plan_document import Document
from gitops.planning.reviewed_plan import REPLAN, check_digest
from gitops.repository.definitions.json_positions import JsonPositions
from gitops.repository.folder import read_definition
from gitops.repository.json_validation import PLAN, PLANS, SchemaProblem, schema_problems
from gitops.repository.positions import pointer


def read_plans(path: Path) -> tuple[Document, ...]:
    """The plans in a file that `plan --out` wrote, one for each registry; raises UsageError."""
    _require_size(path)
    text = read_definition(path)
    document = _read_json(text, str(path))
    if document.get("kind") != _SEVERAL:
        return (parse_plan(text, str(path)),)
    _require_valid(PLANS, document, text, str(path))
    if document["failures"] or not document["plans"]:
        raise UsageError(f"{path} does not have a plan for each of its registries", hint=REPLAN)
    for plan in document["plans"]:
        check_digest(plan)
    return tuple(document["plans"])


_LARGEST: Final = 128 << 20
"""Bytes: 10,000 schemas of 10 KB are less."""

_MOST_VALUES: Final = 8_000_000
"""JSON values, and brackets and commas in texts: 130,000 actions have six million."""

_MOST_PLACED: Final = 4 << 20
"""Characters of a text in which mistakes have a line: its tree takes fifty times that of memory."""


def _require_size(path: Path) -> None:
    """Raise UsageError for a file that would take minutes, and gigabytes of memory."""
    try:
        size = path.stat().st_size
    except (OSError, ValueError):
        return  # whoever reads it says why
    if size > _LARGEST:
        raise UsageError(
            f"{path} is larger than {_LARGEST >> 20} MiB",
            hint=_IN_PARTS,
        )


def parse_plan(text: str, file: str) -> Document:
    """A plan document that is unharmed and as the reference says; raises UsageError.

    Its form is looked at even if the digest is right: whoever can write the one can write both.
    """
    document = _read_json(text, file)
    if document.get("kind") != "Plan":
        raise UsageError(f"{file} is not a plan file", hint=_WRITE)
    _require_valid(PLAN, document, text, file)
    check_digest(document)
    return document


def _require_valid(name: str, document: Document, text: str, file: str) -> None:
    if problems := schema_problems(name, document):
        _refuse(problems, file, text)


def _read_json(text: str, file: str) -> Document:
    if text.startswith("\ufeff"):
        hint = "save it as UTF-8 without BOM, or write it anew with `plan --out FILE`"
        raise UsageError(f"{file} begins with a byte order mark", hint=hint)
    if sum(map(text.count, "{[,")) > _MOST_VALUES:
        raise UsageError(f"{file} contains more than {_MOST_VALUES:,} values", hint=_IN_PARTS)
    try:
        content: object = json.loads(text)
    except (ValueError, RecursionError):
        raise UsageError(f"{file} is not a plan file: it is not JSON", hint=_WRITE) from None
    if not isinstance(content, dict):
        raise UsageError(f"{file} is not a plan file", hint=_WRITE)
    return content


def _refuse(problems: list[SchemaProblem], file: str, text: str) -> NoReturn:
    """Say what is wrong first in the file, and how much more there is."""
    positions = JsonPositions(file, text if len(text) <= _MOST_PLACED else "")
    placed = [
        (positions.at_pointer(pointer(problem.path), at_key=problem.at_key), problem)
        for problem in problems
    ]
    where, first = min(
        placed,
        key=lambda schema_problem: (schema_problem[0].line or 0, schema_problem[0].column or 0),
    )
    number = len(problems) - 1
    beside = f", and {number} more problem{'' if number == 1 else 's'}" if number else ""
    hint = "; ".join(filter(None, (first.hint, REPLAN)))
    raise UsageError(
        f"the plan file is not valid: {first.message}{beside}", where=str(where), hint=hint
    )


_IN_PARTS: Final = "apply it in parts: `plan NAMESPACE …` plans some of the files"
_WRITE: Final = "write one with `plan --out FILE`"
_SEVERAL: Final = "Plans"
