"""Findings about waivers that do nothing, or soon will not."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from typing import Final

from gitops.model.findings import Finding
from gitops.model.plan import RefusedSchema, RegisterSchema, SchemaSwallowed
from gitops.model.rules import make_finding
from gitops.model.waivers import LimitWaiver, Waiver
from gitops.planning.refusals import TopicCase
from gitops.planning.temporary_strategy import obstacle
from gitops.planning.topics import TopicOutcome
from gitops.planning.waivers import has_expired, waived_fingerprint

SOON_DAYS: Final = 14


def expiry_findings(
    waivers: Iterable[Waiver | LimitWaiver], today: datetime.date
) -> Iterator[Finding]:
    """Those that hold no more, and those that soon will not; needs nothing but the files."""
    for waiver in waivers:
        where = waiver.place("expires")
        if has_expired(waiver, today):
            yield make_finding(
                "WAIVER-R001",
                f"{waiver.expires} was its last day",
                location=where,
                subject=str(waiver.subject),
                hint="remove the file, or have the change approved again until a later day",
            )
        elif waiver.expires - today <= datetime.timedelta(days=SOON_DAYS):
            yield make_finding(
                "WAIVER-R002",
                f"{waiver.expires} is its last day",
                location=where,
                subject=str(waiver.subject),
                hint="apply the change by then, or have it approved until a later day",
            )


def unneeded_findings(
    waivers: Iterable[Waiver], today: datetime.date, *, at_work: str = ""
) -> Iterator[Finding]:
    """Those of a topic of which no schema is managed; `at_work` as in `topic_waiver_findings`."""
    for waiver in waivers:
        if not has_expired(waiver, today) and waiver.name != at_work:
            yield _unneeded_finding(waiver, "the topic's manifest names no schema")


def topic_waiver_findings(
    case: TopicCase, outcome: TopicOutcome, *, at_work: str = ""
) -> Iterator[Finding]:
    """Those of the topic's waivers that let nothing pass; what has expired is said already.

    The one called `at_work` is still needed: a topic is left open that only it remembers.
    """
    for waiver in case.waivers:
        if has_expired(waiver, case.today) or waiver.name == at_work:
            continue
        if isinstance(outcome, RefusedSchema):
            yield from _refusal_findings(case, outcome, waiver)
        elif isinstance(outcome, RegisterSchema | SchemaSwallowed) and outcome.waiver:
            # A second one for the same change is the loader's to tell.
            first = next(item for item in case.waivers if item.name == outcome.waiver)
            if waiver.fingerprint != first.fingerprint:
                yield _unneeded_finding(waiver, f"{first.file} already lets the schema pass")
        elif waiver.fingerprint == waived_fingerprint(case):
            latest = case.history.entries[-1].version
            yield _unneeded_finding(
                waiver, f"v{latest} is registered, so the waiver has done its work"
            )
        else:
            yield _unneeded_finding(waiver, "the topic's schema is not refused")


def _refusal_findings(case: TopicCase, refused: RefusedSchema, waiver: Waiver) -> Iterator[Finding]:
    if waiver.fingerprint != refused.fingerprint:
        yield make_finding(
            "WAIVER-R004",
            f"it is for {waiver.fingerprint}, and the refusal is {refused.fingerprint}: "
            "the schema, the versions in the registry or the strategy changed",
            location=waiver.location,
            subject=str(waiver.subject),
            hint="review the refusal again, and have it approved with its own fingerprint",
        )
    elif why := None if refused.accepted else obstacle(case):
        what, hint = why
        yield make_finding(
            "WAIVER-R007", what, location=waiver.location, subject=str(waiver.subject), hint=hint
        )


def _unneeded_finding(waiver: Waiver, why: str) -> Finding:
    return make_finding(
        "WAIVER-R003",
        why,
        location=waiver.location,
        subject=str(waiver.subject),
        hint="remove the file",
    )
