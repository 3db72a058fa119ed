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
        one.location.pointer: one for one in findings if one.rule == "AVRO-W006" and one.location
    }


def merge_renames(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings; what seems a rename is in the one about the missing field (AVRO-R002).

    That has both ways in its hint, is compared with the old field, and is about readers of the old
    schema too where they miss the old field.
    """
    known, losses = renames(findings), _losses(findings)
    merged, found = set[int](), dict[int, Finding]()
    for one in findings:
        if rename := known.get(_missing_field(one)):
            lost = losses.get((rename.compared, _versions(one)))
            found[id(one)] = _with_rename(one, rename, lost)
            merged |= {id(rename), id(lost)}
    return tuple(found.get(id(one), one) for one in findings if id(one) not in merged)


_NEW_READS: Final = "the new schema cannot read messages of "
_OLD_READ: Final = " cannot read messages of the new schema"


def _missing_field(one: Finding) -> str:
    """The pointer to the new field's name, where messages do not contain it."""
    is_missing = one.rule == "AVRO-R002" and one.message.startswith(_NEW_READS)
    return one.location.pointer if one.location and is_missing else "-"


def _losses(findings: Iterable[Finding]) -> dict[tuple[Location | None, str], Finding]:
    """What readers of the old schema miss, by the old field and their versions."""
    return {
        (member.compared, _versions(one)): one
        for one in findings
        if one.rule == "AVRO-R002" and _OLD_READ in one.message
        for member in one.members
    }


def _versions(one: Finding) -> str:
    """Of the old schema, in a message about one direction."""
    before, _, _ = one.message.removeprefix(_NEW_READS).partition(" at ")
    return before.removesuffix(_OLD_READ)


def _with_rename(one: Finding, rename: Finding, lost: Finding | None) -> Finding:
    values = "the values that older messages contain under the old name are then lost"
    hint = f"{rename.hint}; else {one.hint}: {values}"
    if lost is None:
        return replace(one, hint=hint, compared=rename.compared)
    path, _, words = rename.message.partition(": ")
    why = f"{words.partition(': ')[0]}, and neither has a default"
    first, *others = one.members
    cause = f"{_EACH_OTHER.format('older versions')}: {why}"
    first = replace(first, hint=hint, cause=cause, compared=rename.compared)
    both = _EACH_OTHER.format(_versions(lost))
    return group(f"{both} {path}: {why}", [first, *others, *lost.members])


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
    for one in decision.incompatibilities:
        causes.setdefault(_cause(one), []).append(one)
    found = [_finding_of_causes(subject, same, places) for same in _by_place(causes.values())]
    return tuple(found) if found else (_refusal_finding(subject, decision, places),)


def findings_of_remarks(
    subject: str, version: str, remarks: Iterable[Remark], places: DefinitionLocations
) -> tuple[Finding, ...]:
    """What rules of ours say; `version` is the one that the remarks compare with."""
    return tuple(_remark_finding(subject, version, one, places) for one in remarks)


def _remark_finding(
    subject: str, version: str, one: Remark, places: DefinitionLocations
) -> Finding:
    found = make_finding(
        one.rule,
        f"at '{one.path}': {one.message}" if one.path else one.message,
        location=places.new(one.pointer),
        subject=subject,
        hint=one.hint,
    )
    found = replace(found, cause=one.message)
    if one.breaks_promise:
        found = replace(found, severity=RULES[one.rule].highest_severity)
    if one.old_pointer is None:
        return found
    return replace(found, compared=places.old(version, one.old_pointer))


def _cause(one: Incompatibility) -> tuple[object, ...]:
    return one.rule, one.reader == CANDIDATE, _own_pointer(one), one.message


_Cause = list[Incompatibility]
"""Of one cause, with several versions."""


def _by_place(causes: Iterable[_Cause]) -> list[list[_Cause]]:
    """Those of both directions at one place together; each other one alone."""
    places: dict[tuple[object, ...], list[_Cause]] = {}
    for same in causes:
        first = same[0]
        key = (_own_pointer(first), first.path, frozenset(map(_version, same)))
        places.setdefault(key, []).append(same)
    found: list[list[_Cause]] = []
    for each in places.values():
        found += [each] if _goes_both_ways(each) else [[one] for one in each]
    return found


def _goes_both_ways(causes: Iterable[_Cause]) -> bool:
    """Whether the new schema is the reader in some, and the writer in others."""
    return len({same[0].reader == CANDIDATE for same in causes}) > 1


def _finding_of_causes(
    subject: str, causes: Sequence[_Cause], places: DefinitionLocations
) -> Finding:
    """One finding for all the versions, the newest first, in whatever order they were checked.

    What the new schema cannot read comes first.
    """
    every = [one for same in causes for one in same]
    every.sort(key=lambda one: (one.reader != CANDIDATE, -_number(one)))
    found = [_incompatible(subject, one, places) for one in every]
    if len(causes) == 1:
        return group(_message(every), found)
    why = "; ".join(dict.fromkeys(one.message for one in every))
    versions, place = version_list(sorted({*map(_number, every)}, reverse=True)), _place(every)
    first = replace(found[0], cause=f"{_EACH_OTHER.format('older versions')}: {why}")
    return group(f"{_EACH_OTHER.format(versions)}{place}: {why}", [first, *found[1:]])


_EACH_OTHER: Final = "{} and the new schema cannot read each other's messages"


def _own_pointer(one: Incompatibility) -> str:
    return one.reader_pointer if one.reader == CANDIDATE else one.writer_pointer


def _incompatible(subject: str, one: Incompatibility, places: DefinitionLocations) -> Finding:
    mine, other = one.reader_pointer, one.writer_pointer
    if one.reader != CANDIDATE:
        mine, other = other, mine
    found = make_finding(
        one.rule, _message([one]), location=places.new(mine), subject=subject, hint=one.hint
    )
    return replace(found, compared=places.old(_version(one), other), cause=_common_cause(one))


def _common_cause(one: Incompatibility) -> str:
    """Without the version and the path, which are other ones for other topics."""
    if one.reader != CANDIDATE:
        return f"older versions cannot read messages of the new schema: {one.message}"
    return f"the new schema cannot read messages of older versions: {one.message}"


def _message(same: Sequence[Incompatibility]) -> str:
    one, versions = same[0], version_list([*dict.fromkeys(map(_number, same))])
    place = _place(same)
    if one.reader != CANDIDATE:
        return f"{versions}{_OLD_READ}{place}: {one.message}"
    return f"{_NEW_READS}{versions}{place}: {one.message}"


def _place(same: Sequence[Incompatibility]) -> str:
    paths = [*dict.fromkeys(f"'{one.path}'" for one in same if one.path)]
    return f" at {name_list(paths, _PLACES)}" if paths else ""


def _version(one: Incompatibility) -> str:
    return one.writer if one.reader == CANDIDATE else one.reader


def _number(one: Incompatibility) -> int:
    return int(_version(one).removeprefix("v"))


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
