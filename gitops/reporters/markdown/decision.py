"""One decision as Markdown: the verdict, what differs, every reason."""

from __future__ import annotations

from gitops.compatibility.decision import Decision
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.reporters.markdown.parts import changes_block, finding_item
from gitops.reporters.markdown.sections import COMMENT_LIMIT, Section, fit
from gitops.usecases.compare_files import Compared


def decision_markdown(compared: Compared, limit: int = COMMENT_LIMIT) -> str:
    """The document, of at most `limit` bytes."""
    latest = len(compared.old) - 1
    items = tuple(finding_item(finding) for finding in compared.findings)
    sections = (
        Section(blocks=(f"### {_verdict(compared.strategy, compared.decision, latest)}\n\n",)),
        Section(blocks=(f"{changes_block(compared.changes)}\n",) if compared.changes else ()),
        Section(blocks=items, cut=1, noun="findings"),
    )
    shows = "`pulsar-gitops compat --format json` shows all"
    return fit([each for each in sections if each.blocks], limit, shows)


def _verdict(strategy: SchemaCompatibilityStrategy, decision: Decision, latest: int) -> str:
    if latest < 0:
        verb = "✓ Pulsar would take it" if decision.accepted else "✗ Pulsar would refuse it"
        compared = ": nothing was compared" if decision.accepted else ""
        return f"{verb} as the first schema of a topic{compared}"
    if not decision.accepted:
        return f"✗ Pulsar would refuse it under {strategy.value}"
    if decision.known and (decision.version or 0) < latest:
        equal = f"v{decision.version}, which it equals"
        return f"⚠ Pulsar takes it for {equal}: v{latest} stays the latest, and nothing changes"
    if decision.known:
        return f"✓ Pulsar takes it for v{decision.version}, which it equals"
    return f"✓ Pulsar would take it under {strategy.value} as v{decision.version}"
