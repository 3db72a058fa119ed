"""Random changes on a real broker: real clients that are locked out are named by the reports.

`CONNECT_BROKER_RUNS=200` in the environment carries out so many changes, `CONNECT_SEED` others.
Before each look the namespace is unloaded, so that every client meets the policies as they are.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from gitops.broker.connection import Offer
from gitops.cli.app import run
from gitops.model.decision import StoredSchema
from gitops.model.names import NamespaceName
from gitops.registries.pulsar.registry import open_registry
from gitops.registries.pulsar.settings import PulsarConfig
from tests.support.admin_rest import admin_request
from tests.support.connecting_clients import Client, Command, RandomRegistry, carry_out, unreported
from tests.support.git_repos import GitRepository
from tests.support.pulsar_broker import RunningBroker

pytestmark = pytest.mark.broker

_RUNS: Final = int(os.environ.get("CONNECT_BROKER_RUNS", "6"))
_SEED: Final = int(os.environ.get("CONNECT_SEED", "1"))
_SECONDS: Final = 5
_Client = Any  # pulsar-client has no types
_Schema = Any


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command line; answers its exit code and what it printed to stdout."""

    def call(*args: str) -> tuple[int, str]:
        capsys.readouterr()
        code = run(list(args))
        return code, capsys.readouterr().out

    return call


@pytest.fixture
def client(pulsar: RunningBroker) -> Iterator[_Client]:
    pulsar_client = pytest.importorskip("pulsar", reason="the extra 'pulsar' is not installed")
    if not pulsar.service_url:
        pytest.skip("PULSAR_SERVICE_URL does not say where the broker's own protocol listens")
    client = pulsar_client.Client(
        pulsar.service_url,
        operation_timeout_seconds=_SECONDS,
        logger=pulsar_client.ConsoleLogger(pulsar_client.LoggerLevel.Error),
    )
    yield client
    client.close()


def _raw(offer: Offer) -> _Schema:
    """A schema of the Python client with exactly this text."""
    import _pulsar
    import pulsar

    class Raw(pulsar.schema.Schema):  # type: ignore[misc]  # as above
        def __init__(self, kind: str, text: str) -> None:
            self._schema_info = _pulsar.SchemaInfo(_pulsar.SchemaType.__members__[kind], "s", text)

    return (
        Raw(offer.type.value, offer.data.decode())
        if isinstance(offer, StoredSchema)
        else Raw("BYTES", "")
    )


def _connects(connect: Callable[[], Any]) -> bool:
    import pulsar

    try:
        connect().close()
    except pulsar.PulsarException:
        return False
    return True


def _connecting(client: _Client, clients: dict[Client, Offer]) -> set[Client]:
    """Those of the clients that a broker lets in."""
    found = set()
    for (topic, role, name), offer in clients.items():
        schema = _raw(offer)
        if role == "consumer":
            connected = _connects(lambda: client.subscribe(topic, "s", schema=schema))  # noqa: B023
        else:
            connected = _connects(lambda: client.create_producer(topic, schema=schema))  # noqa: B023
        if connected:
            found.add((topic, role, name))
    return found


def _change(
    seed: int,
    folder: Path,
    pulsar: RunningBroker,
    client: _Client,
    command: Command,
) -> tuple[set[Client], list[tuple[str, Client]]] | None:
    """The real clients that a random change locks out; None if it was not applied."""
    random = Random(seed)  # noqa: S311 - a test that can be repeated
    space = NamespaceName(f"t-{uuid.uuid4().hex[:10]}", "clients")
    admin = f"{pulsar.admin_url}/admin/v2"
    tenant = {"adminRoles": [], "allowedClusters": ["standalone"]}
    admin_request("PUT", f"{admin}/tenants/{space.tenant}", tenant)
    admin_request("PUT", f"{admin}/namespaces/{space}")
    settings = (
        "apiVersion: pulsar-gitops/v1\nkind: Config\n"
        f"registries:\n  live: {{kind: pulsar, url: '{pulsar.admin_url}'}}\n"
        "safety: {maxChangedShare: 1.0}\n"
    )
    registry = open_registry("live", PulsarConfig(url=pulsar.admin_url), folder)
    try:
        world = RandomRegistry(random, space, GitRepository(folder), registry, settings)
        world.fill()
        world.change()
        candidates = {
            each: offer
            for each, offer in world.connecting().items()
            if not each[2].startswith("AUTO")
        }
        admin_request("PUT", f"{admin}/namespaces/{space}/unload")
        before = _connecting(client, candidates)
        assert before == candidates.keys(), "the broker's rules are others"
        applied = carry_out(world, command, approve=random.random() < 0.7)
        if applied is None:
            return None
        admin_request("PUT", f"{admin}/namespaces/{space}/unload")
        after = _connecting(client, candidates)
        assert after == before & world.connecting().keys(), "the broker's rules are others"
    finally:
        registry.close()
    return before - after, unreported(before - after, applied)


@pytest.mark.timeout(max(600, 60 * _RUNS))
def test_real_clients_that_are_locked_out_are_named(
    tmp_path: Path,
    pulsar: RunningBroker,
    client: _Client,
    command: Command,
) -> None:
    done, seed, locked_out = 0, _SEED, 0
    while done < _RUNS and seed < _SEED + 10 * _RUNS:
        outcome = _change(seed, tmp_path / str(seed), pulsar, client, command)
        if outcome is not None:
            done += 1
            lost, silent = outcome
            locked_out += bool(lost)
            assert silent == [], f"CONNECT_SEED={seed}"
        seed += 1

    assert done == _RUNS
    assert locked_out >= max(1, _RUNS // 10)  # else the changes are too harmless to show anything
