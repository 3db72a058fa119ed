"""The schema of a topic that a change made is not deleted while a real broker has its messages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from gitops.model.names import TopicName
from gitops.registries.pulsar.message_service import messages_of
from gitops.registries.pulsar.registry import PulsarRegistry, open_registry
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
    assert isinstance(registry, PulsarRegistry)
    topic = TopicName.of(pulsar_namespace, "paid")
    messages = messages_of(registry, tmp_path, None)
    assert not messages.has_any(topic)
    path = f"{pulsar.admin_url}/admin/v2/persistent/{topic}"
    if partitions:
        admin_request("PUT", f"{path}/partitions", partitions)
    else:
        admin_request("PUT", path)
    assert not messages.has_any(topic)

    client = client_library.Client(pulsar.service_url)
    consumer = client.subscribe(str(topic), "billing")
    client.create_producer(str(topic)).send(b"one")
    consumer.acknowledge(consumer.receive(10_000))
    client.close()

    assert messages.has_any(topic)
    registry.close()


def test_a_topic_with_messages_keeps_its_schema(
    pulsar: RunningBroker, pulsar_namespace: NamespaceName, tmp_path: Path
) -> None:
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
    root = ("--repo", str(repo.root))
    assert captured("apply", "--auto-approve", *root).code == 0
    client = client_library.Client(pulsar.service_url)
    client.create_producer(f"{pulsar_namespace}/used").send(b"one")
    client.close()

    done = captured("plan", "--undo", "HEAD", "--format", "json", *root)

    plan = json.loads(done.out)
    assert [one["topic"] for one in plan["actions"]] == [f"{pulsar_namespace}/empty"]
    (kept,) = (one for one in plan["findings"] if one["rule"] == "PLAN-R017")
    assert kept["subject"] == f"{pulsar_namespace}/used"
    assert "the topic has messages" in kept["message"]
