"""Findings in a terminal: place, rule, the line it is on; also lists of rules and files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.text import Text

from gitops.model.findings import Finding, Location, Severity
from gitops.model.rules.rule import Rule
from gitops.reports.check_summary import changed_lines, subjects_text
from gitops.reports.results import Excerpt, FindingsResult, FmtResult
from gitops.reports.text.layout import Hanging, align_columns
from gitops.reports.text.plain import safe, short
from gitops.repository.formatting.repository import FormatResult, FormattedFile

# The line that a finding is on, with carets under the place.

_CUT: Final = "…"

_FAR: Final = 2_000
"""How many characters before and behind the place are looked at: whole files can be one line."""


@dataclass(frozen=True, slots=True)
class SourceLine:
    """As much of a line as the terminal is wide, the place always in it; a cut says so."""

    where: Location
    line: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        number = str(self.where.line)
        # Columns do not count a byte order mark, and nobody sees it.
        line = self.line.removeprefix("\ufeff")
        first = max(0, min(self.where.column - 1, len(line)))
        last = min(first + max(1, self.where.length), len(line))
        ahead, behind = max(0, first - _FAR), max(0, len(line) - last - _FAR)
        line = line[ahead : len(line) - behind]
        first, last = first - ahead, last - ahead
        # Tabs and other odd characters are shown as one mark each, so that the carets stand right.
        text = "".join(char if char.isprintable() else "·" for char in line)
        text = text.replace("##[", "##·")  # a command, wherever it stands in a workflow's log
        start, end = _window(text, first, last, max(1, options.max_width - len(number) - 3))
        head = f"{_CUT} " if start or ahead else ""
        tail = f" {_CUT}" if end < len(text) or behind else ""
        gap = " " * cell_len(head + text[start:first])
        carets = "^" * max(1, cell_len(text[first : min(last, end)]))
        for margin, content in (
            (number, f"{head}{text[start:end]}{tail}"),
            (" " * len(number), f"{gap}{carets}"),
        ):
            yield Text(f"{margin} | {content}", style="dim", no_wrap=True, overflow="crop")


def _window(text: str, first: int, last: int, room: int) -> tuple[int, int]:
    """Which characters to show in `room` cells, so that the place from `first` is among them."""
    behind_the_end = first == len(text)
    if cell_len(text) + behind_the_end <= room:
        return 0, len(text)
    left = max(1, room - 2 * (len(_CUT) + 1))
    start = first
    if cell_len(text[:last]) <= left // 2:
        start = 0
    # What is wrong is mostly behind the place: the rest of a type, or of a field.
    while start and cell_len(text[start - 1 : first]) <= left // 8:
        start -= 1
    end = start
    while end < len(text) and cell_len(text[start : end + 1]) <= left:
        end += 1
    while start and cell_len(text[start - 1 : end]) <= left:
        start -= 1
    return start, end


# Findings: place, rule, severity; then what is wrong, the line it is on, and what to do.


_PATCH_STYLES = {"-": "red", "+": "green"}

_NAMED: Final = 5
"""How many subjects of one finding are named."""

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
    body += _subjects(finding) or _compared(finding.compared, excerpt)
    if finding.hint:
        body.append(Text(short(finding.hint, 2000), style="italic"))
    body += _patch(finding.patch)
    return Group(Hanging(head), Padding(Group(*body), (0, 0, 0, 4), expand=False))


def _subjects(finding: Finding) -> list[RenderableType]:
    """Whom a finding is about, where these are several."""
    names = subjects_text(finding, _NAMED)
    return [Text(f"for {safe(names)}")] if names else []


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
    return [
        Hanging(Text(short(line, 2000), style=_PATCH_STYLES[line[0]]))
        for line in changed_lines(patch)
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


# All rules, a line each.


def rules_report(rules: Iterable[Rule]) -> RenderableType:
    """Id, severity, title of every rule, and how to read on."""
    rows = [
        (
            Text(rule.id, style="bold"),
            Text(_default_severity(rule), style=STYLES[rule.highest_severity]),
            Text(rule.title),
        )
        for rule in rules
    ]
    return Group(
        align_columns(rows),
        Text(""),
        Text(
            "pulsar-gitops explain RULE-ID has more; it also explains strategies, schema-types and "
            "exit-codes, and each of them. gitops.yaml can change the severity of all rules but "
            "the fixed ones (always); off makes rules about clients and readers info."
        ),
    )


def _default_severity(rule: Rule) -> str:
    if rule.if_promised is not None:
        return f"{rule.if_promised.name.lower()} or {rule.severity.name.lower()}"
    return rule.severity.name.lower() + ("" if rule.configurable else ", always")


# What `fmt` changed or would change.


def formatting_text(formatting: FormatResult, *, written: bool, diff: bool) -> str:
    """A line for each file, or its unified diff, then the numbers; files left alone with why."""
    lines = [
        *(
            line
            for change in formatting.changes
            for line in _change(change, written=written, diff=diff)
        ),
        *(line for finding in formatting.findings for line in _finding(finding)),
        _sum(formatting, written=written),
    ]
    return "".join(f"{line}\n" for line in lines)


def _change(change: FormattedFile, *, written: bool, diff: bool) -> Iterator[str]:
    if diff and change.diff:
        for line in change.diff.removesuffix("\n").split("\n"):
            yield "\t".join(map(safe, line.split("\t")))
        return
    did = "changed" if written else "would change"
    why = ", which is not shown: it may contain a secret" if diff and change.sensitive else ""
    yield f"{did} {safe(change.path)}{why}"


def _finding(finding: Finding) -> Iterator[str]:
    where = f" {safe(str(finding.location))}" if finding.location else ""
    yield f"left alone{where}  {finding.rule} {safe(finding.message)}"
    if finding.hint:
        yield f"  {safe(finding.hint)}"


def _sum(formatting: FormatResult, *, written: bool) -> str:
    parts = []
    if formatting.changes:
        parts.append(f"{len(formatting.changes)} {'changed' if written else 'would change'}")
    parts.append(f"{formatting.canonical} in order")
    if formatting.findings:
        files = {finding.location.file for finding in formatting.findings if finding.location}
        parts.append(f"{len(files)} left alone")
    return ", ".join(parts)


def findings_text(result: FindingsResult) -> RenderableType:
    """The findings about files."""
    return findings_report(result.findings, result.excerpt)


def fmt_text(result: FmtResult) -> str:
    """The files that `fmt` changed, or would change."""
    return formatting_text(result.formatting, written=result.written, diff=result.diff)
