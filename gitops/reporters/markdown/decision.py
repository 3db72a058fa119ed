"""One decision as Markdown: the verdict, what differs, every reason."""

from __future__ import annotations

from collections.abc import Sequence

from gitops.compatibility.decision import Decision
from gitops.model.findings import Finding
from gitops.model.plan import SchemaChange
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.reporters.markdown.parts import changes_block, finding_item
from gitops.reporters.markdown.sections import COMMENT_LIMIT, Section, fit


def decision_markdown(
    strategy: SchemaCompatibilityStrategy,
    decision: Decision,
    findings: Sequence[Finding],
    changes: Sequence[SchemaChange],
    limit: int = COMMENT_LIMIT,
) -> str:
    """The document, of at most `limit` bytes."""
    items = tuple(finding_item(finding) for finding in findings)
    sections = (
        Section(blocks=(f"### {_verdict(strategy, decision)}\n\n",)),
        Section(blocks=(f"{changes_block(changes)}\n",) if changes else ()),
        Section(blocks=items, cut=1, noun="findings"),
    )
    shows = "`pulsar-gitops compat --format json` shows all"
    return fit([each for each in sections if each.blocks], limit, shows)


def _verdict(strategy: SchemaCompatibilityStrategy, decision: Decision) -> str:
    if not decision.accepted:
        return f"✗ Pulsar would refuse it under {strategy.value}"
    if decision.known:
        return f"✓ Pulsar takes it for v{decision.version}, which it equals"
    return f"✓ Pulsar would take it under {strategy.value} as v{decision.version}"
