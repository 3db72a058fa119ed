"""Which actions of a plan wait for each other, and which may be carried out at the same time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from gitops.model.names import TopicName
from gitops.model.plan import Action, CreateTopic, DeleteSchema, RegisterSchema

History = tuple[Action, ...]
"""Actions in a row, of which each waits for the one before.

More than one are entries of one topic's history, as only a restore has them. What the registry
answers to each is its number: nobody else has added one in between.
"""


def waves(actions: Iterable[Action]) -> Iterator[list[History]]:
    """The plan's actions in their order, in waves; the histories of a wave wait for no other.

    A wave waits for the one before. Topics that are created next to each other in a plan are one,
    and so are the schemas of several topics: in Pulsar (3.0 to 5.0) each topic's history is its
    own. A policy, a namespace and a tenant are a wave each, as others may need them.
    """
    for kind, run in groupby(actions, _kind):
        if kind is None:
            for action in run:
                yield [(action,)]
        else:
            yield _histories(run)


def _kind(action: Action) -> str | None:
    match action:
        case CreateTopic():
            return "topic"
        case RegisterSchema() | DeleteSchema():
            return "schema"
        case _:
            return None


def _histories(run: Iterable[Action]) -> list[History]:
    by_topic: dict[TopicName, list[Action]] = {}
    for action in run:
        if isinstance(action, CreateTopic | RegisterSchema | DeleteSchema):
            by_topic.setdefault(action.topic, []).append(action)
    return [tuple(each) for each in by_topic.values()]
