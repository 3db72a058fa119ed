"""What a reviewer decides by, below the first line: why, what to do next, who upgrades first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from gitops.model.check import CheckReport
from gitops.model.findings import Finding, Severity
from gitops.model.rollout_reason import name_list
from gitops.model.rules import RULES
from gitops.reports.check_summary import (
    CLIENTS_FIRST,
    Verdict,
    all_findings,
    claim,
    count_unanswered,
    refusals,
    reported_causes,
    verdict,
    waived_schemas,
)
from gitops.reports.topic_rows import NONE, Row
from gitops.reports.upgrade_order import UpgradeOrder

_SHOWN: Final = 3
"""How many reasons and remedies are told; the report has all."""
_NAMES: Final = 10
"""How many clients are named."""
_TOPICS: Final = 2
_REVIEW: Final = "merge, if the reason of the waiver holds"


class MergeDecision(NamedTuple):
    """The reasons, each a clause without its details; what to do; and who upgrades, or empty."""

    why: tuple[str, ...]
    next: tuple[str, ...]
    first: str

    @property
    def items(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """What there is to say, below its label."""
        said = (("why", self.why), ("next", self.next), ("upgrade first", (self.first,)))
        return tuple((label, its) for label, its in said if any(its))


def merge_decision(report: CheckReport, rows: Sequence[Row]) -> MergeDecision:
    """Of a change; of what is no change nothing."""
    if not report.base:
        return MergeDecision((), (), "")
    its_verdict = verdict(report)
    told = [one.finding for one in reported_causes(all_findings(report))]
    if its_verdict is Verdict.WAIVED:
        waived = _waived(report, told)
        why = (*_reasons(waived), *dict.fromkeys(one.hint for one in waived[:_SHOWN]))
        return MergeDecision(why=why, next=(_REVIEW,), first=_first(report, rows))
    decisive = [one for one in told if one.severity is _decisive_severity(its_verdict)]
    unanswered = [f"{name}: {why}" for name, why in sorted(report.failures.items())]
    return MergeDecision(
        why=(*_reasons(decisive), *unanswered[:_SHOWN]),
        next=tuple(_remedies(report, decisive)),
        first=_first(report, rows),
    )


def _decisive_severity(its_verdict: Verdict) -> Severity:
    """What the verdict rests on; none of the findings where nobody has to do anything."""
    match its_verdict:
        case Verdict.GOOD:
            return Severity.OFF
        case Verdict.WARNINGS:
            return Severity.WARNING
        case _:
            return Severity.ERROR


def _waived(report: CheckReport, told: Sequence[Finding]) -> list[Finding]:
    waived = {str(action.topic) for _, action in waived_schemas(report)}
    return [one for one in told if one.severity is Severity.INFO and waived & set(one.subjects)]


# Why.


def _reasons(findings: Sequence[Finding]) -> Iterator[str]:
    """One is told whole; of several what they claim."""
    if len(findings) == 1:
        yield _reason(findings[0], findings[0].message)
        return
    yield from dict.fromkeys(_reason(one, claim(one)) for one in findings[:_SHOWN])
    if left := findings[_SHOWN:]:
        titles = dict.fromkeys(RULES[one.rule].title for one in left if one.rule in RULES)
        yield f"and {len(left):,} more: {'; '.join(titles)}" if titles else _more(len(left))


def _more(left: int) -> str:
    return f"and {left:,} more below"


def _reason(finding: Finding, said: str) -> str:
    """`acme/orders/created: v0 cannot read what the new schema writes at 'email'`."""
    if any(subject in said for subject in finding.subjects):
        return said
    return f"{_subjects(finding)}: {said}"


def _subjects(finding: Finding) -> str:
    """Many share a place, such as the line of a shared type."""
    names, where = finding.subjects, finding.location
    if len(names) <= _TOPICS or not where:
        return name_list(names, _TOPICS)
    return f"{where.file}:{where.line}, {len(names):,} topics"


# What next.


def _remedies(report: CheckReport, findings: Sequence[Finding]) -> Iterator[str]:
    """One edit is described; of several it is enough that there are some."""
    patched = [one for one in findings if one.patch]
    others = [one for one in findings if not one.patch and one.rule != CLIENTS_FIRST]
    hints = list(dict.fromkeys(one.hint for one in others if one.hint))
    if len(patched) == 1:
        yield f"make the edit that is shown below (`--fix` makes it): {patched[0].hint}"
    elif patched:
        yield f"make the {len(patched):,} edits that are shown below (`--fix` makes them)"
    yield from hints[:_SHOWN]
    if (left := len(hints) - _SHOWN) > 0:
        yield _more(left)
    if any(refusals(report)) and not patched and not hints:
        yield "change the refused schemas, or have waivers approved"
    if names := _early_names(report):
        yield f"upgrade {name_list(names, _NAMES)}, then merge"


# Who first.


def _first(report: CheckReport, rows: Sequence[Row]) -> str:
    """Who upgrades before the merge, by the rollouts; by the strategies without clients."""
    if names := _early_names(report):
        return f"{name_list(names, _NAMES)}, before the merge"
    if any(refusals(report)):
        one = len({row.topic for row in rows if row.is_refused}) == 1
        return f"known once the refused schema{'' if one else 's'} can be registered"
    if count_unanswered(report)[0]:
        return "known once every registry answers"
    return _without_upgrades(report, rows)


def _without_upgrades(report: CheckReport, rows: Sequence[Row]) -> str:
    if any(one.rollout.blocks for one in report.registries):
        return "there is no safe order, see below"
    advice = dict.fromkeys(row.upgrade_first for row in rows if row.upgrade_first != NONE)
    if not advice:
        return ""
    undeclared = [one for one in advice if "(by " in one]
    if undeclared:
        return f"{name_list(undeclared)}: no client is declared"
    orders = [UpgradeOrder(one.rollout) for one in report.registries]
    late = sorted({name for order in orders for name in order.late_names})
    return f"nobody; after the merge {name_list(late, _NAMES)}" if late else "nobody"


def _early_names(report: CheckReport) -> list[str]:
    orders = [UpgradeOrder(one.rollout) for one in report.registries]
    return sorted({name for order in orders for name in order.early_names})
