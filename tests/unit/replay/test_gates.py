"""Which direction counts under which strategy."""

from __future__ import annotations

import pytest

from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.policy import UpgradeFirst, upgrade_first
from gitops.replay.gates import Gate, Versions, gates_of


@pytest.mark.parametrize("strategy", Strategy)
def test_what_the_strategy_promises_counts(strategy: Strategy) -> None:
    gates = gates_of(strategy)
    said = (gates.backward, gates.forward is not Versions.NONE)
    name = strategy.value.removesuffix("_TRANSITIVE")
    expected = {
        "BACKWARD": (True, False),
        "FORWARD": (False, True),
        "FULL": (True, True),
        "UNDEFINED": (True, True),
        "ALWAYS_COMPATIBLE": (False, False),
        "ALWAYS_INCOMPATIBLE": (True, True),
    }
    assert said == expected[name]


@pytest.mark.parametrize("strategy", Strategy)
def test_older_readers_count_only_where_the_strategy_looks_at_all_versions(
    strategy: Strategy,
) -> None:
    forward = gates_of(strategy).forward
    if strategy.value.endswith("_TRANSITIVE"):
        assert forward is not Versions.LATEST
    elif strategy is not Strategy.ALWAYS_INCOMPATIBLE:
        assert forward is not Versions.ALL


@pytest.mark.parametrize("strategy", Strategy)
def test_who_upgrades_first_is_not_asked_to_read_what_comes_later(strategy: Strategy) -> None:
    gates = gates_of(strategy)
    if upgrade_first(strategy) is UpgradeFirst.CONSUMERS:
        assert gates.forward is Versions.NONE
    if upgrade_first(strategy) is UpgradeFirst.PRODUCERS:
        assert not gates.backward


@pytest.mark.parametrize(
    ("choice", "backward", "forward"),
    [
        (Gate.BACKWARD, True, Versions.NONE),
        (Gate.FORWARD, False, Versions.ALL),
        (Gate.BOTH, True, Versions.ALL),
        (Gate.NONE, False, Versions.NONE),
    ],
)
def test_a_choice_goes_before_the_strategy(
    choice: Gate,
    backward: bool,  # noqa: FBT001
    forward: Versions,
) -> None:
    for strategy in Strategy:
        gates = gates_of(strategy, choice)
        assert (gates.backward, gates.forward) == (backward, forward)
