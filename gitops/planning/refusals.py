"""Findings for what the broker would refuse, and for what our own rules say beside it."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final

from gitops.broker.lines.line import BrokerLine
from gitops.broker.registration import CANDIDATE
from gitops.model.clients import Client, ObservedTopic
from gitops.model.decision import Decision, Incompatibility
from gitops.model.findings import Finding, Location, Severity, group
from gitops.model.names import TopicName
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.rollout_reason import name_list
from gitops.model.rules import RULES, make_finding
from gitops.model.schema import SchemaHistory, SchemaInfo
from gitops.model.waivers import Waiver
from gitops.schemas.row import Remark

# A field that is missing because it was renamed: what to do about the rename comes first.


def renames(findings: Sequence[Finding]) -> dict[str, Finding]:
    """What seems a rename (AVRO-W006), by the pointer to the new field's name."""
    return {
        finding.location.pointer: finding
        for finding in findings
        if finding.rule == "AVRO-W006" and finding.location
    }


def merge_renames(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings; what seems a rename is in the one about the missing field (AVRO-R002).

    That has both ways in its hint, is compared with the old field, and is about readers of the old
    schema too where they miss the old field.
    """
    known, losses = renames(findings), _losses(findings)
    merged, grouped = set[int](), dict[int, Finding]()
    for finding in findings:
        if rename := known.get(_missing_field(finding)):
            lost = losses.get((rename.compared, _versions(finding)))
            grouped[id(finding)] = _with_rename(finding, rename, lost)
            merged |= {id(rename), id(lost)}
    return tuple(grouped.get(id(item), item) for item in findings if id(item) not in merged)


_NEW_READS: Final = "the new schema cannot read messages of "
_OLD_READ: Final = " cannot read messages of the new schema"


def _missing_field(finding: Finding) -> str:
    """The pointer to the new field's name, where messages do not contain it."""
    is_missing = finding.rule == "AVRO-R002" and finding.message.startswith(_NEW_READS)
    return finding.location.pointer if finding.location and is_missing else "-"


def _losses(findings: Iterable[Finding]) -> dict[tuple[Location | None, str], Finding]:
    """What readers of the old schema miss, by the old field and their versions."""
    return {
        (member.compared, _versions(finding)): finding
        for finding in findings
        if finding.rule == "AVRO-R002" and _OLD_READ in finding.message
        for member in finding.members
    }


def _versions(finding: Finding) -> str:
    """Of the old schema, in a message about one direction."""
    before, _, _ = finding.message.removeprefix(_NEW_READS).partition(" at ")
    return before.removesuffix(_OLD_READ)


def _with_rename(finding: Finding, rename: Finding, lost: Finding | None) -> Finding:
    values = "the values that older messages contain under the old name are then lost"
    hint = f"{rename.hint}; else {finding.hint}: {values}"
    if lost is None:
        return replace(finding, hint=hint, compared=rename.compared)
    path, _, words = rename.message.partition(": ")
    why = f"{words.partition(': ')[0]}, and neither has a default"
    first, *other_findings = finding.members
    cause = f"{_EACH_OTHER.format('older versions')}: {why}"
    first = replace(first, hint=hint, cause=cause, compared=rename.compared)
    both = _EACH_OTHER.format(_versions(lost))
    return group(f"{both} {path}: {why}", [first, *other_findings, *lost.members])


Locate = Callable[[str], Location | None]
"""From a JSON pointer into a topic's definition to where that stands in the files."""

_LISTED: Final = 4
_PLACES: Final = 3
"""How many versions in a row are named one by one."""

LocateOld = Callable[[str, str], Location | None]
"""From a version (`v3`) and a JSON pointer into its definition to a place."""


def version_location(version: str, pointer: str) -> Location:
    """A place in a stored version, of which there is no file."""
    return Location(file=version, pointer=pointer)


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionLocations:
    """Where both sides of a comparison stand."""

    new: Locate
    old: LocateOld = version_location


def findings_of(
    subject: str, decision: Decision, places: DefinitionLocations
) -> tuple[Finding, ...]:
    """One finding for each cause, or one for the refusal as a whole.

    Incompatibilities with several versions have one cause where rule, place in the new definition
    and mismatch are the same, and the same side reads; so have those of a named type that is used
    at several places. Where the same versions cannot read the new
    schema at that place either, this has the same cause.
    """
    causes: dict[tuple[object, ...], list[Incompatibility]] = {}
    for incompatibility in decision.incompatibilities:
        causes.setdefault(_cause(incompatibility), []).append(incompatibility)
    findings = [_finding_of_causes(subject, same, places) for same in _by_place(causes.values())]
    return tuple(findings) if findings else (_refusal_finding(subject, decision, places),)


def findings_of_remarks(
    subject: str, version: str, remarks: Iterable[Remark], places: DefinitionLocations
) -> tuple[Finding, ...]:
    """What rules of ours say; `version` is the one that the remarks compare with."""
    return tuple(_remark_finding(subject, version, remark, places) for remark in remarks)


def _remark_finding(
    subject: str, version: str, remark: Remark, places: DefinitionLocations
) -> Finding:
    finding = make_finding(
        remark.rule,
        f"at '{remark.path}': {remark.message}" if remark.path else remark.message,
        location=places.new(remark.pointer),
        subject=subject,
        hint=remark.hint,
    )
    finding = replace(finding, cause=remark.message)
    if remark.breaks_promise:
        finding = replace(finding, severity=RULES[remark.rule].highest_severity)
    if remark.old_pointer is None:
        return finding
    return replace(finding, compared=places.old(version, remark.old_pointer))


def _cause(incompatibility: Incompatibility) -> tuple[object, ...]:
    return (
        incompatibility.rule,
        incompatibility.reader == CANDIDATE,
        _own_pointer(incompatibility),
        incompatibility.message,
    )


_Cause = list[Incompatibility]
"""Of one cause, with several versions."""


def _by_place(causes: Iterable[_Cause]) -> list[list[_Cause]]:
    """Those of both directions at one place together; each other one alone."""
    places: dict[tuple[object, ...], list[_Cause]] = {}
    for same in causes:
        first = same[0]
        key = (_own_pointer(first), first.path, frozenset(map(_version, same)))
        places.setdefault(key, []).append(same)
    incompatibilities: list[list[_Cause]] = []
    for place in places.values():
        incompatibilities += (
            [place] if _goes_both_ways(place) else [[incompatibility] for incompatibility in place]
        )
    return incompatibilities


def _goes_both_ways(causes: Iterable[_Cause]) -> bool:
    """Whether the new schema is the reader in some, and the writer in others."""
    return len({same[0].reader == CANDIDATE for same in causes}) > 1


def _finding_of_causes(
    subject: str, causes: Sequence[_Cause], places: DefinitionLocations
) -> Finding:
    """One finding for all the versions, the newest first, in whatever order they were checked.

    What the new schema cannot read comes first.
    """
    every = [incompatibility for same in causes for incompatibility in same]
    every.sort(
        key=lambda incompatibility: (incompatibility.reader != CANDIDATE, -_number(incompatibility))
    )
    findings = [_incompatible(subject, incompatibility, places) for incompatibility in every]
    if len(causes) == 1:
        return group(_message(every), findings)
    why = "; ".join(dict.fromkeys(incompatibility.message for incompatibility in every))
    versions, place = version_list(sorted({*map(_number, every)}, reverse=True)), _place(every)
    first = replace(findings[0], cause=f"{_EACH_OTHER.format('older versions')}: {why}")
    return group(f"{_EACH_OTHER.format(versions)}{place}: {why}", [first, *findings[1:]])


_EACH_OTHER: Final = "{} and the new schema cannot read each other's messages"


def _own_pointer(incompatibility: Incompatibility) -> str:
    return (
        incompatibility.reader_pointer
        if incompatibility.reader == CANDIDATE
        else incompatibility.writer_pointer
    )


def _incompatible(
    subject: str, incompatibility: Incompatibility, places: DefinitionLocations
) -> Finding:
    text, other = incompatibility.reader_pointer, incompatibility.writer_pointer
    if incompatibility.reader != CANDIDATE:
        text, other = other, text
    finding = make_finding(
        incompatibility.rule,
        _message([incompatibility]),
        location=places.new(text),
        subject=subject,
        hint=incompatibility.hint,
    )
    return replace(
        finding,
        compared=places.old(_version(incompatibility), other),
        cause=_common_cause(incompatibility),
    )


def _common_cause(incompatibility: Incompatibility) -> str:
    """Without the version and the path, which are other ones for other topics."""
    if incompatibility.reader != CANDIDATE:
        return f"older versions cannot read messages of the new schema: {incompatibility.message}"
    return f"the new schema cannot read messages of older versions: {incompatibility.message}"


def _message(same: Sequence[Incompatibility]) -> str:
    incompatibility, versions = same[0], version_list([*dict.fromkeys(map(_number, same))])
    place = _place(same)
    if incompatibility.reader != CANDIDATE:
        return f"{versions}{_OLD_READ}{place}: {incompatibility.message}"
    return f"{_NEW_READS}{versions}{place}: {incompatibility.message}"


def _place(same: Sequence[Incompatibility]) -> str:
    paths = [
        *dict.fromkeys(
            f"'{incompatibility.path}'" for incompatibility in same if incompatibility.path
        )
    ]
    return f" at {name_list(paths, _PLACES)}" if paths else ""


def _version(incompatibility: Incompatibility) -> str:
    return incompatibility.writer if incompatibility.reader == CANDIDATE else incompatibility.reader


def _number(incompatibility: Incompatibility) -> int:
    return int(_version(incompatibility).removeprefix("v"))


def version_list(numbers: Sequence[int]) -> str:
    """Versions in their order: `v3, v2, v1, v0`, of a longer run the ends: `v40 to v12, v9`.

    The newest come first where clients are decided about, and last where versions were lost.
    """
    step = 1 if numbers and numbers[0] < numbers[-1] else -1
    runs = [
        [number for _, number in run]
        for _, run in groupby(enumerate(numbers), key=lambda item: item[1] - step * item[0])
    ]
    return ", ".join(
        f"v{run[0]} to v{run[-1]}"
        if len(run) > _LISTED
        else ", ".join(f"v{number}" for number in run)
        for run in runs
    )


def _refusal_finding(subject: str, decision: Decision, places: DefinitionLocations) -> Finding:
    return make_finding(
        "PLAN-R001",
        f"Pulsar would refuse it ({decision.status}): {decision.reason}",
        location=places.new(""),
        subject=subject,
        hint="see `pulsar-gitops explain PLAN-R001`",
    )


# Everything that the decision about one topic's schema needs.


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicCase:
    """One topic: what is wanted, what is there, and what holds.

    `strategy` is the one that holds and `own` the topic's own, both as they are once the plan is
    carried out. `exists` is false where the topic takes no policies. `content` are the findings
    about the desired definition; `clients` are the declared ones of all topics, and `observed` what
    statistics show of this topic's, None where nothing is known; `locate` says where a JSON pointer
    of it stands in the files; `rules` are the severities that differ from the table's. `waivers`
    are those of this topic, and `today` is the day, in UTC, on which they must hold.
    """

    topic: TopicName
    desired: SchemaInfo
    history: SchemaHistory
    strategy: SchemaCompatibilityStrategy
    line: BrokerLine
    locate: Locate
    today: datetime.date
    own: SchemaCompatibilityStrategy | None = None
    exists: bool = True
    content: tuple[Finding, ...] = ()
    rules: Mapping[str, Severity] = field(default_factory=dict)
    waivers: tuple[Waiver, ...] = ()
    clients: tuple[Client, ...] = ()
    observed: ObservedTopic | None = None
