"""What a reviewer decides by, below the first line: why, what to do next, who upgrades first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import dropwhile, pairwise
from typing import Final, NamedTuple

from gitops.model.check import CheckReport, RegistryCheck
from gitops.model.findings import UNDONE, Finding, Severity
from gitops.model.rollout import Upgrade
from gitops.model.rollout_reason import name_list
from gitops.reports.check_summary import (
    CLIENTS_FIRST,
    SPLIT,
    UNREADABLE,
    Verdict,
    all_findings,
    count_unanswered,
    is_blocked,
    is_split,
    refusals,
    reported_causes,
    verdict,
    waived_lockouts,
    waived_schemas,
)
from gitops.reports.decision_reasons import RENAME, Reasons, more_text, subject_text
from gitops.reports.rollout_wording import Line, lines, undeclared_text
from gitops.reports.topic_rows import NO_ORDER, NONE, UNKNOWN, Row
from gitops.reports.upgrade_order import UpgradeOrder
from gitops.rollout.acts import ActKind

_SHOWN: Final = 3
"""How many reasons and remedies are told; the report has all."""
_NAMES: Final = 10
"""How many clients are named."""
_TOPICS: Final = 2
_EDITS: Final = 20
"""More are not all shown in a report of a bounded size."""
_MERGE: Final = "merge"
_REPLAY: Final = "REPLAY-"
_LOOSENED: Final = "CHECK-R003"
_NEW_FIELD: Final = "add a new"
_NOT_BLOCKING: Final = "does not block the merge"


class MergeDecision(NamedTuple):
    """The reasons, what to do (`in_order`: in steps), who upgrades first, what does not block."""

    why: tuple[str, ...]
    next: tuple[str, ...]
    first: tuple[str, ...]
    in_order: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def items(self) -> tuple[tuple[str, tuple[str, ...], bool], ...]:
        """What there is to say, below its label, and whether it is in order."""
        texts = (
            ("why", self.why, False),
            ("next", self.next, self.in_order),
            ("upgrade first", self.first, False),
            ("warning", self.warnings, False),
        )
        return tuple(text for text in texts if text[1])


def merge_decision(report: CheckReport, rows: Sequence[Row]) -> MergeDecision:
    """Of a change; of what is no change nothing."""
    if not report.base:
        return MergeDecision((), (), ())
    its_verdict = verdict(report)
    findings = [reported_cause.finding for reported_cause in reported_causes(all_findings(report))]
    reasons = Reasons(rows)
    if its_verdict is Verdict.WAIVED:
        waived = _waived(report, findings)
        notes = [finding for finding in waived if finding.severity is Severity.INFO]
        allowed = dict.fromkeys(note.hint for note in notes)
        why = (*reasons.texts(waived), *allowed)
        steps = (_review(report), *_after_merge(report))
        return MergeDecision(why=why, next=steps, first=_first(report, rows), in_order=True)
    if its_verdict is Verdict.GOOD:
        remedies = tuple(_remedies(report, ())) or (_MERGE, *_after_merge(report))
        return MergeDecision(why=(), next=remedies, first=_first(report, rows), in_order=True)
    decisive = _decisive(findings, its_verdict)
    unanswered = [f"{name}: {why}" for name, why in sorted(report.failures.items())]
    besides = _besides(findings, decisive)
    return MergeDecision(
        why=(*reasons.texts([*decisive, *_late_for_edited(report)]), *unanswered[:_SHOWN]),
        next=tuple(_remedies(report, [*decisive, *besides])),
        first=_first(report, rows),
        in_order=bool(_early_names(report)),
        warnings=tuple(
            f"{_NOT_BLOCKING}: {reasons.of_warning(finding, findings)}" for finding in besides
        ),
    )


def _decisive(findings: Sequence[Finding], its_verdict: Verdict) -> list[Finding]:
    """What the verdict rests on; the clients, whose upgrades come last, at the end."""
    severity = Severity.WARNING if its_verdict is Verdict.WARNINGS else Severity.ERROR
    items = [finding for finding in findings if finding.severity is severity]
    return sorted(items, key=lambda finding: finding.rule == CLIENTS_FIRST)


def _late_for_edited(report: CheckReport) -> Iterator[Finding]:
    """Who cannot reconnect once the refused schemas are edited as offered, and is not named yet."""
    refused = {str(notice.topic) for notice in refusals(report)}
    for registry in report.registries:
        for finding in registry.edited.findings if registry.edited else ():
            if (
                finding.rule == CLIENTS_FIRST
                and finding.origin
                and finding.origin.subject in refused
            ):
                yield finding


def _besides(findings: Sequence[Finding], decisive: Sequence[Finding]) -> list[Finding]:
    """The first warning of each subject that nothing decisive is about, as far as there is room.

    What real messages show comes before what may happen to some.
    """
    known = {subject for item in decisive for subject in item.subjects}
    if any(item.rule == SPLIT for item in decisive):  # it reports the policy
        findings = [item for item in findings if item.rule != _LOOSENED]
    items: list[Finding] = []
    for finding in sorted(findings, key=lambda item: not item.rule.startswith(_REPLAY)):
        if finding.severity is Severity.WARNING and not known.issuperset(finding.subjects):
            known.update(finding.subjects)
            items.append(finding)
    return items[: max(0, _SHOWN - len(decisive))]


def _review(report: CheckReport) -> str:
    approvers = name_list(sorted({waiver.approved_by for waiver in report.waivers}), _NAMES)
    value = "waiver's reason is" if len(report.waivers) == 1 else "waivers' reasons are"
    return f"make sure that the {value} still true, with {approvers} who approved it; then merge"


def _waived(report: CheckReport, findings: Sequence[Finding]) -> list[Finding]:
    topics = {str(action.topic) for _, action in waived_schemas(report)}
    lockouts = {(lockout.rule, lockout.subject) for lockout in waived_lockouts(report)}
    return [
        finding
        for finding in findings
        if (finding.severity is Severity.INFO and topics & set(finding.subjects))
        or (finding.rule, finding.subject) in lockouts
    ]


# What next.


def _remedies(report: CheckReport, findings: Sequence[Finding]) -> Iterator[str]:
    """One edit is described; of several it is enough that there are some."""
    fixed_places = {finding.location for finding in findings if finding.patch}
    patched = [*{finding.patch: finding for finding in findings if finding.patch}.values()]
    joined = [finding for finding in findings if finding.is_mended_elsewhere]
    other_findings = [
        finding
        for finding in findings
        if not finding.patch and finding.rule not in (CLIENTS_FIRST, SPLIT)
    ]
    other_findings = [
        other_finding
        for other_finding in other_findings
        if other_finding.location is None or other_finding.location not in fixed_places
    ]
    hints = _hints(
        report, [other_finding for other_finding in other_findings if other_finding not in joined]
    )
    if len(patched) == 1:
        yield from _one_edit("" if joined else patched[0].hint)
    elif patched:
        yield from _several_edits(patched)
    is_advised = any(
        other_finding.severity is Severity.ERROR and _has_advice(report, other_finding)
        for other_finding in other_findings
    )
    if any(refusals(report)) and not patched and not is_advised:
        yield "change the refused schemas, or have waivers approved"
    yield from hints[:_SHOWN]
    if (left := len(hints) - _SHOWN) > 0:
        yield more_text(left)
    if is_split(report):
        yield "split this pull request in two: the policy alone, then the schema"
        yield f"merge the policy, once the owners of {_loosened_names(report)} approve"
    if names := _early_names(report):
        code = "code that reads the old and the new schema"
        whose = "its client manifest" if len(names) == 1 else "their client manifests"
        declared = f"declare the new schema in {whose} (`schema: {{definition: …}}`)"
        yield f"deploy {name_list(names, _NAMES)} with {code}, and {declared}{_then(report)}"
    if is_split(report):
        yield "merge the schema"


def _has_advice(report: CheckReport, finding: Finding) -> bool:
    return bool(finding.hint) or any(_schema_hints(report, finding))


def _loosened_names(report: CheckReport) -> str:
    """The topics and namespaces with a policy that lets more through."""
    loosened = [cause for cause in all_findings(report) if cause.finding.rule == _LOOSENED]
    names = sorted({name for cause in loosened for name in cause.finding.subjects})
    return name_list(names, _SHOWN) or "its topics"  # whose finding may be switched off


def _then(report: CheckReport) -> str:
    """What follows once the clients that upgrade first have done so."""
    if is_split(report):
        return ""
    return ", before the merge" if any(refusals(report)) else ": then this check allows the merge"


def _hints(report: CheckReport, findings: Sequence[Finding]) -> list[str]:
    """What each advises, once, with its topics where there are several, and what need not be."""
    several = len({item.subjects for item in findings}) > 1
    is_mixed = len({item.severity for item in findings}) > 1
    subjects: dict[str, dict[str, None]] = {}
    for finding in findings:
        if advice := ", or ".join(dict.fromkeys(_schema_hints(report, finding))) or finding.hint:
            is_free = is_mixed and finding.severity < Severity.ERROR
            advice += f" (recommended, {_NOT_BLOCKING})" if is_free else ""
            subjects.setdefault(advice, {}).update(dict.fromkeys(finding.subjects))
    return [
        (f"{name_list([*names], _TOPICS)}: " if several and any(names) else "") + advice
        for advice, names in subjects.items()
    ]


def _schema_hints(report: CheckReport, unread: Finding) -> Iterator[str]:
    """What warnings about the schema advise, where messages of its topic cannot be read."""
    for cause in reported_causes(all_findings(report)) if unread.rule == UNREADABLE else ():
        finding = cause.finding
        is_schema = not finding.rule.startswith(_REPLAY)
        same = set(unread.subjects) & set(finding.subjects)
        if finding.severity is Severity.WARNING and is_schema and same:
            yield finding.hint


def _one_edit(hint: str) -> Iterator[str]:
    """A rename is a guess: the other way is told beside it."""
    rename, _, other = hint.partition("; else ")
    if other and rename.startswith(RENAME):
        alias = rename.removeprefix(RENAME)
        edit = f"{RENAME}make the edit that is shown below (`check --fix` makes it): {alias}"
        yield f"{edit}; if it is no rename, {other}"
    else:
        yield f"make the edit that is shown below (`check --fix` makes it){hint and f': {hint}'}"


def _several_edits(patched: Sequence[Finding]) -> Iterator[str]:
    """Those that mend, then those that have nothing but the old definition back."""
    undone = [finding for finding in patched if UNDONE in finding.hint]
    fixes = [finding for finding in patched if finding not in undone]
    below = " that are shown below" if len(patched) <= _EDITS else ""
    if len(fixes) == 1:
        edit = f"make the edit that is shown below (`check --fix` makes it): {fixes[0].hint}"
        yield f"{subject_text(fixes[0])}: {edit}"
    elif fixes:
        whose = f" for {_edited(fixes)}" if undone else ""
        yield f"make the {len(fixes):,} edits{below}{whose} (`check --fix` makes them)"
    if undone:
        beside = all(_NEW_FIELD in finding.hint for finding in undone)
        or_else = "keep the old field and add a new one" if beside else "change it in another way"
        yield f"decide about {_edited(undone)}: drop the change (`check --fix` does), or {or_else}"


def _edited(findings: Sequence[Finding]) -> str:
    return name_list(list(dict.fromkeys(map(subject_text, findings))), _SHOWN)


def _after_merge(report: CheckReport) -> Iterator[str]:
    """What has to be done after it, as the rollout of one registry has it."""
    if len(report.registries) == 1:
        (registry_check,) = report.registries
        members = dropwhile(
            lambda line: line.kind is not ActKind.MERGE,
            lines(registry_check.to_merge.rollout, registry_check.to_merge.plan),
        )
        for line, later in pairwise([*members, None]):
            if line and line.kind not in (ActKind.MERGE, ActKind.OPTIONAL):
                yield f"{line.text}{_before_whom(line, later)}"


def _before_whom(line: Line, later: Line | None) -> str:
    """Who waits for a wait."""
    if line.kind is not ActKind.WAIT or not later:
        return ""
    steps = (ordered.step for ordered in later.steps)
    names = sorted({step.service for step in steps if isinstance(step, Upgrade)})
    verb = f"upgrade{'s' if len(names) == 1 else ''}"
    return f", in a backlog or retained, before {name_list(names, _NAMES)} {verb}"


# Who first.


def _first(report: CheckReport, rows: Sequence[Row]) -> tuple[str, ...]:
    """Who upgrades before the merge, by the rollouts; by the strategies without clients.

    Nothing where the files have to change first, and nobody is known to upgrade before or after.
    """
    is_unknown = any(row.is_refused and row.upgrade_first == UNKNOWN for row in rows)
    if names := _early_names(report):
        refused = len({row.topic for row in rows if row.is_refused})
        topics = "refused topic" if refused == 1 else f"{refused:,} refused topics"
        late = (f"for the {topics} not known yet",) if is_unknown else ()
        return f"{name_list(names, _NAMES)}{_roles(report, names)}, {_before(report)}", *late
    if is_blocked(report):
        return () if is_unknown else tuple(filter(None, [_later_upgrades(report, rows)]))
    if count_unanswered(report)[0]:
        return ("not known yet: not every registry answers",)
    unread = list(dict.fromkeys(str(row.topic) for row in rows if row.is_unread))
    read = [row for row in rows if str(row.topic) not in unread]
    rest = tuple(filter(None, [_without_upgrades(report, read)]))
    if not unread:
        return rest
    unknown = "not known before its schema reads all messages"
    if not read:
        return (unknown,)
    others = name_list(sorted({str(row.topic) for row in read}), _TOPICS)
    return f"{name_list(unread, _TOPICS)}: {unknown}", *(f"{others}: {text}" for text in rest)


def _without_upgrades(report: CheckReport, rows: Sequence[Row]) -> str:
    """Why nobody upgrades before a merge that is possible."""
    if any(row.upgrade_first == NO_ORDER for row in rows):
        return "no order is safe: old and new schemas read each other's values wrong"
    blocks = [block for registry in report.registries for block in registry.to_merge.rollout.blocks]
    if any(not block.in_plan for block in blocks):
        return "there is no safe order, see below"
    if all(row.upgrade_first == NONE for row in rows):
        return ""
    return _later_upgrades(report, rows) or "nobody"


def _later_upgrades(report: CheckReport, rows: Sequence[Row]) -> str:
    """Who upgrades by the strategies alone, or after the merge; empty for nobody."""
    undeclared = [
        text for text in dict.fromkeys(row.upgrade_first for row in rows) if "(by " in text
    ]
    if undeclared:
        why = dict.fromkeys(
            undeclared_text(registry_check.to_merge.rollout)
            for registry_check in _by_strategy(report)
        )
        return f"{name_list(undeclared)}: {'; '.join(why)}"
    orders = [UpgradeOrder(registry.to_merge.rollout) for registry in report.registries]
    topics = {row.topic for row in rows}
    late = sorted({name for order in orders for name in order.late_names(topics)})
    if not late:
        return ""
    return f"nobody before the merge; after it {name_list(late, _NAMES)}{_roles(report, late)}"


def _before(report: CheckReport) -> str:
    """Where a policy is merged first and alone, there are two merges."""
    return "before the schema is merged" if is_split(report) else "before the merge"


def _roles(report: CheckReport, names: Sequence[str]) -> str:
    """` (consumers)`, where all of them are."""
    known = [
        registry.to_merge.rollout.sides.get(name, ())
        for registry in report.registries
        for name in names
    ]
    roles = {side.role.value for sides in known for side in sides}
    return f" ({roles.pop()}{'s' if len(names) > 1 else ''})" if len(roles) == 1 else ""


def _by_strategy(report: CheckReport) -> list[RegistryCheck]:
    """The registries of whose clients only the strategies are known; else all."""
    registry_checks = [
        registry for registry in report.registries if registry.to_merge.rollout.strategies
    ]
    return registry_checks or list(report.registries)


def _early_names(report: CheckReport) -> list[str]:
    orders = [UpgradeOrder(registry.to_merge.rollout) for registry in report.registries]
    return sorted({name for order in orders for name in order.early_names})
