"""CHECK-*: what a change does to a repository beyond its single schemas."""

from __future__ import annotations

from typing import Final

from gitops.model.findings import Severity
from gitops.model.rules.rule import Rule

CHECK_RULES: Final = (
    Rule(id="CHECK-R001", title="a topic's manifest is removed", severity=Severity.ERROR),
    Rule(id="CHECK-R002", title="a renamed topic loses its history", severity=Severity.ERROR),
    Rule(
        id="CHECK-R003",
        title="a policy is loosened, or managed no more",
        severity=Severity.WARNING,
    ),
    Rule(
        id="CHECK-R004",
        title="a changed policy lets in what the old one refuses",
        severity=Severity.ERROR,
    ),
    Rule(id="CHECK-R005", title="a change touches too many topics", severity=Severity.ERROR),
    Rule(
        id="CHECK-R006",
        title="the limits that a change is checked by are loosened",
        severity=Severity.WARNING,
    ),
    Rule(id="CHECK-R007", title="a change edits recorded history", severity=Severity.WARNING),
    Rule(id="CHECK-R008", title="replays of a topic are weakened", severity=Severity.WARNING),
)
