"""An audit in a terminal: the verdict, what was read, then a block for each cause."""

from __future__ import annotations

from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from gitops.model.findings import Finding, Severity
from gitops.reports.audit_wording import (
    decided_by,
    member_text,
    scope_text,
    subject_count,
    verdict_text,
)
from gitops.reports.results import AuditResult
from gitops.reports.text.findings import STYLES, count_line
from gitops.reports.text.plain import safe, short

_SIGNS: Final = {Severity.ERROR: "✗", Severity.WARNING: "⚠", Severity.INFO: "i"}
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
    parts += [Text(f"not read: {short(limit)}", style="yellow") for limit in report.limits]
    last = count_line(report.findings)
    parts.append(Text.assemble(last, f"   {result.seconds:.1f} s"))
    return Group(*parts)


def _block(finding: Finding) -> RenderableType:
    style = STYLES[finding.severity]
    head = Text.assemble(
        (_SIGNS[finding.severity], style),
        " ",
        (safe(subject_count(finding)), "bold"),
        "  ",
        finding.rule,
        " ",
        (finding.severity.name.lower(), style),
    )
    body = [Text(short(finding.message, 2000))]
    if finding.variants:
        body += [Text(f"  {safe(member_text(one))}") for one in finding.members[:_SHOWN]]
        left = len(finding.members) - _SHOWN
        if left > 0:
            body.append(Text(f"  … {left:,} more; --format json has all", style="dim"))
    if finding.hint:
        body.append(Text(short(finding.hint, 2000), style="italic"))
    return Group(head, Padding(Group(*body), (0, 0, 0, 4), expand=False))
