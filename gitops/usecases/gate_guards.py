"""Which directions a replay no longer counts, because a change alters strategies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gitops.model.findings import Finding
from gitops.model.names import TopicName
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.planning.make import Question, strategy_of
from gitops.planning.sample_guards import of_gates
from gitops.usecases.change import LoadedChange
from gitops.usecases.change_places import place_of_policy
from gitops.usecases.replay_gates import Versions, gates_of

_Strategies = tuple[SchemaCompatibilityStrategy, SchemaCompatibilityStrategy]
_KEY: Final = "schemaCompatibilityStrategy"
_READERS: Final = {
    Versions.LATEST: "readers with the latest version",
    Versions.ALL: "readers with any version",
}


def gate_guards(
    loaded: LoadedChange,
    question: Question,
    before: Mapping[TopicName, SchemaCompatibilityStrategy],
) -> Iterator[Finding]:
    """By the strategies of one registry; `before` are those that the change alters."""
    found: dict[tuple[str, _Strategies], list[TopicName]] = {}
    for topic, old in sorted(before.items()):
        source, new = loaded.head.topics.get(topic), strategy_of(question, topic)
        for lost in _lost_gates(old, new) if source and source.samples else ():
            found.setdefault((lost, (old, new)), []).append(topic)
    for (lost, strategies), topics in found.items():
        where = place_of_policy(loaded, topics[0], _KEY, question.registry) or place_of_policy(
            loaded, topics[0].namespace, _KEY, question.registry
        )
        yield of_gates(topics, strategies, lost, where)


def _lost_gates(
    old: SchemaCompatibilityStrategy, new: SchemaCompatibilityStrategy
) -> Iterator[str]:
    was, now = gates_of(old), gates_of(new)
    if was.backward and not now.backward:
        yield "stored messages that the new schema cannot read"
    order = list(Versions)
    if order.index(now.forward) < order.index(was.forward):
        yield f"new messages that {_READERS[was.forward]} cannot read"
