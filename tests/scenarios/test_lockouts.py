"""Whoever can connect before an apply can connect after it, unless the plan has named them.

`LOCKOUT_SEEDS=200` in the environment makes so many random changes on each registry.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from gitops.broker.connection import ConnectionTarget, connection_policies
from gitops.broker.consumer_connection import admit_consumer
from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.broker.producer_connection import admit_producer
from gitops.changes.registries import registry_config
from gitops.cli.session import open_repository
from gitops.model.decision import StoredSchema
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import BrokerSettings
from gitops.model.state import Scope
from gitops.planning.lockout_findings import LockoutReport
from gitops.ports import Registry
from gitops.registries.factory import open_registry
from gitops.schemas.payload import stored_history
from tests.scenarios.random_lockouts import RandomChange
from tests.scenarios.registries import Command, Live
from tests.scenarios.repositories import empty_for
from tests.support.pulsar_binary import BinaryClient, binary_client
from tests.support.pulsar_broker import RunningBroker

pytestmark = pytest.mark.slow

SEEDS: Final = range(int(os.environ.get("LOCKOUT_SEEDS", "12")))
RULES: Final = ("PLAN-R020", "PLAN-R021", "PLAN-R022")

Kind = tuple[TopicName, str, int | None]
"""A topic, a role, and the version of the client's schema; None: it sends none."""

Connect = Callable[[Kind, StoredSchema | None], bool]


@pytest.fixture
def connect(request: pytest.FixtureRequest) -> Iterator[Callable[[Registry], Connect]]:
    """Whether a client is let in: asked of a broker by its own protocol, else of its model."""
    if request.node.callspec.params["live"] != "broker":
        yield _asks_model
        return
    pulsar: RunningBroker = request.getfixturevalue("pulsar")
    with binary_client(pulsar.service_url) as client:
        yield lambda _: _asks_broker(client)


def _asks_model(registry: Registry) -> Connect:
    def accepts(kind: Kind, schema: StoredSchema | None) -> bool:
        topic, role, _ = kind
        scope = Scope(namespaces=frozenset({topic.namespace}), topics=frozenset({topic}))
        state = registry.observe(scope)
        target = ConnectionTarget(
            history=stored_history(state.topics[topic].history),
            policies=connection_policies(
                topic,
                state.topics[topic].policies,
                state.namespaces[topic.namespace].policies,
                BrokerSettings(),
            ),
            line=PULSAR_4_0,
            use="active",
        )
        admit = admit_consumer if role == "consumer" else admit_producer
        return admit(target, schema or "NONE").accepted

    return accepts


def _asks_broker(client: BinaryClient) -> Connect:
    def accepts(kind: Kind, schema: StoredSchema | None) -> bool:
        topic, role, _ = kind
        client.look_up(str(topic))
        opens, closes = (
            (client.subscribe, client.close_consumer)
            if role == "consumer"
            else (client.produce, client.close_producer)
        )
        number, reply = opens(str(topic), schema)
        if not reply.error:
            closes(number)
        return not reply.error

    return accepts


def _clients(registry: Registry, topics: list[TopicName], connect: Connect) -> dict[Kind, bool]:
    state = registry.observe(Scope(topics=frozenset(topics)))
    answers = {}
    for topic in topics:
        entries = stored_history(state.topics[topic].history).entries
        offers: list[tuple[int | None, StoredSchema | None]] = [*entries, (None, None)]
        for version, schema in offers:
            for role in ("consumer", "producer"):
                kind = topic, role, version
                answers[kind] = connect(kind, schema)
    return answers


def _named(text: str) -> set[tuple[str, str]]:
    """Topic and role of each lockout that a plan or a check reports."""
    findings = [
        member
        for finding in json.loads(text)["findings"]
        if finding["rule"] in RULES
        for member in finding["members"] or [finding]
    ]
    return {(one["subject"], one["message"].partition("s ")[0]) for one in findings}


def _silent_lockouts(
    seed: int,
    live: Live,
    root: Path,
    command: Command,
    connect: Callable[[Registry], Connect],
) -> set[tuple[str, str]]:
    """Topics and roles that an applied change locks out, and that its plan did not name."""
    change = RandomChange(seed, NamespaceName(live.tenant, f"orders-{seed}"))
    empty_for(root, live.registries)
    name, config = registry_config(open_repository(root).repository, "live")
    with closing(open_registry(name, config, root)) as registry:
        change.write_history(registry)
        change.write_files(root)
        before = _clients(registry, change.topics, connect(registry))

        change.change_files(root)
        if seed % 2:  # as somebody does who wants the change whatever is reported
            command("plan", "--repo", str(root), "--waivers", str(root / "waivers"))
            for file in root.glob("waivers/*.yaml"):
                text = file.read_text("utf-8").replace('reason: ""', "reason: agreed")
                file.write_text(text.replace('approvedBy: ""', "approvedBy: me"), "utf-8")
        code, text = command("plan", "--repo", str(root), "--format", "json")
        if code:
            return set()
        applied, _ = command("apply", "--repo", str(root), "--auto-approve")
        assert applied == 0
        after = _clients(registry, change.topics, connect(registry))

    locked_out = {
        (str(topic), role)
        for (topic, role, version), accepted in after.items()
        if not accepted and before.get((topic, role, version), True)
    }
    return locked_out - _named(text)


@pytest.mark.parametrize(
    "live", ["embedded", pytest.param("broker", marks=pytest.mark.broker)], indirect=True
)
@pytest.mark.parametrize("seed", SEEDS)
def test_nobody_is_locked_out_without_a_word(
    seed: int,
    live: Live,
    tmp_path: Path,
    command: Command,
    connect: Callable[[Registry], Connect],
) -> None:
    assert not _silent_lockouts(seed, live, tmp_path / "repo", command, connect)


@pytest.mark.parametrize("live", ["embedded"], indirect=True)
def test_without_these_findings_clients_are_locked_out_silently(
    live: Live,
    tmp_path: Path,
    command: Command,
    connect: Callable[[Registry], Connect],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The test above can fail: some of its changes do lock clients out."""
    monkeypatch.setattr("gitops.planning.plan.lockout_report", lambda *_: LockoutReport())

    assert any(
        _silent_lockouts(seed, live, tmp_path / f"repo-{seed}", command, connect)
        for seed in range(0, 40, 2)
    )
