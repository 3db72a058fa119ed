"""The first line of a report: whether it is good, in one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gitops.model.check import CheckReport
from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.plan import SetPolicy
from gitops.model.rules import RULES
from gitops.reports.check_summary import (
    CLIENTS_FIRST,
    UNREADABLE,
    Verdict,
    all_findings,
    count,
    count_unanswered,
    is_split,
    refusals,
    reported_causes,
    severity_counts,
    verdict,
    waived_lockouts,
)
from gitops.reports.decision_reasons import RENAME
from gitops.reports.topic_rows import Row, TopicStatus

_Standings = Counter[TopicStatus]
"""How many topics stand how; of several registries the worst counts."""

_TAKEN: Final = (
    TopicStatus.NO_SAFE_ORDER,
    TopicStatus.LOOSENED,
    TopicStatus.WARNED,
    TopicStatus.ACCEPTED,
)
_NO_CHANGE: Final = (TopicStatus.DELETED, TopicStatus.DRIFTED, TopicStatus.IGNORED)
_BOTH: Final = 2
_WAIVERS: Final = "waivers/"
_A_CLIENT: Final = "a client"
_NAMED: Final = 2
"""How many kinds of errors are named."""


def headline(report: CheckReport, rows: Sequence[Row]) -> str:
    """One sentence without hostile text: it is made of counts and of rules' titles.

    Of a change it says first whether to merge it.
    """
    sign, text = _verdict(report, rows)
    if report.base:
        return f"{sign} {merge_text(report)}: {text}"
    return f"{sign} {text[0].upper()}{text[1:]}"


def _verdict(report: CheckReport, rows: Sequence[Row]) -> tuple[str, str]:
    topics = _standings(rows)
    match verdict(report):
        case Verdict.REFUSED:
            return "✗", f"{_refused(topics)}{_why(report)}{_others(report)}{_unread(rows)}"
        case Verdict.UNKNOWN:
            return "✗", _unanswered(report)
        case Verdict.ERRORS:
            return "✗", f"{_errors(report)}{'' if is_split(report) else _although(topics)}"
        case Verdict.WARNINGS:
            return "⚠", f"{_good(report, topics)}{_losses(report)}, {_warned(report)}"
        case Verdict.WAIVED | Verdict.GOOD:
            odd = any(
                topics[topic_status]
                for topic_status in TopicStatus
                if topic_status < TopicStatus.WARNED
            )
            locked_out = "; clients can no longer connect" if waived_lockouts(report) else ""
            sign = "⚠" if odd or locked_out else "✓"
            return sign, f"{_good(report, topics)}{locked_out}"


def merge_text(report: CheckReport) -> str:
    """`Do not merge`: whether to, in as few words as that."""
    match verdict(report):
        case Verdict.REFUSED:
            return "Do not merge"
        case Verdict.UNKNOWN:
            return "Do not merge yet"
        case Verdict.ERRORS:
            rules = _error_rules(cause.finding for cause in all_findings(report))
            return "Do not merge yet" if rules == (CLIENTS_FIRST,) else "Do not merge"
        case Verdict.WAIVED:
            reasons = "waivers' reasons are" if len(report.waivers) > 1 else "waiver's reason is"
            return f"Can be merged if the {reasons} true"
        case _:
            return "Can be merged"


def _standings(rows: Iterable[Row]) -> _Standings:
    worst: dict[TopicName, TopicStatus] = {}
    for row in rows:
        worst[row.topic] = min(row.standing, worst.get(row.topic, row.standing))
    return Counter(worst.values())


def _refused(topics: _Standings) -> str:
    if refused := topics[TopicStatus.REFUSED]:
        return f"{_of(refused, topics)} would be refused by Pulsar"
    held = topics[TopicStatus.HELD_BACK]
    verb = "is" if held == 1 else "are"
    return f"{_of(held, topics)} {verb} held back, although Pulsar would accept it"


def _unread(rows: Iterable[Row]) -> str:
    """What else speaks against the change: messages of topics that Pulsar would accept."""
    topics = {row.topic for row in rows if row.is_unread}
    return f", and the replay of {count(len(topics), 'other')} fails" if topics else ""


def _unanswered(report: CheckReport) -> str:
    missing, asked = count_unanswered(report)
    if not missing:
        return "the replay failed"
    if asked == 1:
        return "no answer from the registry"
    return f"no answer from {missing:,} of {asked:,} registries"


def _why(report: CheckReport) -> str:
    """`: a field has no default`, where all refusals have one cause or one rule."""
    rules = {rule for notice in refusals(report) for rule in _error_rules(notice.findings)}
    titles = [RULES[rule].title for rule in rules if rule in RULES]
    hints = [finding.hint for notice in refusals(report) for finding in notice.findings]
    if titles and all(hint.startswith(RENAME) for hint in hints):
        return ": a new field has no default, and may be an old one renamed"
    return f": {titles[0]}" if len(rules) == len(titles) == 1 else ""


def _others(report: CheckReport) -> str:
    """`; clients have to upgrade first`: the errors beside the refusals."""
    refused = {finding for notice in refusals(report) for finding in notice.findings}
    findings = [cause.finding for cause in all_findings(report) if cause.finding not in refused]
    each_client = (
        member
        for finding in findings
        if finding.rule == CLIENTS_FIRST
        for member in finding.members
    )
    late = {finding.origin.subject for finding in each_client if finding.origin}
    counted = (UNREADABLE, *([CLIENTS_FIRST] if late else []))  # `_unread` counts the others
    waits = f"{len(late):,} other{' needs' if len(late) == 1 else 's need'} clients upgraded first"
    others = _titles(finding for finding in findings if finding.rule not in counted)
    return "".join(f"; {text}" for text in (waits if late else "", others) if text)


def _titles(findings: Iterable[Finding]) -> str:
    errors = [
        finding
        for finding in findings
        if finding.severity is Severity.ERROR and finding.rule in RULES
    ]
    if any(finding.rule == "CLIENT-R004" for finding in errors):  # no client can upgrade first then
        errors = [finding for finding in errors if finding.rule != CLIENTS_FIRST]
    errors.sort(key=lambda finding: finding.rule == CLIENTS_FIRST)
    subjects: dict[str, set[str]] = {}
    for error in errors:
        subjects.setdefault(_title(error), set()).update(error.subjects)
    titles = [_counted(title, len(names)) for title, names in subjects.items()]
    return f"{'; '.join(titles[:_NAMED])}{', …' if len(titles) > _NAMED else ''}"


def _counted(title: str, number: int) -> str:
    """`Pulsar would refuse 2 clients`."""
    start = title.removesuffix(_A_CLIENT)
    return title if number == 1 or start == title else f"{start}{count(number, 'client')}"


def _title(finding: Finding) -> str:
    """The rule's, which does not tell of a waiver what it is about."""
    where = finding.location
    if where and where.file.startswith(_WAIVERS):
        return "a waiver is not filled in, or has other errors"
    return RULES[finding.rule].title


def _error_rules(findings: Iterable[Finding]) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(finding.rule for finding in findings if finding.severity is Severity.ERROR)
    )


def _errors(report: CheckReport) -> str:
    """`2 errors: a renamed topic loses its history`."""
    findings = [reported_cause.finding for reported_cause in reported_causes(all_findings(report))]
    errors = severity_counts(finding for finding in findings if finding.severity is Severity.ERROR)
    titles = _titles(findings)
    return titles if titles and report.base else f"{errors}{titles and f': {titles}'}"


def _although(topics: _Standings) -> str:
    """What an error does not come from: Pulsar."""
    number = _changes(topics)
    if not number or number > _taken(topics):
        return ""
    return f" (Pulsar would accept {_all(number)})"


def _good(report: CheckReport, topics: _Standings) -> str:
    text = "; ".join(_said(topics))
    return text or (_without_schemas(report) if report.registries else "no errors")


def _without_schemas(report: CheckReport) -> str:
    """`no schema changes`, and how many policies change."""
    policies = {
        (action.subject, action.change.key)
        for registry in report.registries
        for action in registry.plan.actions
        if isinstance(action, SetPolicy)
    }
    changed = f"{count(len(policies), 'policy change')}, " if policies else ""
    return f"{changed}no schema changes"


def _said(topics: _Standings) -> Iterator[str]:
    """What becomes of the schemas, one clause for each way; the worst first."""
    if number := topics[TopicStatus.WAIVED]:
        yield f"Pulsar would refuse {_of(number, topics)}{_without_waivers(number)}"
    if number := topics[TopicStatus.RULE_WAIVED]:
        yield f"{_of(number, topics)} would be held back{_without_waivers(number)}"
    if number := _taken(topics):
        every = number == _changes(topics)
        what = _all(number) if every else _of(number, topics)
        yield f"Pulsar would accept {what}{_only(topics[TopicStatus.LOOSENED], number)}"
    if number := topics[TopicStatus.WITHOUT_EFFECT]:
        yield f"{_of(number, topics)} {'has' if number == 1 else 'have'} no effect"
    if number := topics[TopicStatus.DRIFTED]:
        verb = "is" if number == 1 else "are"
        yield f"{count(number, 'latest version')} {verb} not in git"
    if number := topics[TopicStatus.DELETED]:
        yield f"{count(number, 'schema')} would be deleted"


def _without_waivers(number: int) -> str:
    return f" without {'its waiver' if number == 1 else 'their waivers'}"


def _only(loosened: int, number: int) -> str:
    if not loosened:
        return ""
    how = "only under loosened policies"
    return f", but {how}" if number == 1 else f", {loosened:,} of them {how}"


def _changes(topics: _Standings) -> int:
    return sum(number for topic_status, number in topics.items() if topic_status not in _NO_CHANGE)


def _taken(topics: _Standings) -> int:
    return sum(topics[item] for item in _TAKEN)


def _of(some: int, topics: _Standings) -> str:
    of_all = _changes(topics)
    if some < of_all:
        return f"{some:,} of {of_all:,} schema changes"
    return _all(some)


def _all(number: int) -> str:
    if number <= _BOTH:
        return "the schema change" if number == 1 else "both schema changes"
    return f"all {number:,} schema changes"


def _losses(report: CheckReport) -> str:
    """What an accepted change does not show of the numbers that stored messages carry."""
    losses = [
        cause.finding
        for cause in all_findings(report)
        if cause.finding.rule == "PLAN-R023" and cause.finding.severity is Severity.WARNING
    ]
    if not losses:
        return ""
    if all(loss.message.startswith("whether ") for loss in losses):
        return "; whether the registry lost versions is unknown"
    return "; the registry lost versions that stored messages may carry"


def _warned(report: CheckReport) -> str:
    findings = [reported_cause.finding for reported_cause in reported_causes(all_findings(report))]
    return severity_counts(finding for finding in findings if finding.severity is Severity.WARNING)
