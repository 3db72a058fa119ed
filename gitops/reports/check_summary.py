"""What a report comes to: each finding once, the worst first, and one word for all of it."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import groupby, pairwise
from typing import Final

from gitops.model.check import CheckReport, Impact
from gitops.model.findings import Finding, Location, Severity, causes_of, group
from gitops.model.names import TopicName
from gitops.model.plan import RefusedSchema, RegisterSchema, SchemaSwallowed
from gitops.model.waivers import WaiverProposal
from gitops.planning.lockout_findings import approved_lockouts
from gitops.planning.registry_comparison import VersionSkew
from gitops.reports.upgrade_order import UpgradeOrder

_Rank = tuple[int, bool, int, tuple[str, int, int, str, str]]


class Verdict(Enum):
    """The best comes first; the value is the word for machines."""

    GOOD = "good"
    WARNINGS = "warnings"
    WAIVED = "waived"
    ERRORS = "errors"
    UNKNOWN = "unknown"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedFinding:
    """A finding, and the registries that it holds for; none for one about the files."""

    finding: Finding
    registries: tuple[str, ...] = ()


def all_findings(report: CheckReport) -> tuple[ReportedFinding, ...]:
    """Those of the change and of its plans, not those of drift; the worst first, then by place."""
    rank = worst_first(report)
    parts = [(item, "") for item in report.findings]
    parts += [
        (item, registry_check.plan.registry)
        for registry_check in report.registries
        for item in registry_check.plan.findings
    ]
    grouped: dict[tuple[str, str, Location | None], tuple[Finding, list[str]]] = {}
    for finding, registry in sorted(parts, key=lambda pair: rank(pair[0])):
        _, registries = grouped.setdefault(
            (finding.fingerprint, finding.message, finding.location), (finding, [])
        )
        if registry and registry not in registries:
            registries.append(registry)
    return tuple(
        ReportedFinding(finding=item, registries=tuple(on)) for item, on in grouped.values()
    )


def reported_causes(findings: Sequence[ReportedFinding]) -> tuple[ReportedFinding, ...]:
    """One finding for those of one cause, where the first of them was.

    Those of several registries are of the same topics, and may differ in the versions.
    """
    by_registries: dict[tuple[str, ...], list[Finding]] = {}
    for cause in findings:
        by_registries.setdefault(cause.registries, []).append(cause.finding)
    places = {(cause.finding, cause.registries): number for number, cause in enumerate(findings)}
    items = [
        (places[cause.members[0], on], ReportedFinding(finding=cause.finding, registries=on))
        for on, members in by_registries.items()
        for cause in causes_of(members)
    ]
    alike: dict[Hashable, list[ReportedFinding]] = {}
    for _, cause in sorted(items, key=lambda pair: pair[0]):
        alike.setdefault(_key_without_versions(cause.finding), []).append(cause)
    return tuple(cause for causes in alike.values() for cause in _joined(causes))


_VERSIONS: Final = re.compile(r"\bv\d+(?: to v\d+)?(?:, v\d+(?: to v\d+)?)*")


def _key_without_versions(finding: Finding) -> Hashable:
    """Equal for findings of several registries that differ in nothing but the versions."""
    message = _VERSIONS.sub("", finding.message, count=1)
    cause = (finding.rule, finding.severity, finding.location, finding.hint, finding.patch)
    return (*cause, finding.subjects, message)


def _joined(alike: Sequence[ReportedFinding]) -> Iterable[ReportedFinding]:
    """One for all registries: `messages of v0 on production and v1, v0 on staging`."""
    on = [name for cause in alike for name in cause.registries]
    if len(alike) == 1 or len(set(on)) < len(on) or not all(cause.registries for cause in alike):
        return alike
    texts = [(_VERSIONS.search(cause.finding.message), cause.registries) for cause in alike]
    versions = " and ".join(f"{match[0]} on {', '.join(names)}" for match, names in texts if match)
    message = _VERSIONS.sub(lambda _: versions, alike[0].finding.message, count=1)
    members = dict.fromkeys(member for cause in alike for member in cause.finding.members)
    return [ReportedFinding(finding=group(message, [*members]), registries=tuple(on))]


@dataclass(slots=True)
class RegistryCauses:
    """The causes that a report has shown so far, each with its first registry.

    `repeated` are the places of those that were shortened.
    """

    repeated: set[Location | None] = field(default_factory=set)
    _first: dict[Hashable, str] = field(default_factory=dict)

    def shortened(self, findings: Iterable[Finding], registry: str) -> tuple[Finding, ...]:
        """The findings; one that another registry has already without its details and its edit."""
        return tuple(self._shortened(finding, registry) for finding in findings)

    def _shortened(self, finding: Finding, registry: str) -> Finding:
        first = self._first.setdefault(_key_without_versions(finding), registry)
        if first == registry:
            return finding
        self.repeated.add(finding.location)
        hint = f"the same cause as on {first}, above"
        cause = finding.cause.partition(": ")[0]
        return replace(finding, message=claim(finding), cause=cause, hint=hint, patch="")


def told_messages(report: CheckReport) -> frozenset[str]:
    """What the findings of a report say, as they stand in it."""
    causes = [reported_cause.finding for reported_cause in reported_causes(all_findings(report))]
    return frozenset(finding.message for cause in causes for finding in (cause, *cause.members))


def claim(finding: Finding) -> str:
    """What its message says before the details, which stand behind a colon.

    The place in the schema, in front of another colon, belongs to it.
    """
    head, _, rest = finding.message.partition(": ")
    return f"{head}: {rest.partition(': ')[0]}" if head.startswith("at '") else head


def worst_first(report: CheckReport) -> Callable[[Finding], _Rank]:
    """The key to sort findings by: among equals, what stops a schema comes first.

    A limit cuts from the end, and nothing that was cut may be the reason for the verdict. Of those
    that stop schemas the one of the most topics comes first.
    """
    stopping = {finding for notice in refusals(report) for finding in notice.findings}
    topics = Counter((finding.rule, finding.location) for finding in stopping)

    def rank(finding: Finding) -> _Rank:
        stops = finding in stopping
        number = topics[finding.rule, finding.location] if stops else 0
        return -finding.severity, not stops, -number, finding.sort_key

    return rank


def versions_text(skew: VersionSkew) -> str:
    """`v3 at staging, v2 at production; same schema`."""
    versions = ", ".join(f"v{number} at {name}" for name, number in skew.versions.items())
    return f"{versions}; {'same' if skew.same_schema else 'another'} schema"


def refusals(report: CheckReport) -> Iterator[RefusedSchema]:
    """Each schema that a registry of the report refuses."""
    for registry in report.registries:
        yield from (notice for notice in registry.plan.notices if isinstance(notice, RefusedSchema))


def verdict(report: CheckReport) -> Verdict:
    """A refusal is worse than a registry that did not answer, and that than any other error.

    What only a waiver lets pass, such as a schema or a lockout, is worse than a warning.
    """
    worst = max((cause.finding.severity for cause in all_findings(report)), default=Severity.OFF)
    if any(refusals(report)):
        return Verdict.REFUSED
    if report.failures:
        return Verdict.UNKNOWN
    if worst is Severity.ERROR:
        return Verdict.ERRORS
    if waived_schemas(report) or waived_lockouts(report):
        return Verdict.WAIVED
    return Verdict.WARNINGS if worst is Severity.WARNING else Verdict.GOOD


def rollout_title(report: CheckReport) -> str:
    """The heading above the acts of a rollout: not as if a change with errors could be merged."""
    if verdict(report) is Verdict.REFUSED:
        if any(registry.edited for registry in report.registries):
            return "Rollout, with the edits that are shown above"
        return "Rollout of the accepted schemas, without the refused ones"
    items = (cause.finding for cause in all_findings(report))
    others = {finding.rule for finding in items if finding.severity is Severity.ERROR} - {
        CLIENTS_FIRST
    }
    if others == {SPLIT}:
        return "Rollout of the schemas, once the policy is merged"
    return "Rollout, once the other errors are fixed" if others else "Rollout"


def is_blocked(report: CheckReport) -> bool:
    """Whether the files have to change before a merge: who upgrades may be another matter then."""
    return verdict(report) in (Verdict.REFUSED, Verdict.ERRORS)


def shows_rollout(report: CheckReport) -> bool:
    """Not for schemas that cannot stay as they are: their topics' messages cannot be read.

    Where nothing can be merged, a rollout in which nobody has to upgrade helps nobody.
    """
    items = (cause.finding for cause in all_findings(report))
    if any(finding.rule == UNREADABLE and finding.severity is Severity.ERROR for finding in items):
        return False
    rollouts = [registry.to_merge.rollout for registry in report.registries]
    return not is_blocked(report) or any(
        UpgradeOrder(rollout).is_any or rollout.strategies or rollout.migrations
        for rollout in rollouts
    )


def is_split(report: CheckReport) -> bool:
    """Whether a policy has to be merged first and alone, so that there are two merges."""
    return any(cause.finding.rule == SPLIT for cause in all_findings(report))


def waived_schemas(
    report: CheckReport,
) -> tuple[tuple[str, RegisterSchema | SchemaSwallowed], ...]:
    """The registry and the schema, of each that is let pass by a waiver only."""
    return tuple(
        (registry.plan.registry, entry)
        for registry in report.registries
        for entry in (*registry.plan.actions, *registry.plan.notices)
        if isinstance(entry, RegisterSchema | SchemaSwallowed) and entry.waiver
    )


def waived_lockouts(report: CheckReport) -> tuple[Finding, ...]:
    """Clients that cannot connect any more, which a waiver approves."""
    return tuple(
        lockout for registry in report.registries for lockout in approved_lockouts(registry.plan)
    )


def count_unanswered(report: CheckReport) -> tuple[int, int]:
    """How many registries have no answer, of how many; a replay that failed is not counted."""
    answered = {registry.plan.registry for registry in report.registries}
    replays = {f"{name} (replay)" for name in answered}
    missing = report.failures.keys() - replays
    return len(missing), len(missing) + len(answered)


def unchecked_text(report: CheckReport) -> str:
    """The registries that were not asked, with the options that ask them; empty without any."""
    if not report.unchecked:
        return ""
    options = " ".join(f"--registry {name}" for name in report.unchecked)
    return f"not checked: {', '.join(report.unchecked)} ({options})"


def affected_text(touched: Impact) -> tuple[tuple[str, tuple[TopicName, ...]], ...]:
    """The changed files that lead to several topics, such as a shared type, and these topics."""
    grouped: dict[str, list[TopicName]] = {}
    for topic, files in touched.topics.items():
        for file in files:
            grouped.setdefault(file, []).append(topic)
    return tuple(
        (file, tuple(topics)) for file, topics in sorted(grouped.items()) if len(topics) > 1
    )


def severity_counts(findings: Iterable[Finding]) -> str:
    """`2 errors, 1 warning`; empty without any."""
    counts = Counter(finding.severity for finding in findings)
    return ", ".join(count(counts[item], item.name.lower()) for item in _SEVERITIES if counts[item])


CLIENTS_FIRST: Final = "CLIENT-R003"
"""Who follows the rollout has not to change anything for it."""
SPLIT: Final = "CHECK-R004"
OTHER_VALUES: Final = "REPLAY-R007"
UNREADABLE: Final = "REPLAY-R001"
"""Messages that the new schema cannot read."""
_SEVERITIES: Final = (Severity.ERROR, Severity.WARNING, Severity.INFO)


def count(number: int, text: str, many: str = "") -> str:
    """`1 topic`, `2 topics`; `many` where an `s` does not make it."""
    return f"{number:,} {text if number == 1 else many or f'{text}s'}"


_NAME: Final = re.compile(r"[\w/-][\w./-]*[\w/-]|[\w/-]")


def several_subjects(finding: Finding) -> list[str]:
    """Whom a finding is about, where these are several that its message does not name."""
    names = sorted(finding.subjects)
    if len(names) == 1 or set(_NAME.findall(finding.message)).issuperset(names):
        return []
    return names


def subjects_text(finding: Finding, shown: int) -> str:
    """`a, b and 9 more` for these; empty where there are none."""
    return name_list(several_subjects(finding), shown)


_SPARE: Final = 2


def name_list(names: Sequence[str], shown: int) -> str:
    """`a, b and 9 more`: as many names as are shown, and the number of the others.

    One or two more names are named: they take no more room than their number.
    """
    if len(names) <= shown + _SPARE:
        return ", ".join(names)
    left = len(names) - shown
    return f"{', '.join(names[:shown])} and {left:,} more"


def waivers_hint(waivers: Sequence[WaiverProposal]) -> str:
    """What writes several proposed waivers; empty where nothing does."""
    return waivers[0].hint.replace(" writes it", " writes them")


_PLACES: Final = 10
"""How many other places of one finding are named."""
_DIFF_HEAD: Final = 2
"""The lines of a unified diff that name the files."""
_LONG_LINE: Final = 200
_AROUND: Final = 40
"""So many characters around what differs in a longer line are shown."""


def base_line(finding: Finding) -> str:
    """`Line 4 of the base.`, where no viewer can show the place; else empty."""
    where = finding.location
    return f"Line {where.line} of the base." if where and where.in_base and where.line else ""


def see_line(finding: Finding, prefix: str) -> str:
    """`See clients/billing.yaml:9.`, of what is shown on another line, of a change; else empty."""
    places = dict.fromkeys(
        f"{git_root_path(prefix, other_place.file)}:{other_place.line}"
        for other_place in finding.other_places
        if other_place.line and not other_place.in_base
    )
    return f"See {name_list(list(places), _PLACES)}." if finding.changed and places else ""


def changed_lines(patch: str) -> list[str]:
    """The lines of a unified diff that go and come, without what is in front of them.

    Of long lines, such as those of a definition in one line, the part that differs.
    """
    lines = [line for line in patch.split("\n")[_DIFF_HEAD:] if line[:1] in ("-", "+")]
    shown = []
    for sign, block in groupby(lines, key=lambda line: line[0]):
        texts = [line[1:].strip() for line in block]
        shown.append((sign, texts))
    for (sign, old), (next_sign, new) in pairwise(shown):
        if (sign, next_sign) == ("-", "+") and len(old) == len(new):
            pairs = [_differing_parts(*pair) for pair in zip(old, new, strict=True)]
            old[:], new[:] = ([*side] for side in zip(*pairs, strict=True))
    return [f"{sign} {text}" for sign, texts in shown for text in texts]


def _differing_parts(old: str, new: str) -> tuple[str, str]:
    """The lines where both are short, else what differs and a little around it."""
    if min(len(old), len(new)) <= _LONG_LINE:
        return old, new
    start = len(posixpath.commonprefix([old, new]))
    end = len(posixpath.commonprefix([old[start:][::-1], new[start:][::-1]]))
    return _part(old, start, len(old) - end), _part(new, start, len(new) - end)


def _part(line: str, start: int, end: int) -> str:
    first, last = max(start - _AROUND, 0), min(end + _AROUND, len(line))
    return f"{'… ' if first else ''}{line[first:last]}{' …' if last < len(line) else ''}"


def git_root_path(prefix: str, file: str) -> str:
    """A finding's file as GitHub names it; `prefix` is the schemas repository's own folder."""
    return posixpath.normpath(posixpath.join(prefix, file))
