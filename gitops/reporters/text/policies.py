"""Policies of one subject in a terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import Policies, SchemaCompatibilityStrategy, managed_items
from gitops.planning.policies import policy_text
from gitops.reporters.text.columns import aligned
from gitops.reporters.text.plain import safe


def policies_report(
    subject: NamespaceName | TopicName, own: Policies, effective: SchemaCompatibilityStrategy
) -> RenderableType:
    """What is set, and the strategy that holds."""
    rows = [(Text(f"  {key}"), Text(policy_text(value))) for key, value in managed_items(own)]
    holds = (Text("  the strategy that holds"), Text(effective.value, style="bold"))
    return Group(Text(safe(str(subject)), style="bold"), aligned([*rows, holds]))
