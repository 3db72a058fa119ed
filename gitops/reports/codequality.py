"""GitLab's Code Quality report: the part of Code Climate's format that GitLab reads."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from gitops.model.findings import Finding, Location, Severity
from gitops.reports.check_summary import (
    ReportedFinding,
    all_findings,
    base_line,
    git_root_path,
    reported_causes,
    see_line,
    subjects_text,
)
from gitops.reports.json.documents import to_text
from gitops.reports.results import ReviewResult
from gitops.reports.text.plain import short

_SEVERITIES: Final = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}
_MAX_TEXT: Final = 2000
_NAMED: Final = 10
"""How many subjects of one finding are named."""
_WHOLE: Final = Location(file="gitops.yaml")
"""Where a finding about no file stands: an entry needs a place."""


def codequality_text(result: ReviewResult) -> str:
    """An entry for each cause, the worst first; a registry without an answer is one, too."""
    report, seen = result.report, Counter[str]()
    entries = [
        _entry("PULSAR-NO-ANSWER", f"no answer from {name}: {why}", f"failure {name}")
        for name, why in sorted(report.failures.items())
    ]
    for reported_cause in reported_causes(all_findings(report)):
        finding = reported_cause.finding
        if finding.severity not in _SEVERITIES:
            continue
        seen[finding.fingerprint] += 1
        number = f"{finding.fingerprint}:{seen[finding.fingerprint]}"
        entry = _entry(finding.rule, _description(reported_cause, result.folder), number)
        entry["severity"] = _SEVERITIES[finding.severity]
        entry["location"] = _place(finding.place or _WHOLE, result.folder)
        entries.append(entry)
    return to_text(entries)


def _entry(rule: str, text: str, fingerprint: str) -> dict[str, Any]:
    return {
        "check_name": rule,
        "description": short(text, _MAX_TEXT),
        "fingerprint": fingerprint,
        "severity": "major",
        "location": _place(_WHOLE, ""),
    }


def _description(cause: ReportedFinding, prefix: str) -> str:
    finding, on = cause.finding, ", ".join(cause.registries)
    names = subjects_text(finding, _NAMED)
    texts = (
        f"{finding.rule}{f' on {on}' if on else ''}: {_subject(finding)}{finding.message}.",
        f"For {names}." if names else "",
        base_line(finding),
        see_line(finding, prefix),
        finding.hint,
    )
    return " ".join(text for text in texts if text)


def _subject(finding: Finding) -> str:
    """Who it is about, where neither a file nor the message names it."""
    named = finding.place or len(finding.subjects) != 1 or finding.subject in finding.message
    return "" if named else f"{finding.subject}: "


def _place(where: Location, prefix: str) -> dict[str, Any]:
    line = 1 if where.in_base else max(1, where.line)
    return {"path": git_root_path(prefix, where.file), "lines": {"begin": line}}
