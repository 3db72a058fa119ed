"""Both parts of an upgrade that comes in two are safe, in every order of the second ones."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from gitops.model.rollout import Rollout, Upgrade
from gitops.rollout.model import RolloutModel, Service, Use
from gitops.rollout.readers import histories
from gitops.rollout.split_upgrades import solve_with_few_merges
from tests.support.random_rollouts import Worlds, is_healthy, is_safe


def _moved(model: RolloutModel, use: Use, dice: random.Random) -> Use:
    """To the topic's new schema, as a client that nobody declared to change is taken to move."""
    new = model.topics[use.topic].new
    return replace(use, schemas=new[-1:]) if new and dice.random() < 0.9 else use


def _models(seed: int) -> Iterator[RolloutModel]:
    worlds = Worlds(seed)
    for _ in range(400):
        model = worlds.world()
        services = tuple(
            replace(
                one, assumed=True, after=tuple(_moved(model, u, worlds.dice) for u in one.before)
            )
            for one in model.services
        )
        topics = {
            name: replace(topic, new=topic.new[-1:], deleted=False)
            for name, topic in model.topics.items()
        }
        found = RolloutModel(topics=topics, services=services)
        if is_healthy(found):
            yield found


def _after(model: RolloutModel, first: RolloutModel, rollout: Rollout) -> RolloutModel:
    """What is left once all is registered: second parts, and who never had to upgrade."""

    def now(whole: Service, part: Service) -> Service:
        return replace(whole, before=part.before if part.name in rollout.may_stay else part.after)

    topics = {
        name: replace(topic, history=histories(topic)[-1], new=())
        for name, topic in model.topics.items()
    }
    services = tuple(map(now, model.services, first.services))
    return RolloutModel(topics=topics, services=services)


@pytest.mark.slow
def test_the_second_parts_are_safe_in_every_order() -> None:
    seen = 0
    for model in itertools.chain.from_iterable(map(_models, range(8))):
        first, _, rollout = solve_with_few_merges(model)
        if first == model:
            continue
        seen += 1
        assert is_safe(first, [one.step for one in rollout.steps], wait=False), model
        left = _after(model, first, rollout)
        steps = [Upgrade(one.name) for one in left.services if one.changes]
        for order in itertools.permutations(steps):
            assert is_safe(left, order, wait=False), model
    assert seen
