"""Definitions of the base that its snapshot does not have yet: the snapshot is a merge behind."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from gitops.model.findings import Severity
from gitops.model.names import TopicName, under_either_domain
from gitops.model.repository import Repository
from gitops.model.schema import SchemaEntry, SchemaInfo
from gitops.model.state import RegistryState, TopicState
from gitops.planning.sameness import equal_version

_MOST_NAMED: Final = 5


def with_base(state: RegistryState, base: Repository) -> tuple[RegistryState, tuple[str, ...]]:
    """The state once the base's definitions are registered, and a sentence that names them.

    Nothing is registered that the state holds already, as with a broker: a definition that equals
    an older version leaves the latest as it is. No sentence where nothing is missing.
    """
    ahead = {
        topic: _registered(known, info)
        for topic, known in state.topics.items()
        if (info := _definition(base, topic)) and equal_version(known.history, info) is None
    }
    if not ahead:
        return state, ()
    return replace(state, topics={**state.topics, **ahead}), (_sentence(ahead.values()),)


def _definition(base: Repository, topic: TopicName) -> SchemaInfo | None:
    """What the base says, None for what no registry can have taken."""
    source = under_either_domain(base.topics, topic)
    state = under_either_domain(base.desired.topics, topic)
    if source and any(each.severity is Severity.ERROR for each in source.findings):
        return None
    latest = state.history.latest if state else None
    return latest.info if latest else None


def _registered(known: TopicState, info: SchemaInfo) -> TopicState:
    history = known.history
    entry = SchemaEntry(version=history.next_version, info=info)
    after = replace(
        history, entries=(*history.entries, entry), next_version=history.next_version + 1
    )
    return replace(known, history=after)


def _sentence(ahead: Iterable[TopicState]) -> str:
    topics = sorted(ahead, key=lambda one: one.topic)
    said = [f"{one.topic} (v{one.history.next_version - 1})" for one in topics[:_MOST_NAMED]]
    more = len(topics) - len(said)
    names = ", ".join([*said, *([f"{more} more"] if more else [])])
    return (
        "The snapshot does not have the base's definitions of these topics, which are taken as "
        f"registered after it: {names}."
    )
