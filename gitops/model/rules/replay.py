"""REPLAY-*: what became of real messages."""

from __future__ import annotations

from typing import Final

from gitops.model.findings import Severity
from gitops.model.rules.rule import Rule

REPLAY_RULES: Final = (
    Rule(id="REPLAY-R001", title="messages cannot be read", severity=Severity.ERROR),
    Rule(
        id="REPLAY-R002",
        title="messages cannot be read by a reader that the strategy leaves behind",
        severity=Severity.WARNING,
    ),
    Rule(id="REPLAY-R003", title="messages that were not replayed", severity=Severity.WARNING),
    Rule(id="REPLAY-R004", title="samples are missing, or cannot be read", severity=Severity.ERROR),
    Rule(id="REPLAY-R005", title="a topic has no samples", severity=Severity.INFO),
    Rule(id="REPLAY-R006", title="messages fail, as many as are allowed", severity=Severity.INFO),
    Rule(id="REPLAY-R007", title="values change while they are read", severity=Severity.WARNING),
    Rule(id="REPLAY-R008", title="a replay was interrupted", severity=Severity.WARNING),
    Rule(
        id="REPLAY-R009",
        title="samples elsewhere that a change brings along",
        severity=Severity.WARNING,
    ),
    Rule(
        id="REPLAY-R010",
        title="a sensitive field that no definition has",
        severity=Severity.WARNING,
    ),
    Rule(
        id="REPLAY-R011",
        title="two samples name the same messages",
        severity=Severity.WARNING,
    ),
    Rule(id="REPLAY-R012", title="nothing of a sample was replayed", severity=Severity.ERROR),
)
