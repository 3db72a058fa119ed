"""Real clients that connect after their record: plans and drift name them, and they are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.support.admin_rest import admin_request
from tests.support.command_line import Outcome, captured
from tests.support.git_repos import GitRepository
from tests.support.states import field, record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitops.model.names import NamespaceName
    from tests.support.pulsar_broker import RunningBroker

pulsar_library = pytest.importorskip("pulsar", reason="the extra 'pulsar' is not installed")
pytestmark = pytest.mark.broker

_HEAD: Final = "apiVersion: pulsar-gitops/v1\nkind: "
_VERSIONS: Final = [record(field("amount", kind), name="Paid") for kind in ("long", "string")]


@pytest.fixture
def client(pulsar: RunningBroker) -> Iterator[Any]:
    made = pulsar_library.Client(
        pulsar.service_url,
        operation_timeout_seconds=5,
        logger=pulsar_library.FileLogger(pulsar_library.LoggerLevel.Error, "/dev/null"),
    )
    yield made
    made.close()


@pytest.fixture
def repo(pulsar: RunningBroker, pulsar_namespace: NamespaceName, tmp_path: Path) -> GitRepository:
    """A topic with two versions that cannot read each other, and one without a schema."""
    admin = f"{pulsar.admin_url}/admin/v2"
    for topic in ("paid", "raw"):
        admin_request("PUT", f"{admin}/persistent/{pulsar_namespace}/{topic}")
        # Without a subscription a broker might delete the topic, and is not asked for its clients.
        admin_request("PUT", f"{admin}/persistent/{pulsar_namespace}/{topic}/subscription/kept")
    namespace = f"{admin}/namespaces/{pulsar_namespace}"
    admin_request("PUT", f"{namespace}/schemaCompatibilityStrategy", "ALWAYS_COMPATIBLE")
    for version in _VERSIONS:
        upload = {"type": "AVRO", "schema": json.dumps(version), "properties": {}}
        admin_request("POST", f"{admin}/schemas/{pulsar_namespace}/paid/schema", upload)
    made = GitRepository(tmp_path / "repo")
    registry = f"registries:\n  live: {{kind: pulsar, url: '{pulsar.admin_url}'}}\n"
    folder = f"namespaces/{pulsar_namespace}"
    made.commit(
        {
            "gitops.yaml": f"{_HEAD}Config\n{registry}safety: {{maxChangedShare: 1.0}}\n",
            f"{folder}/paid.yaml": f"{_HEAD}Topic\nschema: {{type: AVRO, definition: paid.avsc}}\n",
            f"{folder}/paid.avsc": json.dumps(_VERSIONS[-1]),
            **_namespace(pulsar_namespace, "ALWAYS_COMPATIBLE"),
        }
    )
    return made


def _namespace(name: NamespaceName, strategy: str, more: str = "") -> dict[str, str]:
    text = f"{_HEAD}Namespace\nnamespace: {name}\nschemaCompatibilityStrategy: {strategy}\n{more}"
    return {f"namespaces/{name}/namespace.yaml": text}


def _run(repo: GitRepository, *words: object) -> Outcome:
    return captured(*words, "--repo", repo.root)


def _text(outcome: Outcome) -> str:
    return " ".join(outcome.out.split())


def _subscribe(client: Any, topic: str, name: str, version: int) -> Any:  # noqa: ANN401 - untyped
    schema = pulsar_library.schema.AvroSchema(None, schema_definition=_VERSIONS[version])
    return client.subscribe(topic, name, schema=schema)


def test_a_consumer_that_connected_after_the_record_is_named_and_locked_out(
    repo: GitRepository,
    pulsar_namespace: NamespaceName,
    client: Any,  # noqa: ANN401 - untyped
) -> None:
    topic = f"persistent://{pulsar_namespace}/paid"
    billing = _subscribe(client, topic, "billing", 1)
    assert _run(repo, "snapshot", "--clients").code == 0
    assert _run(repo, "drift", "--clients").code == 0
    audit = _subscribe(client, topic, "audit", 0)

    drifted = _run(repo, "drift", "--clients")
    assert drifted.code == 3, drifted
    assert "new client of 1 topic" in drifted.out
    assert drifted.out.count("+ subscription 'audit' (Pulsar-CPP-v") == 1

    repo.write(_namespace(pulsar_namespace, "FULL"))
    planned = _run(repo, "plan")
    assert planned.code == 0
    assert "consumers with v0 can no longer connect" in _text(planned)
    assert (
        "3 observed subscriptions ('audit', 'billing' and 'kept') may be among them: which "
        "versions they use is not known" in _text(planned)
    )

    assert _run(repo, "apply", "--auto-approve").code == 0
    audit.close()
    billing.close()
    _subscribe(client, topic, "billing", 1)
    with pytest.raises(pulsar_library.IncompatibleSchema):
        _subscribe(client, topic, "audit", 0)


def test_a_connected_producer_without_a_schema_stops_the_first_version(
    repo: GitRepository,
    pulsar: RunningBroker,
    pulsar_namespace: NamespaceName,
    client: Any,  # noqa: ANN401 - untyped
) -> None:
    repo.write(_namespace(pulsar_namespace, "FULL", "schemaValidationEnforced: true\n"))
    assert _run(repo, "apply", "--auto-approve").code == 0
    folder = f"namespaces/{pulsar_namespace}"
    repo.write({f"{folder}/raw.yaml": f"{_HEAD}Topic\nschema: {{type: STRING}}\n"})
    before = _run(repo, "plan")
    topic = f"persistent://{pulsar_namespace}/raw"
    writer = client.create_producer(topic, producer_name="writer")

    planned = _run(repo, "plan")
    applied = _run(repo, "apply", "--auto-approve")

    assert (before.code, planned.code, applied.code) == (0, 1, 1)
    assert "PLAN-R021 error producers without a schema can no longer connect" in _text(planned)
    assert "1 observed producer ('writer') is among them" in _text(planned)
    upload = {"type": "STRING", "schema": "", "properties": {}}
    schemas = f"{pulsar.admin_url}/admin/v2/schemas/{pulsar_namespace}/raw/schema"
    admin_request("POST", schemas, upload)
    writer.close()
    with pytest.raises(pulsar_library.IncompatibleSchema):
        client.create_producer(topic, producer_name="writer")
