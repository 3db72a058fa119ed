"""What to do before an upgrade, and in which order: once for all findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from gitops.audit.upgrade import DOWNGRADE, INVALID, NOT_AVRO, OTHERWISE
from gitops.broker.lines.line import BrokerLine
from gitops.broker.lines.table import find_line, with_legacy_json
from gitops.model.audit import AuditReport
from gitops.model.findings import Finding


def upgrade_steps(
    present: BrokerLine,
    target: BrokerLine,
    deadlines: Mapping[str, str],
    findings: Sequence[Finding],
) -> Iterator[str]:
    """Whole clauses, in the order in which to do them; none where nothing is to be done.

    `deadlines` are by topic: "at once" comes before "before the first broker".
    """
    rules = {finding.rule for finding in findings}
    parts = {text: _subjects(findings, deadlines, text) for text in sorted({*deadlines.values()})}
    loses_external = present.rules.has_external and not target.rules.has_external
    external = "; of the type EXTERNAL with --force" if loses_external else ""
    for deadline, subjects in parts.items():
        if stored := _named(subjects, INVALID, NOT_AVRO):
            yield (
                f"on {present.name}, {deadline}, for {stored}: "
                "let consumers read the backlog, delete the topic's schema (a version on top does "
                f"not help{external}), register what the finding names, and deploy it with "
                "producers and consumers"
            )
    if NOT_AVRO in rules and with_legacy_json(target) is not target:
        yield (
            "where JSON stays in Jackson's form: schemaJsonAllowLegacyJacksonFormat=true in the "
            f"broker.conf of every broker of {target.name}"
        )
    for deadline, subjects in parts.items():
        if refused := _named(subjects, OTHERWISE):
            yield (
                f"{deadline}, for {refused}: register a definition that {present.name} and "
                f"{target.name} both accept"
            )
    if DOWNGRADE in rules:
        yield f"until no broker of {present.name} is left: register nothing that {DOWNGRADE} lists"


def _subjects(
    findings: Iterable[Finding], deadlines: Mapping[str, str], deadline: str
) -> dict[str, set[str]]:
    """The topics of each rule with this deadline."""
    grouped: dict[str, set[str]] = {}
    for finding in findings:
        topics = {
            member.subject
            for member in finding.members
            if deadlines.get(member.subject) == deadline
        }
        if topics:
            grouped.setdefault(finding.rule, set()).update(topics)
    return grouped


def releases_hint(report: AuditReport) -> str:
    """What to know of an audit of a cluster whose brokers have different releases."""
    lines = (find_line(release) for release in report.broker.other_releases)
    others = {line.name for line in lines if line} - {report.line, report.target}
    judged = (
        f"judged as the upgrade from {report.line} to {report.target}, which brokers of the "
        f"cluster have already: AUDIT-U001 to AUDIT-U004 are what those answer otherwise"
        if report.is_under_way
        else "finish the upgrade"
    )
    asked = " and ".join(f"--as-if-broker {name}" for name in sorted(others))
    return f"{judged}; {asked} lists what those of that line answer otherwise" if asked else judged


def _named(subjects: Mapping[str, set[str]], *rules: str) -> str:
    """The topics of these rules: few by name; of many some, how many, and where all are."""
    texts = [rule for rule in rules if rule in subjects]
    topics = sorted({topic for rule in texts for topic in subjects[rule]})
    named, left, place = ", ".join(topics[:_NAMED]), len(topics) - _NAMED, " and ".join(texts)
    if left <= 0:
        return f"{named} ({place})" if topics else ""
    return f"each of {len(topics):,} topics ({named} and {left:,} more: all are under {place})"


_NAMED: Final = 3
"""So many topics are named in a step."""
