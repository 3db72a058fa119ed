"""Which actions of a plan wait for each other, and which may be carried out at the same time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from gitops.model.names import TopicName
from gitops.model.plan import Action, DeleteSchema, RegisterSchema
from gitops.planning.plan import subject_of

Chain = tuple[Action, ...]  # of which each waits for the one before


def waves(actions: Iterable[Action]) -> Iterator[list[Chain]]:
    """The plan's actions in their order, in waves; the chains of a wave do not wait for each other.

    A wave waits for the one before. Each topic has its own history and policies (Pulsar 3.0 to
    5.0), so topics that follow each other in a plan are one wave. What is about a namespace or a
    tenant is a wave alone, as topics need it.
    """
    for of_topics, run in groupby(actions, lambda item: isinstance(subject_of(item), TopicName)):
        if of_topics:
            yield _chains(run)
        else:
            for action in run:
                yield [(action,)]


def _chains(run: Iterable[Action]) -> list[Chain]:
    by_topic: dict[object, list[Action]] = {}
    for action in run:
        by_topic.setdefault(subject_of(action), []).append(action)
    return [tuple(actions) for actions in by_topic.values()]


def is_one_history(first: Action | None, second: Action | None) -> bool:
    """Whether both add an entry to the history of one topic, as only those of a restore do.

    What the registry answers to each is its number: nobody else has added one in between.
    """
    kinds = RegisterSchema | DeleteSchema
    return isinstance(first, kinds) and isinstance(second, kinds) and first.topic == second.topic
