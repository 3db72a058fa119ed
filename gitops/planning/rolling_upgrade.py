"""While brokers are upgraded one by one: where those of another release decide otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gitops.broker.lines.table import find_line, line_of
from gitops.broker.registration import register
from gitops.model.findings import Finding
from gitops.model.policy import BrokerSettings
from gitops.model.rules import make_finding
from gitops.planning.refusals import TopicCase
from gitops.schemas.payload import PayloadError, stored_history


def rolling_upgrade_findings(case: TopicCase, broker: BrokerSettings) -> Iterator[Finding]:
    """The releases beside the one that decided which answer otherwise to a changed schema.

    Any broker of the cluster may be the one that the registration reaches.
    """
    others = [release for release in broker.other_releases if find_line(release)]
    try:
        history = stored_history(case.history) if others else None
    except PayloadError:
        return
    if history is None:
        return
    accepted = register(history, case.desired, case.strategy, case.line).accepted
    for release in others:
        line = line_of(replace(broker, release=release))
        decision = register(history, case.desired, case.strategy, line)
        if decision.accepted is not accepted:
            verdict, ours = ("accepts", "refuses") if decision.accepted else ("refuses", "accepts")
            why = f": {decision.reason}" if decision.reason else ""
            yield make_finding(
                "PLAN-R012",
                f"the cluster also has brokers of {release}, and such a broker {verdict} this "
                f"schema, which one of {broker.release} {ours}{why}",
                subject=str(case.topic),
                location=case.locate(""),
                hint="hold it back until all brokers are of one release, or write it so that both "
                "accept it",
            )
