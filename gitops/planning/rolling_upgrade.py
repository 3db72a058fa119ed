"""While brokers are upgraded one by one: where those of another release decide otherwise.

The oldest release in the cluster decides for `plan`, `connect` and `rollout`; each other one is
asked the same here, since a registration or a client may reach any broker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from gitops.broker.lines.table import find_line, line_of
from gitops.broker.registration import register
from gitops.model.decision import Decision
from gitops.model.findings import Finding
from gitops.model.policy import BrokerSettings, SettingRemark
from gitops.model.rules import make_finding
from gitops.planning.refusals import TopicCase
from gitops.schemas.payload import PayloadError, stored_history

_T = TypeVar("_T")


def release_doubts(releases: Sequence[str]) -> Iterator[SettingRemark]:
    """Remarks about a cluster whose brokers have these releases, the oldest, which decides, first.

    None where all have the same one.
    """
    if len(releases) > 1:
        message = (
            f"the cluster's brokers have different releases, {', '.join(releases)}: the "
            f"answers of {releases[0]} are shown, and another one may answer differently"
        )
        yield SettingRemark(key="release", message=message)
    if unknown := [release for release in releases[1:] if find_line(release) is None]:
        message = (
            f"there is no profile of Pulsar {' and '.join(unknown)}, which brokers of the cluster "
            "have: what those answer is not known"
        )
        yield SettingRemark(key="release", message=message)


def other_answers(
    broker: BrokerSettings, answer: Callable[[BrokerSettings], _T]
) -> Iterator[tuple[str, _T]]:
    """What brokers of each other release in the cluster answer, as far as there is a profile."""
    for release in broker.other_releases:
        if find_line(release):
            yield release, answer(replace(broker, release=release))


def contradiction(broker: BrokerSettings, release: str, decision: Decision, what: str) -> str:
    """That a broker of another release answers otherwise about `what` than the one that decided."""
    verdict, ours = ("accepts", "refuses") if decision.accepted else ("refuses", "accepts")
    why = f": {decision.reason}" if decision.reason else ""
    return (
        f"the cluster also has brokers of {release}, and such a broker {verdict} {what}, which one "
        f"of {broker.release} {ours}{why}"
    )


def rolling_upgrade_findings(case: TopicCase, broker: BrokerSettings) -> Iterator[Finding]:
    """The releases beside the one that decided which answer otherwise to a changed schema."""
    try:
        history = stored_history(case.history) if broker.other_releases else None
    except PayloadError:
        return
    if history is None:
        return
    accepted = register(history, case.desired, case.strategy, case.line).accepted
    decisions = other_answers(
        broker,
        lambda broker_settings: register(
            history, case.desired, case.strategy, line_of(broker_settings)
        ),
    )
    for release, decision in decisions:
        if decision.accepted is not accepted:
            yield make_finding(
                "PLAN-R012",
                contradiction(broker, release, decision, "this schema"),
                subject=str(case.topic),
                location=case.locate(""),
                hint="hold it back until all brokers are of one release, or write it so that both "
                "accept it",
            )
