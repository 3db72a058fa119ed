"""Plans of one topic, with places that name the pointers that they stand for."""

from __future__ import annotations

from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.model.findings import Finding, Location
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaHistory, SchemaInfo
from gitops.planning.refusals import TopicCase
from gitops.planning.topics import TopicOutcome, plan_topic
from tests.support.states import CREATED, TODAY


def locate(pointer: str) -> Location:
    """A place for each pointer."""
    return Location(file="created.avsc", line=1, column=1, pointer=pointer)


def planned(
    desired: SchemaInfo,
    known: SchemaHistory,
    strategy: Strategy = Strategy.FULL,
    content: tuple[Finding, ...] = (),
) -> TopicOutcome:
    """What becomes of a schema beside the versions that there are."""
    return plan_topic(
        TopicCase(
            today=TODAY,
            topic=CREATED,
            desired=desired,
            history=known,
            strategy=strategy,
            line=PULSAR_4_0,
            locate=locate,
            content=content,
        )
    )
