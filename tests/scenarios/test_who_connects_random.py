"""Random changes: who can connect before and not after is named by the reports.

No version number gets another schema, so that stored messages are decoded as before.

`CONNECT_RUNS=200` in the environment carries out so many changes, `CONNECT_SEED` others.
"""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import Final

import pytest

from gitops.model.names import NamespaceName
from gitops.planning import plan as planning
from gitops.planning.lockout_findings import LockoutReport
from gitops.registries.embedded.registry import EmbeddedRegistry
from tests.scenarios.registries import Command
from tests.support.connecting_clients import Client, RandomRegistry, carry_out, unreported
from tests.support.git_repos import GitRepository

_RUNS: Final = int(os.environ.get("CONNECT_RUNS", "20"))
_SEED: Final = int(os.environ.get("CONNECT_SEED", "1"))
_SETTINGS: Final = (
    "apiVersion: pulsar-gitops/v1\nkind: Config\n"
    "registries:\n  live: {kind: embedded, path: live.db}\n"
    "safety: {maxChangedShare: 1.0}\n"
)
_SPACE: Final = NamespaceName("a", "b")


def _lost_and_unreported(
    seed: int, folder: Path, command: Command
) -> tuple[set[Client], list[tuple[str, Client]]] | None:
    """The clients that a random change locks out; None if it was not applied."""
    random = Random(seed)  # noqa: S311 - a test that can be repeated
    repo = GitRepository(folder)
    registry = EmbeddedRegistry("live", folder / "live.db")
    try:
        registry.create_namespace(_SPACE)
        world = RandomRegistry(random, _SPACE, repo, registry, _SETTINGS)
        world.fill()
        world.change()
        without_version = world.without_version()
        before = set(world.connecting()) | world.own_consumers(without_version)
        versions = _versions(world)
        applied = carry_out(world, command, approve=random.random() < 0.7)
        assert versions <= _versions(world), "a version that messages carry is another, or gone"
        if applied is None:
            return None
        lost = before - set(world.connecting()) - world.own_consumers(without_version)
    finally:
        registry.close()
    return lost, unreported(lost, applied)


def _versions(world: RandomRegistry) -> set[tuple[str, int, str]]:
    """Every live version: its topic, number and schema."""
    return {
        (str(topic), entry.version, repr(entry.info))
        for topic, state in world.observe().topics.items()
        for entry in state.history.entries
    }


@pytest.mark.slow
@pytest.mark.timeout(max(600, 30 * _RUNS))
def test_who_is_locked_out_is_named_by_check_and_plan(tmp_path: Path, command: Command) -> None:
    done, seed, locked_out = 0, _SEED, 0
    while done < _RUNS and seed < _SEED + 10 * _RUNS:
        outcome = _lost_and_unreported(seed, tmp_path / str(seed), command)
        if outcome is not None:
            done += 1
            lost, silent = outcome
            locked_out += bool(lost)
            assert silent == [], f"CONNECT_SEED={seed}"
        seed += 1

    assert done == _RUNS
    assert locked_out >= _RUNS // 10  # else the changes are too harmless to show anything


def test_without_the_decision_lockouts_go_unreported(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "lockout_report", lambda *_: LockoutReport())

    outcomes = (_lost_and_unreported(seed, tmp_path / str(seed), command) for seed in range(1, 40))

    assert any(outcome and outcome[1] for outcome in outcomes)
