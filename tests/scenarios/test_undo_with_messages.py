"""The schema of a topic that a change made is not deleted while a real broker has its messages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from gitops.model.names import TopicName
from gitops.ports import MessageStore
from gitops.registries.pulsar.registry import open_registry
from gitops.registries.pulsar.settings import PulsarConfig
from tests.scenarios.repositories import empty_for
from tests.support.admin_rest import admin_request
from tests.support.command_line import captured
from tests.support.git_repos import GitRepository

if TYPE_CHECKING:
    from pathlib import Path

    from gitops.model.names import NamespaceName
    from tests.support.pulsar_broker import RunningBroker

client_library = pytest.importorskip("pulsar")

pytestmark = pytest.mark.broker


@pytest.mark.parametrize("partitions", [0, 2])
def test_messages_are_found_read_or_not(
    partitions: int, pulsar: RunningBroker, pulsar_namespace: NamespaceName, tmp_path: Path
) -> None:
    registry = open_registry("test", PulsarConfig(url=pulsar.admin_url), tmp_path)
    assert isinstance(registry, MessageStore)
    topic = TopicName.of(pulsar_namespace, "paid")
    assert not registry.has_messages(topic)
    path = f"{pulsar.admin_url}/admin/v2/persistent/{topic}"
    if partitions:
        admin_request("PUT", f"{path}/partitions", partitions)
    else:
        admin_request("PUT", path)
    assert not registry.has_messages(topic)

    client = client_library.Client(pulsar.service_url)
    consumer = client.subscribe(str(topic), "billing")
    client.create_producer(str(topic)).send(b"one")
    consumer.acknowledge(consumer.receive(10_000))
    client.close()

    assert registry.has_messages(topic)
    registry.close()


@pytest.fixture
def repo(pulsar: RunningBroker, pulsar_namespace: NamespaceName, tmp_path: Path) -> GitRepository:
    """Its last commit made the topics `empty` and `used`, and is applied."""
    repo = GitRepository(empty_for(tmp_path / "repo", f"{{kind: pulsar, url: {pulsar.admin_url}}}"))
    folder, head = f"namespaces/{pulsar_namespace}", "apiVersion: pulsar-gitops/v1\nkind: "
    settings = (repo.root / "gitops.yaml").read_text("utf-8")
    repo.commit(
        {
            "gitops.yaml": f"{settings}safety: {{allowDeletions: true}}\n",
            f"{folder}/namespace.yaml": f"{head}Namespace\nnamespace: {pulsar_namespace}\n",
        }
    )
    manifest = f"{head}Topic\nschema: {{type: STRING}}\n"
    repo.commit({f"{folder}/{name}.yaml": manifest for name in ("empty", "used")})
    assert captured("apply", "--auto-approve", "--repo", repo.root).code == 0
    return repo


def _send(pulsar: RunningBroker, topic: str) -> None:
    client = client_library.Client(pulsar.service_url)
    client.create_producer(topic).send(b"one")
    client.close()


def test_a_topic_with_messages_keeps_its_schema(
    repo: GitRepository, pulsar: RunningBroker, pulsar_namespace: NamespaceName
) -> None:
    _send(pulsar, f"{pulsar_namespace}/used")

    done = captured("plan", "--undo", "HEAD", "--format", "json", "--repo", repo.root)

    plan = json.loads(done.out)
    assert [one["topic"] for one in plan["actions"]] == [f"{pulsar_namespace}/empty"]
    (kept,) = (one for one in plan["findings"] if one["rule"] == "PLAN-R017")
    assert kept["subject"] == f"{pulsar_namespace}/used"
    assert "the topic has messages" in kept["message"]


def test_messages_that_come_before_the_undo_is_applied_keep_their_schema(
    repo: GitRepository, pulsar: RunningBroker, pulsar_namespace: NamespaceName, tmp_path: Path
) -> None:
    root, plan, used = ("--repo", repo.root), tmp_path / "undo.json", f"{pulsar_namespace}/used"
    assert captured("plan", "--undo", "HEAD", "--out", plan, *root).code == 0
    _send(pulsar, used)

    done = captured("apply", plan, *root)

    assert done.code == 6
    assert "1 of 2 actions is done, then: " in done.err
    assert f"{used} got messages, which need its schema" in done.err.replace("\n", "")
    assert captured("schemas", "get", used, *root).code == 0
    assert captured("schemas", "get", f"{pulsar_namespace}/empty", *root).code != 0
    again = captured("plan", "--undo", "HEAD", "--format", "json", *root)
    assert json.loads(again.out)["actions"] == []
