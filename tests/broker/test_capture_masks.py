"""Fields that a manifest names as sensitive are in no file of a capture."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from gitops.model.names import NamespaceName, TopicName
from tests.support.capture_topics import keep_messages, manifest_of, pulsar_client, rows_of
from tests.support.command_line import Outcome, captured
from tests.support.pulsar_broker import RunningBroker

pulsar_library = pytest.importorskip("pulsar", reason="the extra 'pulsar' is not installed")
pytestmark = pytest.mark.broker

PulsarClient = Any
"""The library has no types."""

CANARY: Final = b"canary-7f3a9c"
SCHEMA: Final = pulsar_library.schema
CONFIG: Final = """\
apiVersion: pulsar-gitops/v1
kind: Config
registries:
  cluster: {{kind: pulsar, url: "{url}"}}
defaultRegistry: cluster
"""


@pytest.fixture
def client(pulsar: RunningBroker, pulsar_namespace: NamespaceName) -> Iterator[PulsarClient]:
    if not pulsar.service_url:
        pytest.skip("PULSAR_SERVICE_URL does not say where the broker's own protocol listens")
    keep_messages(pulsar, pulsar_namespace)
    with pulsar_client(pulsar) as client:
        yield client


def repository(pulsar: RunningBroker, root: Path, topic: TopicName, sensitive: str) -> Path:
    """With a manifest of the topic, which names the capture that is made as its sample."""
    folder = root / "namespaces" / str(topic.namespace)
    folder.mkdir(parents=True)
    (root / "gitops.yaml").write_text(CONFIG.format(url=pulsar.admin_url))
    (folder / "namespace.yaml").write_text(
        f"apiVersion: pulsar-gitops/v1\nkind: Namespace\nnamespace: {topic.namespace}\n"
    )
    (folder / f"{topic.local_name}.yaml").write_text(
        "apiVersion: pulsar-gitops/v1\nkind: Topic\n"
        f"samples: [{{format: capture, path: ../../../cap, sensitive: [{sensitive}]}}]\n"
    )
    return root


def record(name: str = "Order") -> Any:  # noqa: ANN401 - as above
    fields = {"id": SCHEMA.String(), "email": SCHEMA.String(), "n": SCHEMA.Integer()}
    return type(name, (SCHEMA.Record,), fields)


def capture(repo: Path, topic: TopicName, out: Path, *more: object) -> Outcome:
    return captured("capture", topic, "--out", out, "--repo", repo, *more)


@pytest.mark.parametrize("schema", [SCHEMA.AvroSchema, SCHEMA.JsonSchema], ids=["AVRO", "JSON"])
@pytest.mark.parametrize("how", ["redact", "hash"])
def test_a_sensitive_field_is_in_no_file(  # noqa: PLR0917, PLR0913 - fixtures
    pulsar: RunningBroker,
    client: PulsarClient,
    pulsar_namespace: NamespaceName,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    schema: Any,  # noqa: ANN401 - as above
    how: str,
) -> None:
    topic, order = TopicName(pulsar_namespace, "orders"), record()
    producer = client.create_producer(f"persistent://{topic}", schema=schema(order))
    for number in range(20):
        email = f"{CANARY.decode()}-{number % 2}"
        producer.send_async(order(id=f"id-{number}", email=email, n=number), None)
    producer.flush()
    bare = client.create_producer(f"persistent://{topic}")  # of no version
    bare.send(CANARY)
    key = "a secret of the mask, 32 letters"
    monkeypatch.setenv("PULSAR_GITOPS_MASK_KEY", key)
    repo = repository(pulsar, tmp_path / "repo", topic, "email")
    ran = capture(repo, topic, tmp_path / "cap", "--mask", how)
    assert ran.code == 0, ran.err
    rows = rows_of(tmp_path / "cap", topic)
    assert [f"id-{number}".encode() in row["payload"] for number, row in enumerate(rows)] == [
        True
    ] * 20
    assert manifest_of(tmp_path / "cap", topic).partitions[0].left_out == {
        "without a known schema version": 1
    }
    assert "left out: 1 message without a known schema version" in ran.err
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    for secret in (CANARY, key.encode()):
        assert secret not in written
        assert all(secret not in (row["payload"] or b"") for row in rows)
        assert secret.decode() not in f"{ran.out}{ran.err}"
    _reads_again(repo, tmp_path / "cap")


def _reads_again(repo: Path, out: Path) -> None:
    """What was masked can be read with the schema as before."""
    ran = captured(
        "replay", "--repo", repo, "--capture", out, "--engine", "local", "--format", "json"
    )
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["rows"] == 20


def test_a_topic_that_cannot_be_masked_is_not_captured(
    pulsar: RunningBroker, client: PulsarClient, pulsar_namespace: NamespaceName, tmp_path: Path
) -> None:
    topic = TopicName(pulsar_namespace, "texts")
    producer = client.create_producer(f"persistent://{topic}", schema=SCHEMA.StringSchema())
    producer.send(CANARY.decode())
    repo = repository(pulsar, tmp_path / "repo", topic, "email")
    for more in ((), ("--url", pulsar.admin_url)):  # manifests count for any cluster
        ran = capture(repo, topic, tmp_path / "cap", *more)
        assert ran.code == 2
        assert f"the sensitive fields of {topic} cannot be masked: v0 is STRING" in ran.err
    assert not (tmp_path / "cap").exists()
