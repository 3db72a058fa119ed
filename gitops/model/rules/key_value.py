"""KV-*: pairs of key and value that the broker takes and should not."""

from __future__ import annotations

from typing import Final

from gitops.model.findings import Severity
from gitops.model.rules.rule import Rule

KEY_VALUE_RULES: Final = (
    Rule(id="KV-P001", title="half of a KEY_VALUE is a KEY_VALUE", severity=Severity.ERROR),
    Rule(id="KV-W001", title="the encoding of a KEY_VALUE changes", severity=Severity.WARNING),
    Rule(
        id="KV-W002",
        title="half of a KEY_VALUE changes its type unseen",
        severity=Severity.WARNING,
    ),
    Rule(
        id="KV-W003",
        title="invalid default in half of a KEY_VALUE",
        severity=Severity.WARNING,
    ),
)
