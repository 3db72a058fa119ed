"""What a reviewer decides by, below the first line: why, what to do next, who upgrades first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import dropwhile
from typing import Final, NamedTuple

from gitops.model.check import CheckReport, RegistryCheck
from gitops.model.findings import UNDONE, Finding, Severity
from gitops.model.plan import SetPolicy
from gitops.model.rollout_reason import name_list
from gitops.model.rules import RULES
from gitops.planning.policies import policy_text
from gitops.reports.check_summary import (
    CLIENTS_FIRST,
    UNREADABLE,
    Verdict,
    all_findings,
    claim,
    count_unanswered,
    refusals,
    reported_causes,
    verdict,
    waived_schemas,
)
from gitops.reports.rollout_wording import lines, undeclared_text
from gitops.reports.topic_rows import NONE, Row
from gitops.reports.upgrade_order import UpgradeOrder
from gitops.rollout.acts import ActKind

_SHOWN: Final = 3
"""How many reasons and remedies are told; the report has all."""
_NAMES: Final = 10
"""How many clients are named."""
_TOPICS: Final = 2
_EDITS: Final = 20
"""More are not all shown in a report of a bounded size."""
_REVIEW: Final = "if the reason of the waiver is still valid, merge"
_MERGE: Final = "merge"
_REPLAY: Final = "REPLAY-"
_SPLIT: Final = "CHECK-R004"
_RENAME: Final = "if it is a rename, "


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
        why += tuple(_loosened(report))
        after = tuple(_after_merge(report))
        return MergeDecision(why=why, next=(_REVIEW, *after), first=_first(report, rows))
    if its_verdict is Verdict.GOOD:
        remedies = tuple(_remedies(report, ())) or (_MERGE, *_after_merge(report))
        return MergeDecision(why=(), next=remedies, first=_first(report, rows))
    decisive = _decisive(told, its_verdict)
    besides = _besides(told, decisive)
    unanswered = [f"{name}: {why}" for name, why in sorted(report.failures.items())]
    warned = [f"warning: {_reason(one, claim(one))}" for one in besides]
    return MergeDecision(
        why=(*_reasons(decisive), *unanswered[:_SHOWN], *warned),
        next=tuple(_remedies(report, [*decisive, *besides])),
        first=_first(report, rows),
    )


def _decisive(told: Sequence[Finding], its_verdict: Verdict) -> list[Finding]:
    """What the verdict rests on; the clients, whose upgrades come last, at the end."""
    severity = Severity.WARNING if its_verdict is Verdict.WARNINGS else Severity.ERROR
    found = [one for one in told if one.severity is severity]
    return sorted(found, key=lambda one: one.rule == CLIENTS_FIRST)


def _besides(told: Sequence[Finding], decisive: Sequence[Finding]) -> list[Finding]:
    """The first warning of each subject that nothing decisive is about, as far as there is room.

    What real messages show comes before what may happen to some.
    """
    known = {subject for one in decisive for subject in one.subjects}
    found: list[Finding] = []
    for one in sorted(told, key=lambda one: not one.rule.startswith(_REPLAY)):
        if one.severity is Severity.WARNING and known.isdisjoint(one.subjects):
            known.update(one.subjects)
            found.append(one)
    return found[: max(0, _SHOWN - len(decisive))]


def _waived(report: CheckReport, told: Sequence[Finding]) -> list[Finding]:
    waived = {str(action.topic) for _, action in waived_schemas(report)}
    return [one for one in told if one.severity is Severity.INFO and waived & set(one.subjects)]


def _loosened(report: CheckReport) -> Iterator[str]:
    """What is set while a waived schema is registered."""
    topics = {
        str(action.subject): action.change
        for one in report.registries
        for action in one.plan.actions
        if isinstance(action, SetPolicy) and action.loosens
    }
    for change in dict.fromkeys(topics.values()):
        names = sorted(name for name, its in topics.items() if its == change)
        yield (
            f"apply sets {change.key} of {name_list(names, _TOPICS)} to "
            f"{policy_text(change.after)} for the registration, then sets it back"
        )


# Why.


def _reasons(findings: Sequence[Finding]) -> Iterator[str]:
    """One is told whole; of several what they claim."""
    if len(findings) == 1:
        yield _reason(findings[0], findings[0].message)
        return
    yield from dict.fromkeys(_reason(one, claim(one)) for one in findings[:_SHOWN])
    if left := findings[_SHOWN:]:
        titles = dict.fromkeys(RULES[one.rule].title for one in left if one.rule in RULES)
        yield f"{_findings(len(left))}: {'; '.join(titles)}" if titles else _more(len(left))


def _findings(left: int) -> str:
    return f"{left:,} more finding{'' if left == 1 else 's'}"


def _more(left: int) -> str:
    return f"and {left:,} more below"


def _reason(finding: Finding, said: str) -> str:
    """`acme/orders/created: v0 cannot read messages of the new schema at 'email'`."""
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
    mended = {one.location for one in findings if one.patch}
    patched = [*{one.patch: one for one in findings if one.patch}.values()]
    joined = [one for one in findings if one.is_mended_elsewhere]
    others = [one for one in findings if not one.patch and one.rule != CLIENTS_FIRST]
    others = [one for one in others if one.location is None or one.location not in mended]
    others = [one for one in others if one not in joined]
    hints = list(dict.fromkeys([*_schema_hints(report, others), *(one.hint for one in others)]))
    if len(patched) == 1:
        yield from _one_edit("" if joined else patched[0].hint)
    elif patched:
        shown = " that are shown below" if len(patched) <= _EDITS else ""
        yield f"make the {len(patched):,} edits{shown} (`--fix` makes them)"
        yield from _undone(patched)
    hints = [one for one in hints if one]
    yield from hints[:_SHOWN]
    if (left := len(hints) - _SHOWN) > 0:
        yield _more(left)
    if any(refusals(report)) and not patched and not hints:
        yield "change the refused schemas, or have waivers approved"
    if names := _early_names(report):
        yield f"upgrade {name_list(names, _NAMES)} {_before(report)}"


def _schema_hints(report: CheckReport, unread: Sequence[Finding]) -> Iterator[str]:
    """What warnings about the schema advise, where messages of its topic cannot be read."""
    subjects = {each for one in unread if one.rule == UNREADABLE for each in one.subjects}
    for one in reported_causes(all_findings(report)):
        found = one.finding
        is_schema = not found.rule.startswith(UNREADABLE.partition("-")[0])
        if found.severity is Severity.WARNING and is_schema and subjects & set(found.subjects):
            yield found.hint


def _one_edit(hint: str) -> Iterator[str]:
    """A rename is a guess: the other way is told beside it."""
    rename, _, other = hint.partition("; else ")
    if other and rename.startswith(_RENAME):
        yield f"{_RENAME}make the edit that is shown below (`--fix` makes it)"
        yield f"if it is none, {other}"
    else:
        yield f"make the edit that is shown below (`--fix` makes it){hint and f': {hint}'}"


def _undone(patched: Sequence[Finding]) -> Iterator[str]:
    """Which of several edits have nothing but the old definition back."""
    undone = [one for one in patched if UNDONE in one.hint]
    if len(undone) == len(patched):
        yield "all of them undo this change: read them first"
    elif undone:
        names = list(dict.fromkeys(_subjects(one) for one in undone))
        verb = "undoes" if len(undone) == 1 else "undo"
        yield (
            f"{len(undone):,} of them {verb} this change, in {name_list(names, _SHOWN)}: "
            "read them first"
        )


def _after_merge(report: CheckReport) -> Iterator[str]:
    """What has to be done after it, as the rollout of one registry has it."""
    if len(report.registries) == 1:
        (one,) = report.registries
        its = dropwhile(lambda line: line.kind is not ActKind.MERGE, lines(one.rollout, one.plan))
        for line in [*its][1:]:
            if line.kind is not ActKind.OPTIONAL:
                yield f"then {line.text}"


# Who first.


def _first(report: CheckReport, rows: Sequence[Row]) -> str:
    """Who upgrades before the merge, by the rollouts; by the strategies without clients."""
    if names := _early_names(report):
        return f"{name_list(names, _NAMES)}{_roles(report, names)}, {_before(report)}"
    if any(refusals(report)):
        one = len({row.topic for row in rows if row.is_refused}) == 1
        return f"not known yet: fix the refused schema{'' if one else 's'}, then check again"
    if count_unanswered(report)[0]:
        return "not known yet: not every registry answers"
    return _without_upgrades(report, rows)


def _without_upgrades(report: CheckReport, rows: Sequence[Row]) -> str:
    if any(one.rollout.blocks for one in report.registries):
        return "there is no safe order, see below"
    advice = dict.fromkeys(row.upgrade_first for row in rows if row.upgrade_first != NONE)
    if not advice:
        return ""
    undeclared = [one for one in advice if "(by " in one]
    if undeclared:
        why = dict.fromkeys(undeclared_text(one.rollout) for one in _by_strategy(report))
        return f"{name_list(undeclared)}: {'; '.join(why)}"
    orders = [UpgradeOrder(one.rollout) for one in report.registries]
    late = sorted({name for order in orders for name in order.late_names})
    if not late:
        return "nobody"
    return f"nobody before the merge; after it {name_list(late, _NAMES)}{_roles(report, late)}"


def _before(report: CheckReport) -> str:
    """Where a policy goes first in a pull request of its own, there are two merges."""
    is_split = any(one.finding.rule == _SPLIT for one in all_findings(report))
    return "before the schema is merged" if is_split else "before the merge"


def _roles(report: CheckReport, names: Sequence[str]) -> str:
    """` (consumers)`, where all of them are."""
    known = [one.rollout.sides.get(name, ()) for one in report.registries for name in names]
    roles = {side.role.value for sides in known for side in sides}
    return f" ({roles.pop()}{'s' if len(names) > 1 else ''})" if len(roles) == 1 else ""


def _by_strategy(report: CheckReport) -> list[RegistryCheck]:
    """The registries of whose clients only the strategies are known; else all."""
    found = [one for one in report.registries if one.rollout.strategies]
    return found or list(report.registries)


def _early_names(report: CheckReport) -> list[str]:
    orders = [UpgradeOrder(one.rollout) for one in report.registries]
    return sorted({name for order in orders for name in order.early_names})
