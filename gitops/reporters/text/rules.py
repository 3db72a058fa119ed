"""All rules, a line each."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.text import Text

from gitops.model.rules.rule import Rule
from gitops.reporters.text.columns import aligned
from gitops.reporters.text.findings import STYLES


def rules_report(rules: Iterable[Rule]) -> RenderableType:
    """Id, severity, title of every rule, and how to read on."""
    rows = [
        (
            Text(rule.id, style="bold"),
            Text(
                rule.severity.name.lower() + ("" if rule.configurable else ", always"),
                style=STYLES[rule.severity],
            ),
            Text(rule.title),
        )
        for rule in rules
    ]
    return Group(
        aligned(rows),
        Text(""),
        Text("pulsar-gitops explain RULE-ID says more; gitops.yaml may set all but the fixed ones"),
    )
