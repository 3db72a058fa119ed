"""Findings: place, rule, severity; then what is wrong, the line it is on, and what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from gitops.model.findings import Finding, Location, Severity
from gitops.reporters.text.plain import safe, short

Excerpt = Callable[[Location], str | None]
"""The text of the line that a location is on, None where there is none to show."""

STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
_MAX_LINE = 160


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
    head = Text.assemble((place, "bold"), "  ", finding.rule, " ", _severity(finding.severity))
    body: list[RenderableType] = [Text(short(finding.message, 2000))]
    if where and where.line and not where.sensitive:
        body += _lines(where, excerpt(where))
    if finding.hint:
        body.append(Text(short(finding.hint, 2000), style="italic"))
    return Group(head, Padding(Group(*body), (0, 0, 0, 4), expand=False))


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


def _lines(where: Location, line: str | None) -> list[RenderableType]:
    if line is None:
        return []
    number = str(where.line)
    column = max(where.column - 1, 0)
    skipped = max(0, column - _MAX_LINE // 2)
    # Tabs and other odd characters are shown as one mark each, so that the carets stand right.
    shown = "".join(c if c.isprintable() else "·" for c in line[skipped : skipped + _MAX_LINE])
    start = "… " if skipped else ""
    end = " …" if len(line) > skipped + _MAX_LINE else ""
    room = max(1, min(where.length, len(shown) - (column - skipped)))
    gap = " " * (len(start) + column - skipped)
    return [
        Text(f"{number} | {start}{shown}{end}", style="dim", no_wrap=True, overflow="ellipsis"),
        Text(
            f"{' ' * len(number)} | {gap}{'^' * room}",
            style="dim",
            no_wrap=True,
            overflow="ellipsis",
        ),
    ]
