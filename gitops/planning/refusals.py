"""Findings for what the broker would refuse, and for what our own rules say beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from gitops.compatibility.decision import Decision, Incompatibility
from gitops.compatibility.registration import CANDIDATE
from gitops.compatibility.review.remark import Remark
from gitops.model.findings import Finding, Location
from gitops.model.rules import finding

Locate = Callable[[str], Location | None]
"""From a JSON pointer into a topic's definition to where that stands in the files."""

LocateOld = Callable[[str, str], Location | None]
"""From a version (`v3`) and a JSON pointer into its definition to a place."""


def in_version(version: str, pointer: str) -> Location:
    """A place in a stored version, of which there is no file."""
    return Location(file=version, pointer=pointer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where both sides of a comparison stand."""

    new: Locate
    old: LocateOld = in_version


def findings_of(subject: str, decision: Decision, places: Places) -> tuple[Finding, ...]:
    """One finding for each incompatibility, or one for the refusal as a whole."""
    found = [_incompatible(subject, one, places) for one in decision.incompatibilities]
    return tuple(found) if found else (_refused(subject, decision, places),)


def findings_of_remarks(
    subject: str, version: str, remarks: Iterable[Remark], places: Places
) -> tuple[Finding, ...]:
    """What rules of ours say; `version` is the one that the remarks compare with."""
    return tuple(_remarked(subject, version, one, places) for one in remarks)


def _remarked(subject: str, version: str, one: Remark, places: Places) -> Finding:
    found = finding(
        one.rule,
        f"at '{one.path}': {one.message}" if one.path else one.message,
        location=places.new(one.pointer),
        subject=subject,
        hint=one.hint,
    )
    if one.old_pointer is None:
        return found
    return replace(found, compared=places.old(version, one.old_pointer))


def broken_history(subject: str, why: str) -> Finding:
    """The registry holds something that cannot be compared with anything."""
    return finding(
        "PLAN-R002",
        f"the registry holds a schema that cannot be read: {why}",
        subject=subject,
        hint="delete the topic's schema, or leave the topic out of the files",
    )


def _incompatible(subject: str, one: Incompatibility, places: Places) -> Finding:
    mine, other, version = one.reader_pointer, one.writer_pointer, one.writer
    if one.reader != CANDIDATE:
        mine, other, version = one.writer_pointer, one.reader_pointer, one.reader
    place = f" at '{one.path}'" if one.path else ""
    found = finding(
        one.rule,
        f"{_who(one)}{place}: {one.message}",
        location=places.new(mine),
        subject=subject,
        hint=one.hint,
    )
    return replace(found, compared=places.old(version, other))


def _who(one: Incompatibility) -> str:
    reader = "the new schema" if one.reader == CANDIDATE else one.reader
    writer = "the new schema" if one.writer == CANDIDATE else one.writer
    return f"{reader} cannot read what {writer} writes"


def _refused(subject: str, decision: Decision, places: Places) -> Finding:
    return finding(
        "PLAN-R001",
        f"Pulsar would refuse it ({decision.status}): {decision.reason}",
        location=places.new(""),
        subject=subject,
        hint="see `pulsar-gitops explain PLAN-R001`",
    )
