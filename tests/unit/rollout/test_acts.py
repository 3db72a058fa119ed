"""What people do at once: safe in the order of the lines, with as few merges as there can be."""

from __future__ import annotations

import pytest

from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.model.names import TopicName
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.rollout import Register, Role, Rollout, Step, Upgrade
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.rollout.acts import ActKind, acts, merge_count
from gitops.rollout.model import RolloutModel, Service, TopicModel, Use
from gitops.rollout.order import solve
from gitops.rollout.split_upgrades import solve_with_few_merges
from gitops.schemas.payload import stored_history
from tests.support.random_rollouts import Worlds, all_orders, is_safe
from tests.support.states import history

READ, WRITTEN = (TopicName.parse(f"t/n/{name}") for name in ("read", "written"))
OLD, NEW = (
    SchemaInfo(
        type=SchemaType.AVRO,
        schema=f'{{"type": "record", "name": "R", "fields": [{{"name": "a", "type": "{kind}"}}]}}',
    )
    for kind in ("int", "long")
)


def _merges(steps: tuple[object, ...]) -> int:
    """Registrations without an upgrade between them are one merge, but for those of one topic."""
    count, merged = 0, set[TopicName]()
    open_merge = False
    for step in steps:
        if not isinstance(step, Register):
            open_merge = False
        elif not open_merge or step.topic in merged:
            count, open_merge, merged = count + 1, True, {step.topic}
        else:
            merged.add(step.topic)
    return count


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 4))]
)
def test_the_lines_are_a_safe_order_with_few_merges(seed: int) -> None:
    worlds, seen = Worlds(seed), 0
    for _ in range(40):
        world = worlds.healthy()
        _, rollout = solve(world)
        found = acts(rollout)
        steps = [one.step for act in found for one in act.steps]
        assert sorted(map(str, steps)) == sorted(str(one.step) for one in rollout.steps)
        assert is_safe(world, steps, wait=False), world
        assert is_safe(world, _backwards(rollout), wait=False), world
        if 1 < len(steps) <= len("12345"):
            fewest = min(
                (_merges(one) for one in all_orders(steps) if is_safe(world, one, wait=True)),
                default=0,
            )
            assert merge_count(rollout) <= fewest, world
            seen += 1
    assert seen


def _backwards(rollout: Rollout) -> list[Step]:
    """Within an act the order is free; who may upgrade stays behind."""
    required = (act for act in acts(rollout) if act.kind is not ActKind.OPTIONAL)
    return [one.step for act in required for one in reversed(act.steps)]


def _topic(name: TopicName) -> TopicModel:
    return TopicModel(
        topic=name,
        history=stored_history(history(OLD)),
        line=PULSAR_4_0,
        new=(NEW,),
        strategy=Strategy.BACKWARD,
    )


def _use(topic: TopicName, role: Role, schema: SchemaInfo) -> Use:
    return Use(topic=topic, role=role, schemas=(schema,))


def _reader_that_writes(*, assumed: bool) -> RolloutModel:
    before, after = (
        (_use(READ, Role.CONSUMER, schema), _use(WRITTEN, Role.PRODUCER, schema))
        for schema in (OLD, NEW)
    )
    service = Service(name="s", before=before, after=after, assumed=assumed)
    return RolloutModel(topics={READ: _topic(READ), WRITTEN: _topic(WRITTEN)}, services=(service,))


def test_a_declared_upgrade_between_two_registrations_needs_two_merges() -> None:
    model, _, rollout = solve_with_few_merges(_reader_that_writes(assumed=False))
    assert [[one.step for one in act.steps] for act in acts(rollout)] == [
        [Register(WRITTEN, 1)],
        [Upgrade("s")],
        [Register(READ, 1)],
    ]
    assert model.services[0].after[1].schemas == (NEW,)


def test_one_that_nobody_declared_comes_in_two_parts() -> None:
    model, _, rollout = solve_with_few_merges(_reader_that_writes(assumed=True))
    assert [[one.step for one in act.steps] for act in acts(rollout)] == [
        [Upgrade("s")],
        [Register(READ, 1), Register(WRITTEN, 1)],
    ]
    assert [use.schemas for use in model.services[0].after] == [(NEW,), (OLD,)]


def test_it_is_whole_where_a_consumer_waits_for_what_it_writes() -> None:
    """Who need not upgrade would have to, before the second part."""
    model = _reader_that_writes(assumed=True)
    loose = {
        READ: model.topics[READ],
        WRITTEN: TopicModel(
            topic=WRITTEN,
            history=model.topics[WRITTEN].history,
            line=PULSAR_4_0,
            new=(NEW,),
            strategy=Strategy.ALWAYS_COMPATIBLE,
        ),
    }
    reader = Service(
        name="r",
        before=(_use(WRITTEN, Role.CONSUMER, OLD),),
        after=(_use(WRITTEN, Role.CONSUMER, NEW),),
        assumed=True,
    )
    whole = RolloutModel(topics=loose, services=(*model.services, reader))
    found, _, rollout = solve_with_few_merges(whole)
    assert found == whole
    assert "r" not in rollout.may_stay
