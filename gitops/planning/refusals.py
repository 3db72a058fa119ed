"""Findings for what the broker would refuse."""

from __future__ import annotations

from collections.abc import Callable

from gitops.compatibility.decision import Decision, Incompatibility
from gitops.compatibility.registration import CANDIDATE
from gitops.model.findings import Finding, Location
from gitops.model.rules import finding

Locate = Callable[[str], Location | None]
"""From a JSON pointer into a topic's definition to where that stands in the files."""


def findings_of(subject: str, decision: Decision, locate: Locate) -> tuple[Finding, ...]:
    """One finding for each incompatibility, or one for the refusal as a whole."""
    found = [_incompatible(subject, one, locate) for one in decision.incompatibilities]
    return tuple(found) if found else (_refused(subject, decision, locate),)


def broken_history(subject: str, why: str) -> Finding:
    """The registry holds something that cannot be compared with anything."""
    return finding(
        "PLAN-R002",
        f"the registry holds a schema that cannot be read: {why}",
        subject=subject,
        hint="delete the topic's schema, or leave the topic out of the files",
    )


def _incompatible(subject: str, one: Incompatibility, locate: Locate) -> Finding:
    mine = one.reader_pointer if one.reader == CANDIDATE else one.writer_pointer
    place = f" at '{one.path}'" if one.path else ""
    return finding(
        one.rule,
        f"{_who(one)}{place}: {one.message}",
        location=locate(mine),
        subject=subject,
        hint=one.hint,
    )


def _who(one: Incompatibility) -> str:
    reader = "the new schema" if one.reader == CANDIDATE else one.reader
    writer = "the new schema" if one.writer == CANDIDATE else one.writer
    return f"{reader} cannot read what {writer} writes"


def _refused(subject: str, decision: Decision, locate: Locate) -> Finding:
    return finding(
        "PLAN-R001",
        f"Pulsar would refuse it ({decision.status}): {decision.reason}",
        location=locate(""),
        subject=subject,
        hint="see `pulsar-gitops explain PLAN-R001`",
    )
