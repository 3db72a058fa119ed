"""Findings: place, rule, severity; then what is wrong, the line it is on, and what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from gitops.model.findings import Finding, Location, Severity
from gitops.reporters.text.plain import safe, short
from gitops.reporters.text.source_line import SourceLine

Excerpt = Callable[[Location], str | None]
"""The text of the line that a location is on, None where there is none to show."""

_PATCH_STYLES = {"-": "red", "+": "green"}
_DIFF_HEAD = 2
"""The lines of a unified diff that name the files."""

STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}


def findings_report(findings: Sequence[Finding], excerpt: Excerpt) -> RenderableType:
    """Every finding, a blank line between two, and a last line that counts them."""
    parts: list[RenderableType] = []
    for finding in findings:
        parts += [finding_block(finding, excerpt), Text("")]
    parts.append(count_line(findings))
    return Group(*parts)


def finding_block(finding: Finding, excerpt: Excerpt) -> RenderableType:
    """One finding."""
    where = finding.location
    place = safe(str(where)) if where else safe(finding.subject) or "repository"
    head = Text.assemble(
        (place, "bold"), _whose(where), "  ", finding.rule, " ", _severity(finding.severity)
    )
    body: list[RenderableType] = [Text(short(finding.message, 2000))]
    line = excerpt(where) if where and where.line and not where.sensitive else None
    if where and line is not None:
        body.append(SourceLine(where, line))
    body += _compared(finding.compared, excerpt)
    if finding.hint:
        body.append(Text(short(finding.hint, 2000), style="italic"))
    body += _patch(finding.patch)
    return Group(head, Padding(Group(*body), (0, 0, 0, 4), expand=False))


def _compared(where: Location | None, excerpt: Excerpt) -> list[RenderableType]:
    """The other side of the comparison, where it stands in a file."""
    if where is None or not where.line or not where.pointer:
        return []
    line = excerpt(where)
    head = Text.assemble("compare ", (safe(str(where)), "bold"), _whose(where))
    return [head] if line is None or where.sensitive else [head, SourceLine(where, line)]


def _whose(where: Location | None) -> str:
    return " in the base" if where and where.in_base else ""


def _patch(patch: str) -> list[RenderableType]:
    """The lines of a unified diff that go and come."""
    lines = [line for line in patch.split("\n")[_DIFF_HEAD:] if line[:1] in _PATCH_STYLES]
    return [
        Text(f"{line[0]} {short(line[1:].strip(), 2000)}", style=_PATCH_STYLES[line[0]])
        for line in lines
    ]


def count_line(findings: Iterable[Finding]) -> Text:
    """`2 errors, 1 warning`, or `no findings`."""
    counts = Counter(finding.severity for finding in findings)
    words = [
        f"{counts[severity]} {severity.name.lower()}{'' if counts[severity] == 1 else 's'}"
        for severity in sorted(counts, reverse=True)
    ]
    style = STYLES[max(counts)] if counts else "green"
    return Text(", ".join(words) or "no findings", style=style)


def _severity(severity: Severity) -> tuple[str, str]:
    return severity.name.lower(), STYLES.get(severity, "")
