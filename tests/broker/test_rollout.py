"""The offered steps, taken one by one on a real broker; and every order, where none is offered."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from gitops.model.rollout import Rollout, Step, Upgrade
from gitops.rollout.constraints import constraints
from gitops.rollout.model import RolloutModel
from gitops.rollout.order import solve
from tests.support.pulsar_broker import RunningBroker
from tests.support.random_rollouts import Worlds, all_orders

if TYPE_CHECKING:
    from tests.broker.rollout_replay import Replay

pytestmark = pytest.mark.broker

WORLDS: Final = int(os.environ.get("ROLLOUT_WORLDS") or 12)
BLOCKED: Final = max(WORLDS // 4, 1)
MAX_STEPS: Final = 3
"""Of a world whose orders are all tried: so there are six at most."""


@pytest.fixture
def dice() -> random.Random:
    """Of ROLLOUT_SEED; what a failure prints repeats it."""
    chance = random.SystemRandom().randrange(10**6)
    seed = int(os.environ.get("ROLLOUT_SEED") or ("0" if os.environ.get("CI") else chance))
    print(f"ROLLOUT_SEED={seed}")  # noqa: T201 - pytest shows it where a test fails
    return random.Random(seed)  # noqa: S311 - worlds to repeat, no secret


@pytest.fixture
def replay(
    pulsar: RunningBroker, dice: random.Random, tmp_path: Path
) -> Iterator[Callable[[RolloutModel], Replay]]:
    """Sets up a world on the broker."""
    client = pytest.importorskip("pulsar", reason="the extra 'pulsar' is not installed")
    if not pulsar.service_url:
        pytest.skip("PULSAR_SERVICE_URL does not say where the broker's own protocol listens")
    from tests.broker.rollout_replay import Replay

    # What it is refused is expected, and nothing to print.
    logger = client.FileLogger(client.LoggerLevel.Error, str(tmp_path / "client.log"))
    connected = client.Client(pulsar.service_url, operation_timeout_seconds=10, logger=logger)

    def set_up(world: RolloutModel) -> Replay:
        return Replay(world, pulsar.admin_url, connected, dice)

    yield set_up
    connected.close()


def _worlds(dice: random.Random, *, possible: bool) -> Iterator[tuple[RolloutModel, Rollout]]:
    """Worlds that have an order, or that have none and few steps."""
    worlds = Worlds(dice.randrange(10**9))
    while True:
        world = worlds.healthy()
        found, rollout = constraints(world), solve(world)[1]
        assert not rollout.broken
        few = len(next(all_orders(found.steps), ())) <= MAX_STEPS
        if (possible and len(rollout.steps) > 1) or (rollout.blocks and few and not possible):
            yield world, rollout


def _one_of(rollout: Rollout, dice: random.Random) -> Iterator[Step]:
    """The steps in an order of the many that it stands for; who may stay behind stays or not."""
    staying = {name for name in rollout.may_stay if dice.random() < 1 / 2}
    shuffled = [(one.wave, dice.random(), one.step) for one in rollout.steps]
    for _, _, step in sorted(shuffled, key=lambda each: each[:2]):
        if not (isinstance(step, Upgrade) and step.service in staying):
            yield step


def test_what_is_offered_works(
    replay: Callable[[RolloutModel], Replay], dice: random.Random
) -> None:
    for _, (world, rollout) in zip(range(WORLDS), _worlds(dice, possible=True), strict=False):
        steps = list(_one_of(rollout, dice))
        running = replay(world)
        running.look()
        for number, step in enumerate(steps):
            try:
                running.take(step)
            except Exception as error:
                error.add_note(f"at {step}, after {steps[:number]}, in {world}")
                raise


def test_where_nothing_is_offered_nothing_works(
    replay: Callable[[RolloutModel], Replay], dice: random.Random
) -> None:
    for _, (world, rollout) in zip(range(BLOCKED), _worlds(dice, possible=False), strict=False):
        for steps in all_orders(constraints(world).steps):
            why = _why_broken(replay(world), steps)
            assert why, f"{[one.reason for one in rollout.blocks]}, but {steps} works in {world}"


def _why_broken(running: Replay, steps: Iterable[Step]) -> str | None:
    from tests.broker.rollout_replay import BrokenError

    running.look()
    try:
        for step in steps:
            running.wait()
            running.take(step)
    except BrokenError as error:
        return str(error)
    return None
