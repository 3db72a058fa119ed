"""A plan as it comes from its file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NoReturn

from gitops.model.errors import UsageError
from gitops.planning.plan_document import Document
from gitops.planning.reviewed_plan import REPLAN, check_digest
from gitops.repository.definitions.json_positions import JsonPositions
from gitops.repository.folder import read_definition
from gitops.repository.json_validation import PLAN, SchemaProblem, schema_problems
from gitops.repository.positions import pointer


def read_plan_file(path: Path) -> Document:
    """The plan in a file that `plan --out` wrote; raises UsageError."""
    return parse_plan(read_definition(path), str(path))


def parse_plan(text: str, file: str) -> Document:
    """A plan document that is unharmed and as the reference says; raises UsageError.

    Its form is looked at even if the digest is right: whoever can write the one can write both.
    """
    document = _plan_of(text, file)
    if problems := schema_problems(PLAN, document):
        _refuse(problems, JsonPositions(file, text))
    check_digest(document)
    return document


def _plan_of(text: str, file: str) -> Document:
    if text.startswith("\ufeff"):
        hint = "save it as UTF-8 without BOM, or write it anew with `plan --out FILE`"
        raise UsageError(f"{file} begins with a byte order mark", hint=hint)
    try:
        content: object = json.loads(text)
    except (ValueError, RecursionError):
        raise UsageError(f"{file} is not a plan file: it is not JSON", hint=_WRITE) from None
    if not isinstance(content, dict) or content.get("kind") != "Plan":
        raise UsageError(f"{file} is not a plan file", hint=_WRITE)
    return content


def _refuse(problems: list[SchemaProblem], positions: JsonPositions) -> NoReturn:
    """Say what is wrong first in the file, and how much more there is."""
    placed = [(positions.at_pointer(pointer(one.path), at_key=one.at_key), one) for one in problems]
    where, first = min(placed, key=lambda one: (one[0].line or 0, one[0].column or 0))
    more = len(problems) - 1
    beside = f", and {more} more problem{'' if more == 1 else 's'}" if more else ""
    hint = "; ".join(filter(None, (first.hint, REPLAN)))
    raise UsageError(
        f"the plan file is not valid: {first.message}{beside}", where=str(where), hint=hint
    )


_WRITE = "write one with `plan --out FILE`"
