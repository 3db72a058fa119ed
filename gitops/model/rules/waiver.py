"""WAIVER-*: approved exceptions that do nothing, or soon will not."""

from __future__ import annotations

from typing import Final

from gitops.model.findings import Severity
from gitops.model.rules.rule import Rule


def _warning(number: int, title: str) -> Rule:
    return Rule(id=f"WAIVER-R{number:03}", title=title, severity=Severity.WARNING)


WAIVER_RULES: Final = (
    _warning(1, "the waiver has expired"),
    Rule(id="WAIVER-R002", title="the waiver expires soon", severity=Severity.INFO),
    _warning(3, "nothing needs the waiver"),
    _warning(4, "the waiver is for another change"),
    _warning(5, "the waiver is for an unknown topic"),
    _warning(6, "two waivers for one change"),
    _warning(7, "the waiver cannot let the schema pass"),
)
