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
from tests.support.check_repository import FOLDER, report
from tests.support.git_repos import GitRepository
from tests.support.random_rollouts import Worlds, is_healthy, is_safe
from tests.support.rollout_repository import FILES, avro, client, findings, said, steps


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


def _both(name: str, consumed: str, produced: str) -> str:
    """A client of two topics."""
    consumer = client(name, "consumes", "{version: 0}", f"shop/orders/{consumed}")
    producer = client(name, "produces", "{version: 0}", f"shop/orders/{produced}")
    return f"{consumer}produces:{producer.partition('produces:')[2]}"


@pytest.mark.slow
def test_two_that_consume_what_the_other_produces_upgrade_their_consumers_first(
    repo: GitRepository,
) -> None:
    """Upgraded as wholes each would wait for the other: a safe order exists all the same."""
    wider = avro(a="long", b="string")
    other = FILES[f"{FOLDER}/created.yaml"].replace("created.avsc", "placed.avsc")
    repo.commit(
        {
            f"{FOLDER}/placed.yaml": other,
            f"{FOLDER}/placed.avsc": FILES[f"{FOLDER}/created.avsc"],
            "clients/billing.yaml": _both("billing", "created", "placed"),
            "clients/checkout.yaml": _both("checkout", "placed", "created"),
        }
    )
    repo.write({f"{FOLDER}/created.avsc": wider, f"{FOLDER}/placed.avsc": wider})

    assert said(steps(repo)) == ["billing", "checkout", "Register v1", "Register v1"]
    (one,) = report(repo).registries
    assert sorted(one.rollout.later) == ["billing", "checkout"]
    assert findings(repo) == [("CLIENT-R003", "billing"), ("CLIENT-R003", "checkout")]


@pytest.mark.slow
def test_one_that_reads_what_it_writes_upgrades_in_two_parts(repo: GitRepository) -> None:
    repo.commit({"clients/billing.yaml": _both("billing", "created", "created")})
    repo.write({f"{FOLDER}/created.avsc": avro(a="long", b="string")})

    assert said(steps(repo)) == ["billing", "Register v1", "checkout"]
    (one,) = report(repo).registries
    assert list(one.rollout.later) == ["billing"]
    assert one.rollout.may_stay == {"checkout"}
