"""CLIENT-*: what a change means for the declared clients of its topics."""

from __future__ import annotations

from typing import Final

from gitops.model.findings import Severity
from gitops.model.rules.rule import Rule

CLIENT_RULES: Final = (
    Rule(
        id="CLIENT-R001",
        title="a client is pinned to a version that does not exist",
        severity=Severity.ERROR,
    ),
    Rule(id="CLIENT-R002", title="Pulsar would refuse a client", severity=Severity.ERROR),
    Rule(id="CLIENT-R003", title="another client has to upgrade first", severity=Severity.ERROR),
    Rule(id="CLIENT-R004", title="there is no safe order of upgrades", severity=Severity.ERROR),
    Rule(id="CLIENT-R005", title="a client still uses what goes away", severity=Severity.ERROR),
    Rule(id="CLIENT-R006", title="a client is behind the latest version", severity=Severity.INFO),
    Rule(
        id="CLIENT-R007",
        title="consumers of one kind of event could not read it",
        severity=Severity.WARNING,
    ),
    Rule(
        id="CLIENT-R008",
        title="retained messages would stop a client that upgrades",
        severity=Severity.WARNING,
    ),
    Rule(
        id="CLIENT-R009",
        title="a client does not work as it is declared",
        severity=Severity.WARNING,
    ),
    Rule(
        id="CLIENT-R010",
        title="a client uses a topic that is not known",
        severity=Severity.WARNING,
    ),
)


# REPLAY-*: what became of real messages.


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
