"""A broker that has lost its schemas: restored, clients read the messages from before."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from gitops.model.names import NamespaceName, TopicName
from tests.support.admin_rest import admin_request
from tests.support.capture_topics import keep_messages
from tests.support.command_line import captured
from tests.support.java_program import JavaProgram
from tests.support.publications import allow_all_schemas, send_mixed
from tests.support.pulsar_broker import (
    BrokerSettings,
    BrokerUnavailableError,
    RunningBroker,
    pulsar_broker,
)
from tests.support.pulsar_class_path import class_path, find_java

client_library = pytest.importorskip("pulsar")

pytestmark = [pytest.mark.broker, pytest.mark.slow]

READER: Final = Path(__file__).parent / "java/MessageScenario.java"
MESSAGES: Final = 84


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> JavaProgram:
    """Reads with AUTO_CONSUME; skips where there is no Java or no Maven."""
    try:
        return JavaProgram(READER, tmp_path_factory.mktemp("classes"))
    except BrokerUnavailableError as error:
        pytest.skip(str(error))


def a_repository(root: Path, pulsar: RunningBroker, namespace: NamespaceName) -> None:
    """A registry `live`, and one to rehearse with."""
    live = f"  live: {{kind: pulsar, url: '{pulsar.admin_url}'}}\n"
    rehearsal = "  rehearsal: {kind: embedded, path: rehearsal.db}\n"
    head = "apiVersion: pulsar-gitops/v1\nkind: Config\ndefaultRegistry: live\nregistries:\n"
    (root / "gitops.yaml").write_text(head + live + rehearsal)
    folder = root / "namespaces" / str(namespace)
    folder.mkdir(parents=True)
    text = f"apiVersion: pulsar-gitops/v1\nkind: Namespace\nnamespace: {namespace}\n"
    (folder / "namespace.yaml").write_text(text)


def a_topic(pulsar: RunningBroker, topic: TopicName) -> None:
    """Messages of seven kinds of schema, whose numbers begin behind a deletion."""
    admin = f"{pulsar.admin_url}/admin/v2"
    keep_messages(pulsar, topic.namespace)
    allow_all_schemas(pulsar, topic.namespace)
    admin_request("DELETE", f"{admin}/schemas/{topic}/schema")
    send_mixed(pulsar, topic, MESSAGES)
    strategy = f"{admin}/namespaces/{topic.namespace}/schemaCompatibilityStrategy"
    admin_request("PUT", strategy, "FULL_TRANSITIVE")


def lose(broker: RunningBroker, path: str) -> None:
    """Remove a path of the broker's metadata, with all below it."""
    command = ["org.apache.zookeeper.ZooKeeperMain", "-server", broker.zookeeper, "deleteall", path]
    environment = {**os.environ, "CLASSPATH": class_path()}
    subprocess.run(
        [find_java(), *command], env=environment, check=True, capture_output=True, timeout=120
    )


def schema_ledgers(broker: RunningBroker, topic: TopicName) -> set[int]:
    """Where the broker keeps the versions of a topic."""
    url = f"{broker.admin_url}/admin/v2/schemas/{topic}/metadata"
    return {one["ledgerId"] for one in json.loads(admin_request("GET", url))["index"]}


def recorded(root: Path) -> dict[str, str]:
    """The files of a new snapshot, without the times of the versions and of the snapshot."""
    ran = captured("snapshot", "--repo", root)
    assert ran.code == 0, ran.err
    files = sorted((root / "snapshots").glob("**/*.json"))
    times = re.compile(r'"timestamp": \d+|"recorded": "[^"]+"')
    return {str(one): times.sub("", one.read_text()) for one in files}


def test_messages_from_before_the_loss_decode_after_a_restore(
    pulsar: RunningBroker, pulsar_namespace: NamespaceName, program: JavaProgram, tmp_path: Path
) -> None:
    topic = TopicName(pulsar_namespace, "mixed")
    a_repository(tmp_path, pulsar, pulsar_namespace)
    a_topic(pulsar, topic)
    before = read(program, pulsar, topic)
    files = recorded(tmp_path)
    schemas = f"{pulsar.admin_url}/admin/v2/schemas/{topic}"
    admin_request("DELETE", f"{schemas}/schema?force=true")
    assert json.loads(admin_request("GET", f"{schemas}/schemas")) == {"getSchemaResponses": []}

    rehearsed = captured("restore", "--into", "rehearsal", "--repo", tmp_path)
    assert rehearsed.code == 0, rehearsed.err
    ran = captured("restore", "--repo", tmp_path)

    assert ran.code == 0, ran.err
    assert "v1 to v6 after 1 deletion in place of v0" in ran.out
    assert read(program, pulsar, topic) == before
    assert {line.split("|")[0] for line in before} >= {"1", "2", "3", "4", "5", "6"}
    assert recorded(tmp_path) == files


def test_a_broker_that_has_lost_metadata_and_ledgers_of_schemas(
    program: JavaProgram, tmp_path: Path
) -> None:
    """The paths of one topic's schemas are gone, of another's the ledgers that have them."""
    namespace = NamespaceName("public", "default")
    path, ledgers = TopicName(namespace, "path"), TopicName(namespace, "ledgers")
    disk, root = tmp_path / "disk", tmp_path / "schemas"
    disk.mkdir()
    root.mkdir()
    try:
        with pulsar_broker(BrokerSettings(data=disk)) as broker:
            a_repository(root, broker, namespace)
            for topic in (path, ledgers):
                a_topic(broker, topic)
            before = {one: read(program, broker, one) for one in (path, ledgers)}
            files = recorded(root)
            for number in schema_ledgers(broker, ledgers):
                lose(broker, f"/ledgers/00/0000/L{number:04}")
            lose(broker, f"/schemas/{path}")
        with pulsar_broker(BrokerSettings(data=disk)) as broker:
            config = root / "gitops.yaml"
            config.write_text(re.sub(r"http://[^']+", broker.admin_url, config.read_text()))
            for topic in (path, ledgers):
                url = f"{broker.admin_url}/admin/v2/schemas/{topic}/schemas"
                assert json.loads(admin_request("GET", url)) == {"getSchemaResponses": []}
            ran = captured("restore", "--repo", root)
            assert ran.code == 0, ran.err
            assert {one: read(program, broker, one) for one in (path, ledgers)} == before
            assert recorded(root) == files
    except BrokerUnavailableError as reason:
        pytest.skip(f"no Pulsar broker: {reason}")


def read(program: JavaProgram, broker: RunningBroker, topic: TopicName) -> list[str]:
    """What AUTO_CONSUME reads of a topic."""
    return program.run(broker.service_url, f"persistent://{topic}", str(MESSAGES))


def test_other_partitions_than_the_snapshot_has_are_named(
    pulsar: RunningBroker, pulsar_namespace: NamespaceName, tmp_path: Path
) -> None:
    topic = TopicName(pulsar_namespace, "parted")
    url = f"{pulsar.admin_url}/admin/v2/persistent/{topic}/partitions"
    a_repository(tmp_path, pulsar, pulsar_namespace)
    admin_request("PUT", url, 2)
    schema = {"type": "STRING", "schema": "", "properties": {}}
    admin_request("POST", f"{pulsar.admin_url}/admin/v2/schemas/{topic}/schema", schema)
    recorded(tmp_path)
    file = tmp_path / "snapshots" / "live" / str(pulsar_namespace) / "parted.json"
    file.write_text(file.read_text().replace('"partitions": 2', '"partitions": 4'))

    ran = captured("restore", "--repo", tmp_path)

    assert ran.code == 0
    said = " ".join(ran.out.split())
    assert f"left: {topic} has 2 partitions in the registry, 4 partitions in the snapshot" in said
    (command,) = re.findall(r"add them: pulsar-admin topics (update-partitioned-topic .*)", said)
    assert command == f"update-partitioned-topic {topic} --partitions 4"
    admin_request("POST", url, 4)
    assert "left:" not in captured("restore", "--repo", tmp_path).out


def test_versions_that_only_a_journal_has_decode_messages_as_before(
    pulsar: RunningBroker, pulsar_namespace: NamespaceName, program: JavaProgram, tmp_path: Path
) -> None:
    """The schema is deleted with a tombstone, then with its numbers; nobody took a snapshot."""
    topic = TopicName(pulsar_namespace, "measured")
    a_repository(tmp_path, pulsar, pulsar_namespace)
    keep_messages(pulsar, pulsar_namespace)
    allow_all_schemas(pulsar, pulsar_namespace)
    admin_request("PUT", f"{pulsar.admin_url}/admin/v2/persistent/{topic}")
    definitions: list[dict[str, Any]] = [
        {"type": "record", "name": "M", "fields": [{"name": "speed", "type": "long"}]},
        {"type": "record", "name": "M", "fields": [{"name": "depth", "type": "long"}]},
    ]
    client = client_library.Client(pulsar.service_url)
    for number in range(MESSAGES):
        definition = definitions[number * len(definitions) // MESSAGES]
        if number % (MESSAGES // len(definitions)) == 0:
            define(tmp_path, topic, definition)
            applied = captured("apply", "--auto-approve", "--repo", tmp_path)
            assert applied.code == 0, applied.err
            schema = client_library.schema.AvroSchema(None, schema_definition=definition)
            producer = client.create_producer(f"persistent://{topic}", schema=schema)
        (name,) = (each["name"] for each in definition["fields"])
        producer.send({name: number})
    client.close()
    before = read(program, pulsar, topic)
    define(tmp_path, TopicName(pulsar_namespace, "unrelated"), definitions[0])

    schemas = f"{pulsar.admin_url}/admin/v2/schemas/{topic}"
    admin_request("DELETE", f"{schemas}/schema")
    hidden = plan_document(tmp_path)
    drifted = json.loads(captured("drift", "--format", "json", "--repo", tmp_path).out)
    refused = captured("restore", "--dry-run", "--repo", tmp_path)
    admin_request("DELETE", f"{schemas}/schema?force=true")
    lost = captured("plan", "--repo", tmp_path)
    applied = captured("apply", "--auto-approve", "--repo", tmp_path)
    ran = captured("restore", "--repo", tmp_path)

    (registration,) = (one for one in hidden["actions"] if one.get("topic") == str(topic))
    (deletion,) = (one for one in drifted["registries"][0]["drifts"] if "nextVersion" in one)
    assert (registration["version"], deletion["nextVersion"]) == (3, 3)
    assert refused.code == 1
    assert f"schemas delete --force {topic}" in " ".join(refused.out.split())
    assert (lost.code, applied.code) == (1, 1)
    assert ran.code == 0, ran.err
    assert len(before) == MESSAGES
    assert read(program, pulsar, topic) == before
    assert captured("plan", "--repo", tmp_path).code == 0


def plan_document(root: Path) -> dict[str, Any]:
    ran = captured("plan", "--format", "json", "--repo", root)
    assert ran.code == 0, ran.err
    document: dict[str, Any] = json.loads(ran.out)
    return document


def define(root: Path, topic: TopicName, definition: dict[str, Any]) -> None:
    """Write the topic's manifest."""
    manifest = {
        "apiVersion": "pulsar-gitops/v1",
        "kind": "Topic",
        "schema": {"type": "AVRO", "definition": definition},
    }
    file = root / "namespaces" / str(topic.namespace) / f"{topic.local_name}.yaml"
    file.write_text(json.dumps(manifest), "utf-8")
