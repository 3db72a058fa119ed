"""An audit as Markdown: the verdict, a table of causes, and a fold for each."""

from __future__ import annotations

from gitops.model.findings import Finding, Severity
from gitops.reports.audit_wording import (
    cause_clauses,
    clauses,
    decided_by,
    member_text,
    own_text,
    scope_text,
    subject_count,
    verdict_text,
)
from gitops.reports.markdown.document import COMMENT_LIMIT, ICONS, Section, fit
from gitops.reports.markdown.escaping import code, message, prose
from gitops.reports.operation_results import AuditResult

_SHOWN = 50
"""How many subjects of one cause are named."""


def audit_markdown(result: AuditResult, limit: int = COMMENT_LIMIT) -> str:
    """The document, of at most `limit` bytes; the worst causes come first."""
    report = result.audit
    scope = (prose(scope_text(report)), *map(message, decided_by(report)))
    sections = (
        Section(blocks=(f"### {prose(verdict_text(report))}\n\n{'<br>'.join(scope)}\n\n",)),
        Section(
            blocks=tuple(_row(finding) for finding in report.findings),
            head="| | Rule | Affected | Cause |\n|---|---|---|---|\n",
            tail="\n",
            cut=1,
            noun="findings",
        ),
        Section(
            blocks=tuple(f"{n}. {message(text)}\n" for n, text in enumerate(report.steps, 1)),
            head="#### What to do, in this order\n\n",
            tail="\n",
        ),
        Section(
            blocks=tuple(_fold(finding) for finding in report.findings if _has_more(finding)),
            cut=2,
            noun="findings' details",
        ),
        Section(
            blocks=tuple(f"- {prose(text)}\n" for text in report.limits),
            head="#### Not read\n\n",
            tail="\n",
            cut=3,
            noun="sentences",
        ),
        Section(blocks=(f"<sub>reproduce: {code(result.command)}</sub>\n",)),
    )
    everything = f"{code(f'{result.command} --format json')} shows all"
    return fit([section for section in sections if section.blocks], limit, everything)


def _row(finding: Finding) -> str:
    icon = ICONS.get(finding.severity, "")
    cause = "<br>".join(map(message, cause_clauses(finding)))
    several = len(finding.members) > 1
    affected = prose(_affected(finding)) if several else _member(finding.members[0])
    return f"| {icon} | {code(finding.rule)} | {affected} | {cause} |\n"


def _member(member: Finding, cause: str = "") -> str:
    own = own_text(member, cause)
    return f"{code(str(member.subject))} {prose(own)}" if own else code(str(member.subject))


def _has_more(finding: Finding) -> bool:
    """Whether the table's row is not all of it."""
    return bool(finding.variants) or finding.severity > Severity.INFO


def _affected(finding: Finding) -> str:
    return subject_count(finding) if finding.variants else member_text(finding)


def _fold(finding: Finding) -> str:
    members = finding.members if finding.variants else ()
    lines = [f"- {_member(member, finding.message)}\n" for member in members[:_SHOWN]]
    left = len(members) - _SHOWN
    remainder = f"- … {left:,} more; `--format json` has all\n" if left > 0 else ""
    listed = f"{''.join(lines)}{remainder}\n" if members else ""
    hints = clauses(finding.hint) if finding.hint else []
    fix = "".join(f"→ {message(hint)}<br>\n" for hint in hints).removesuffix("<br>\n")
    head = f"{prose(_affected(finding))}: {prose(cause_clauses(finding)[0])}"
    return f"<details><summary>{head}</summary>\n\n{listed}{fix}\n\n</details>\n\n"
