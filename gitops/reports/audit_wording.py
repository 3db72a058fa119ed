"""What an audit comes to, in a sentence, and its findings in short."""

from __future__ import annotations

import re
from typing import Final

from gitops.model.audit import ASSUMED, AuditReport
from gitops.model.findings import Finding, Severity
from gitops.reports.broker_wording import broker_lines, with_evidence
from gitops.reports.check_summary import count, severity_counts

_OWN: Final = re.compile(r"v\d+(?:, .+)?|[A-Z_]+ is in force|retention (?:of|without) .+")
"""What a message begins with where its cause is one of many subjects.

Versions, a strategy, or how long messages stay.
"""


_OF_UPGRADE: Final = "AUDIT-U"


def verdict_text(report: AuditReport) -> str:
    """The sign and one sentence."""
    counts = report.counts
    if counts.changed:
        verb = "loses" if counts.changed == 1 else "lose"
        of_all = f"{counts.changed:,} of {count(counts.topics, 'topic')}"
        lost = f"{of_all} {verb} something on {report.target}"
        return f"✗ {lost}{_other_errors(report)}{_unread(report)}"
    counted = severity_counts(report.findings)
    ready = f"{report.target} refuses nothing that {report.line} accepts" if report.target else ""
    worst = max((finding.severity for finding in report.findings), default=Severity.OFF)
    errors = [finding for finding in report.findings if finding.severity is Severity.ERROR]
    if ready and errors and not any(error.rule.startswith(_OF_UPGRADE) for error in errors):
        # The upgrade is safe, the registry is not in order: two facts, two signs.
        sign = "⚠" if report.limits else "✓"
        return f"{sign} {ready}; ✗ {counted} in the registry as it is{_unread(report)}"
    if worst is Severity.ERROR:
        return f"✗ {f'{ready}; ' if ready else ''}{counted}{_unread(report)}"
    doubtful = worst is Severity.WARNING or report.limits
    return f"{'⚠' if doubtful else '✓'} {ready or counted or 'no findings'}{_unread(report)}"


def _other_errors(report: AuditReport) -> str:
    """Errors that are there without any upgrade."""
    other_findings = [
        finding for finding in report.findings if not finding.rule.startswith(_OF_UPGRADE)
    ]
    errors = sum(other_finding.severity is Severity.ERROR for other_finding in other_findings)
    return f"; {count(errors, 'other error')}" if errors else ""


def _unread(report: AuditReport) -> str:
    return "; not all could be read" if report.limits else ""


def scope_text(report: AuditReport) -> str:
    """`production · http://… · Pulsar 4.0 → 5.0 · history under FULL · 214 topics, …`."""
    counts = report.counts
    line = f"Pulsar {with_evidence(report.line)}"
    line += f" → {with_evidence(report.target)}" if report.target else ""
    line += ", both in the cluster" if report.is_under_way else ""
    strategy = [f"history under {report.strategy}"] if report.strategy else []
    size = ", ".join(
        count(number, noun)
        for number, noun in (
            (counts.topics, "topic"),
            (counts.versions, "version"),
            (counts.namespaces, "namespace"),
        )
    )
    address = [] if report.address == report.registry else [report.address]
    return " · ".join([report.registry, *address, line, *strategy, size])


def decided_by(report: AuditReport) -> tuple[str, ...]:
    """What is known of the present brokers, and what is assumed; what is in no list."""
    unlisted = (f"not seen: {report.unlisted}",) if report.unlisted else ()
    return (*broker_lines(report.broker, "`--broker`"), *unlisted)


def subject_count(finding: Finding) -> str:
    """`3 topics`, or the only subject."""
    members = finding.members
    if len(members) == 1:
        return members[0].subject
    return count(len(members), "topic" if members[0].subject.count("/") > 1 else "namespace")


def own_text(member: Finding, cause: str = "") -> str:
    """What a subject has of its own in a cause: versions or strategy, and a reason; or empty."""
    label, colon, rest = member.message.partition(ASSUMED)[0].partition(": ")
    cause = cause.partition(ASSUMED)[0]
    if not (colon and _OWN.fullmatch(label)):
        return ""
    reason = rest.removeprefix(cause) if cause and rest.startswith(f"{cause}: ") else ""
    return f"{label}{reason}"


def member_text(member: Finding, cause: str = "") -> str:
    """The subject, with what it has of its own."""
    return f"{member.subject} {own_text(member, cause)}".rstrip()


def cause_clauses(finding: Finding) -> list[str]:
    """What is wrong, then whom it affects: without what only one subject has."""
    message = finding.message
    if own := "" if finding.variants else own_text(finding):
        message = message.removeprefix(f"{own}: ")
    return clauses(message)


def clauses(text: str) -> list[str]:
    """The parts of a sentence, a line each."""
    return text.split("; ")
