"""Findings for what the broker would refuse, and for what our own rules say beside it."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final

from gitops.broker.lines.line import BrokerLine
from gitops.broker.registration import CANDIDATE
from gitops.model.decision import Decision, Incompatibility
from gitops.model.findings import Finding, Location, Severity, group
from gitops.model.names import TopicName
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.rules import make_finding
from gitops.model.schema import SchemaHistory, SchemaInfo
from gitops.model.waivers import Waiver
from gitops.schemas.row import Remark

# A field that is missing because it was renamed: what to do about the rename comes first.


def renames(findings: Sequence[Finding]) -> dict[str, Finding]:
    """What looks like a rename (AVRO-W006), by the pointer to the new field's name."""
    return {
        one.location.pointer: one for one in findings if one.rule == "AVRO-W006" and one.location
    }


def add_rename_hints(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings; one about a missing field (AVRO-R002) that seems renamed says both ways."""
    known = renames(findings)
    return tuple(_with_hint(one, known.get(_pointer(one))) for one in findings)


def _pointer(one: Finding) -> str:
    is_missing = one.rule == "AVRO-R002" and one.location is not None
    return one.location.pointer if one.location and is_missing else "-"


def _with_hint(one: Finding, rename: Finding | None) -> Finding:
    if rename is None:
        return one
    lost = (
        f"else {one.hint}: the values that older messages contain under the old name are then lost"
    )
    return replace(one, hint=f"{rename.hint}; {lost}")


Locate = Callable[[str], Location | None]
"""From a JSON pointer into a topic's definition to where that stands in the files."""

_LISTED: Final = 4
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
    and mismatch are the same, and the same side reads.
    """
    causes: dict[tuple[object, ...], list[Incompatibility]] = {}
    for one in decision.incompatibilities:
        causes.setdefault(_cause(one), []).append(one)
    found = [_finding_of_cause(subject, same, places) for same in causes.values()]
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
    if one.old_pointer is None:
        return found
    return replace(found, compared=places.old(version, one.old_pointer))


def _cause(one: Incompatibility) -> tuple[object, ...]:
    is_reader = one.reader == CANDIDATE
    mine = one.reader_pointer if is_reader else one.writer_pointer
    return one.rule, is_reader, mine, one.path, one.message


def _finding_of_cause(
    subject: str, same: list[Incompatibility], places: DefinitionLocations
) -> Finding:
    """One finding for all the versions, the newest first, in whatever order they were checked."""
    newest_first = sorted(same, key=_number, reverse=True)
    return group(
        _message(newest_first), [_incompatible(subject, one, places) for one in newest_first]
    )


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
    one, versions = same[0], version_list([_number(each) for each in same])
    place = f" at '{one.path}'" if one.path else ""
    if one.reader != CANDIDATE:
        return f"{versions} cannot read messages of the new schema{place}: {one.message}"
    return f"the new schema cannot read messages of {versions}{place}: {one.message}"


def _version(one: Incompatibility) -> str:
    return one.writer if one.reader == CANDIDATE else one.reader


def _number(one: Incompatibility) -> int:
    return int(_version(one).removeprefix("v"))


def version_list(numbers: Sequence[int]) -> str:
    """Versions, the newest first: `v3, v2, v1, v0`, of a longer run the ends: `v40 to v12, v9`."""
    runs = [
        [number for _, number in run]
        for _, run in groupby(enumerate(numbers), key=lambda each: each[0] + each[1])
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
    about the desired definition; `locate` says where a JSON pointer of it stands in the files;
    `rules` are the severities that differ from the table's. `waivers` are those of this topic, and
    `today` is the day, in UTC, on which they must hold.
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
