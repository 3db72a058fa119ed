"""An audit as an HTML page: the verdict, a table of causes, a card for each."""

from __future__ import annotations

from typing import Final

from gitops.model.findings import Finding, Severity
from gitops.model.rules import RULES
from gitops.reports.audit_wording import (
    decided_by,
    member_text,
    scope_text,
    subject_count,
    verdict_text,
)
from gitops.reports.html.page import code, page, section, table, text
from gitops.reports.results import AuditResult

_SIGNS: Final = {Severity.ERROR: ("bad", "✗"), Severity.WARNING: ("warn", "⚠")}
_NOTE: Final = ("soft", "i")
_SHOWN: Final = 1000
"""How many topics of one cause are named."""


def audit_html(result: AuditResult) -> str:
    """The whole page."""
    report = result.audit
    said = verdict_text(report)
    parts = [
        f"<header>\n<h1>{text(said)}</h1>\n",
        *(
            f'<p class="soft">{text(one)}</p>\n'
            for one in (scope_text(report), *decided_by(report))
        ),
        "</header>\n<main>\n",
        _overview(report.findings),
        *(_card(one, f"cause-{number}") for number, one in enumerate(report.findings, 1)),
        section("Not read", "".join(f"<p>{text(one)}</p>\n" for one in report.limits)),
        f"</main>\n<footer>{code(result.command)}</footer>\n",
    ]
    return page(f"Audit: {said}", "".join(parts))


def _overview(findings: tuple[Finding, ...]) -> str:
    rows = [
        (
            _sign(one),
            f'<a href="#cause-{number}">{text(_title(one))}</a>',
            text(subject_count(one)),
            code(one.rule),
        )
        for number, one in enumerate(findings, 1)
    ]
    return table(("", "Cause", "Affected", "Rule"), rows, roomy=(3,)) if rows else ""


def _card(finding: Finding, anchor: str) -> str:
    members = finding.members
    items = "".join(f"<li>{code(member_text(one))}</li>\n" for one in members[:_SHOWN])
    left = len(members) - _SHOWN
    more = f"<li>… {left:,} more</li>\n" if left > 0 else ""
    hint = f"<p><em>{text(finding.hint)}</em></p>\n" if finding.hint else ""
    head = f'<div class="head"><h2>{_sign(finding)} {text(_title(finding))}</h2>'
    return (
        f'<section class="card" id="{anchor}">{head}{code(finding.rule)}</div>\n'
        f"<p>{text(finding.message)}</p>\n{hint}<ul>\n{items}{more}</ul>\n</section>\n"
    )


def _sign(finding: Finding) -> str:
    colour, sign = _SIGNS.get(finding.severity, _NOTE)
    return f'<span class="{colour}">{sign}</span>'


def _title(finding: Finding) -> str:
    return RULES[finding.rule].title
