"""An audit as Markdown: the verdict, a table of causes, and a fold for each."""

from __future__ import annotations

from gitops.model.findings import Finding, Severity
from gitops.reports.audit_wording import (
    decided_by,
    member_text,
    scope_text,
    subject_count,
    verdict_text,
)
from gitops.reports.markdown.document import COMMENT_LIMIT, ICONS, Section, fit
from gitops.reports.markdown.escaping import code, message, prose
from gitops.reports.results import AuditResult

_SHOWN = 50
"""How many subjects of one cause are named."""


def audit_markdown(result: AuditResult, limit: int = COMMENT_LIMIT) -> str:
    """The document, of at most `limit` bytes; the worst causes come first."""
    report = result.audit
    scope = (prose(scope_text(report)), *map(message, decided_by(report)))
    sections = (
        Section(blocks=(f"### {prose(verdict_text(report))}\n\n{'<br>'.join(scope)}\n\n",)),
        Section(
            blocks=tuple(_row(one) for one in report.findings),
            head="| | Rule | Affected | Cause |\n|---|---|---|---|\n",
            tail="\n",
            cut=1,
            noun="findings",
        ),
        Section(
            blocks=tuple(_fold(one) for one in report.findings if one.severity > Severity.INFO),
            cut=2,
            noun="findings' details",
        ),
        Section(
            blocks=tuple(f"- {prose(one)}\n" for one in report.limits),
            head="#### Not read\n\n",
            tail="\n",
            cut=3,
            noun="sentences",
        ),
        Section(blocks=(f"<sub>reproduce: {code(result.command)}</sub>\n",)),
    )
    everything = f"{code(f'{result.command} --format json')} shows all"
    return fit([each for each in sections if each.blocks], limit, everything)


def _row(finding: Finding) -> str:
    icon = ICONS.get(finding.severity, "")
    cells = (icon, code(finding.rule), code(subject_count(finding)), prose(finding.message))
    return f"| {' | '.join(cells)} |\n"


def _fold(finding: Finding) -> str:
    members = finding.members
    lines = (
        [f"- {code(member_text(one))}\n" for one in members[:_SHOWN]] if len(members) > 1 else []
    )
    left = len(members) - _SHOWN
    more = f"- … {left:,} more\n" if left > 0 else ""
    fix = f"\n→ {message(finding.hint)}\n" if finding.hint else ""
    head = (
        f"<details><summary>{prose(finding.rule)} · {prose(subject_count(finding))}</summary>\n\n"
    )
    return f"{head}{''.join(lines)}{more}{fix}\n</details>\n\n"
