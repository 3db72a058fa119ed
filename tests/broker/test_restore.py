"""A broker that has lost its schemas: restored, clients read the messages from before."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

import pytest

from gitops.model.names import NamespaceName, TopicName
from tests.support.admin_rest import admin_request
from tests.support.capture_topics import keep_messages
from tests.support.command_line import captured
from tests.support.java_program import JavaProgram
from tests.support.publications import allow_all_schemas, send_mixed
from tests.support.pulsar_broker import BrokerUnavailableError, RunningBroker

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


def recorded(root: Path) -> dict[str, str]:
    """The files of a new snapshot, without the times of the versions."""
    ran = captured("snapshot", "--repo", root)
    assert ran.code == 0, ran.err
    files = sorted((root / "snapshots").glob("**/*.json"))
    return {str(one): re.sub(r'"timestamp": \d+', "", one.read_text()) for one in files}


def test_messages_from_before_the_loss_decode_after_a_restore(
    pulsar: RunningBroker, pulsar_namespace: NamespaceName, program: JavaProgram, tmp_path: Path
) -> None:
    topic = TopicName(pulsar_namespace, "mixed")
    a_repository(tmp_path, pulsar, pulsar_namespace)
    a_topic(pulsar, topic)
    reading = (pulsar.service_url, f"persistent://{topic}", str(MESSAGES))
    before = program.run(*reading)
    files = recorded(tmp_path)
    schemas = f"{pulsar.admin_url}/admin/v2/schemas/{topic}"
    admin_request("DELETE", f"{schemas}/schema?force=true")
    assert json.loads(admin_request("GET", f"{schemas}/schemas")) == {"getSchemaResponses": []}

    rehearsed = captured("restore", "--into", "rehearsal", "--repo", tmp_path)
    assert rehearsed.code == 0, rehearsed.err
    ran = captured("restore", "--repo", tmp_path)

    assert ran.code == 0, ran.err
    assert "v1 to v6 after 1 deletion in place of v0" in ran.out
    assert program.run(*reading) == before
    assert {line.split("|")[0] for line in before} >= {"1", "2", "3", "4", "5", "6"}
    assert recorded(tmp_path) == files
