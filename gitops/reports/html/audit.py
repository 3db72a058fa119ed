"""An audit as an HTML page: the verdict, a table of causes, a card for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

import gitops
from gitops.model.audit import ITEM
from gitops.model.findings import Finding, Severity
from gitops.reports.audit_wording import (
    cause_clauses,
    clauses,
    decided_by,
    member_text,
    scope_text,
    subject_count,
    verdict_text,
)
from gitops.reports.html.page import code, page, section, table, text
from gitops.reports.operation_results import AuditResult

_SIGNS: Final = {Severity.ERROR: ("bad", "✗"), Severity.WARNING: ("warn", "⚠")}
_NOTE: Final = ("soft", "\N{INFORMATION SOURCE}")
_OPEN: Final = 5
"""Up to so many topics of one cause are seen at once."""
_SHOWN: Final = 1000
"""How many topics of one cause are named."""


def audit_html(result: AuditResult) -> str:
    """The whole page."""
    report = result.audit
    message = verdict_text(report)
    parts = [
        f"<header>\n<h1>{text(message)}</h1>\n",
        *(
            f'<p class="soft">{text(line)}</p>\n'
            for line in (scope_text(report), *decided_by(report), _made(result))
        ),
        "</header>\n<main>\n",
        _overview(report.findings),
        section("What to do, in this order", _steps(report.steps)),
        *(_card(finding, f"cause-{number}") for number, finding in enumerate(report.findings, 1)),
        section("Not read", "".join(f"<p>{text(limit)}</p>\n" for limit in report.limits)),
        f"</main>\n<footer>{code(result.command)}</footer>\n",
    ]
    return page(f"Audit: {message}", "".join(parts))


def _made(result: AuditResult) -> str:
    """When and of which files, by which release of this program."""
    made = result.made.strftime("%Y-%m-%d %H:%M UTC") if result.made else ""
    value = result.commit()
    commit = f"commit {value}" if value else ""
    return " · ".join(filter(None, [made, commit, f"pulsar-gitops {gitops.__version__}"]))


def _overview(findings: tuple[Finding, ...]) -> str:
    rows = [
        (
            _sign(finding),
            f'<a href="#cause-{number}">{_inline(cause_clauses(finding)[0])}</a>',
            text(subject_count(finding)),
        )
        for number, finding in enumerate(findings, 1)
    ]
    return table(("", "Cause", "Affected"), rows) if rows else ""


def _steps(steps: Sequence[str]) -> str:
    items = "".join(f"<li>{_inline(step)}</li>\n" for step in steps)
    return f"<ol>\n{items}</ol>\n" if items else ""


def _card(finding: Finding, anchor: str) -> str:
    cause, *effects = cause_clauses(finding)
    hints = clauses(finding.hint) if finding.hint else []
    texts = [] if finding.variants else [f"<p>{code(member_text(finding))}</p>\n"]
    texts += _effects(effects)
    texts += [f"<p><em>→ {_inline(hint)}</em></p>\n" for hint in hints]
    head = f'<div class="head"><h2>{_sign(finding)} {_inline(cause)}</h2>'
    return (
        f'<section class="card" id="{anchor}">{head}{code(finding.rule)}</div>\n'
        f"{''.join(texts)}{_members(finding)}</section>\n"
    )


def _effects(effects: Sequence[str]) -> Iterator[str]:
    """Paragraphs, and lists of what are items."""
    for is_item, group in groupby(effects, lambda word: word.startswith(ITEM)):
        shown = [_inline(word.removeprefix(ITEM)) for word in group]
        if is_item:
            items = "".join(f"<li>{word}</li>\n" for word in shown)
            yield f"<ul>\n{items}</ul>\n"
        else:
            yield from (f"<p>{word}</p>\n" for word in shown)


def _inline(content: str) -> str:
    """A sentence; what stands in backticks is code."""
    parts = content.split("`")
    if len(parts) % 2 == 0:
        return text(content)
    return "".join(code(word) if at % 2 else text(word) for at, word in enumerate(parts))


def _members(finding: Finding) -> str:
    """The subjects of one cause, folded where they are many."""
    members = finding.members
    if not finding.variants:
        return ""
    items = "".join(
        f"<li>{code(member_text(member, finding.message))}</li>\n" for member in members[:_SHOWN]
    )
    left = len(members) - _SHOWN
    remainder = f"<li>… {left:,} more; {code('--format json')} has all</li>\n" if left > 0 else ""
    is_open = " open" if len(members) <= _OPEN else ""
    head = f"<details{is_open}><summary>{text(subject_count(finding))}</summary>"
    return f"{head}\n<ul>\n{items}{remainder}</ul>\n</details>\n"


def _sign(finding: Finding) -> str:
    colour, sign = _SIGNS.get(finding.severity, _NOTE)
    return f'<span class="{colour}">{sign}</span>'
