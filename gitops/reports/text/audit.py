"""An audit in a terminal: the verdict, what was read, then a block for each cause."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from gitops.model.audit import ITEM
from gitops.model.findings import Finding, Severity
from gitops.reports.audit_wording import (
    cause_clauses,
    clauses,
    decided_by,
    own_text,
    scope_text,
    subject_count,
    verdict_text,
)
from gitops.reports.operation_results import AuditResult
from gitops.reports.text.findings import STYLES, count_line
from gitops.reports.text.layout import align_columns
from gitops.reports.text.plain import safe, short

_SIGNS: Final = {
    Severity.ERROR: "✗",
    Severity.WARNING: "⚠",
    Severity.INFO: "\N{INFORMATION SOURCE}",
}
_LONGEST: Final = 2000
_SHOWN: Final = 5
"""How many topics of one cause have a line."""


def audit_text(result: AuditResult) -> RenderableType:
    """The whole audit."""
    report = result.audit
    parts: list[RenderableType] = [
        Text(safe(verdict_text(report)), style="bold"),
        Text(safe(scope_text(report)), style="dim"),
        *(Text(safe(line), style="dim") for line in decided_by(report)),
        Text(""),
    ]
    for finding in report.findings:
        parts += [_block(finding), Text("")]
    parts += _steps(report.steps)
    parts += [Text(f"not read: {short(limit)}", style="yellow") for limit in report.limits]
    last = count_line(report.findings)
    parts.append(Text.assemble(last, f"   {result.seconds:.1f} s"))
    return Group(*parts)


def _steps(steps: Sequence[str]) -> list[RenderableType]:
    """What to do, in order."""
    if not steps:
        return []
    rows = [_hanging(f"  {number}  ", Text(safe(text))) for number, text in enumerate(steps, 1)]
    return [Text("what to do, in this order", style="bold"), *rows, Text("")]


def _block(finding: Finding) -> RenderableType:
    style = STYLES[finding.severity]
    own = "" if finding.variants else own_text(finding)
    head = Text.assemble(
        (_SIGNS[finding.severity], style),
        " ",
        (safe(subject_count(finding)), "bold"),
        safe(f"  {own}" if own else ""),
        "  ",
        finding.rule,
        " ",
        (finding.severity.name.lower(), style),
    )
    body: list[RenderableType] = [
        *(_clause(short(cause_clause, _LONGEST)) for cause_clause in cause_clauses(finding)),
        *_members(finding),
    ]
    hints = clauses(finding.hint) if finding.hint else []
    body += [_hanging("→ ", Text(short(hint, _LONGEST), style="italic")) for hint in hints]
    return Group(head, Padding(Group(*body), (0, 0, 0, 4), expand=False))


def _clause(text: str) -> RenderableType:
    """A line, or an item of a list."""
    item = text.removeprefix(ITEM)
    return Text(text) if item == text else _hanging(f"  {ITEM}", Text(item))


def _members(finding: Finding) -> list[RenderableType]:
    """The subjects of one cause, in columns; the first of many."""
    if not finding.variants:
        return []
    members = finding.members
    cause = finding.message
    rows = [
        [Text(safe(member.subject)), Text(safe(own_text(member, cause)))]
        for member in members[:_SHOWN]
    ]
    left = len(members) - _SHOWN
    if left > 0:
        rows.append([Text(f"… {left:,} more; --format json has all", style="dim")])
    return [Padding(align_columns(rows), (0, 0, 0, 2), expand=False)]


def _hanging(mark: str, content: Text) -> RenderableType:
    """A mark, and a text whose further lines begin below its first word."""
    row = Table.grid()
    row.add_column(no_wrap=True)
    row.add_column()
    row.add_row(Text(mark), content)
    return row
