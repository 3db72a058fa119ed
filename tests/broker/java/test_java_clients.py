"""Pulsar's own Java client ends where we say: what AUTO_PRODUCE, AUTO_CONSUME and BYTES send."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from gitops.broker.connection import Admission, ConnectionPolicies, ConnectionTarget, Offer
from gitops.broker.consumer_connection import admit_consumer
from gitops.broker.lines.pulsar_4_0 import PULSAR_4_0
from gitops.broker.producer_connection import admit_producer, admit_schemas
from gitops.model.decision import StoredHistory, StoredSchema
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.registries.pulsar.registry import open_registry
from gitops.registries.pulsar.settings import PulsarConfig
from gitops.schemas.payload import to_info, to_stored, to_stored_type
from tests.support.admin_rest import admin_request
from tests.support.client_schemas import AVRO_CHANGES, record
from tests.support.pulsar_broker import RunningBroker
from tests.support.pulsar_class_path import class_path, find_java

pytestmark = pytest.mark.broker

SOURCE: Final = Path(__file__).with_name("ClientScenario.java")
RUN_SECONDS: Final = 120
FIRST, SECOND, BREAKING = (record(AVRO_CHANGES[n]) for n in ("known", "both ways", "neither"))
HISTORIES: Final[dict[str, StoredSchema | None]] = {
    "nothing": None,
    "avro": to_stored(SchemaInfo(type=SchemaType.AVRO, schema=FIRST)),
    "string-null": to_stored(SchemaInfo(type=SchemaType.STRING, schema="null")),
    "bytes": to_stored(SchemaInfo(type=SchemaType.BYTES)),
    "json-text": to_stored(SchemaInfo(type=SchemaType.JSON, schema='"string"')),
    "avro-array": to_stored(
        SchemaInfo(type=SchemaType.AVRO, schema='{"type": "array", "items": "int"}')
    ),
}
HISTORIES.update(
    {
        name: to_stored(
            SchemaInfo(
                type=SchemaType.KEY_VALUE,
                schema=json.dumps({"key": json.loads(key), "value": json.loads(value)}),
                properties={"key.schema.type": kinds[0], "value.schema.type": kinds[1], **more},
            )
        )
        for name, kinds, key, value, more in (
            ("kv-records", ("AVRO", "JSON"), FIRST, FIRST, {}),
            ("kv-separated", ("AVRO", "JSON"), FIRST, FIRST, {"kv.encoding.type": "SEPARATED"}),
            ("kv-plain", ("STRING", "INT32"), '""', '""', {}),
            ("kv-avro-text-key", ("AVRO", "AVRO"), '"string"', FIRST, {}),
            ("kv-json-array", ("STRING", "JSON"), '""', '{"type": "array", "items": "int"}', {}),
            ("kv-protobuf", ("STRING", "PROTOBUF"), '""', FIRST, {}),
        )
    }
)
INT32: Final = StoredSchema(type=SchemaType.INT32, data=b"")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory, pulsar: RunningBroker) -> dict[str, str]:
    """Where `java ClientScenario` runs; skips where it cannot."""
    javac = shutil.which("javac")
    if javac is None:
        pytest.skip("no javac on the PATH (a JDK of version 17 or later has it)")
    if not pulsar.service_url:
        pytest.skip("PULSAR_SERVICE_URL does not say where the broker's own protocol listens")
    classes = tmp_path_factory.mktemp("classes")
    environment = {**os.environ, "CLASSPATH": f"{classes}{os.pathsep}{class_path()}"}
    command = [javac, "-proc:none", "-nowarn", "-d", str(classes), str(SOURCE)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return environment


@pytest.mark.parametrize("free", [True, False], ids=["update", "enforced"])
def test_the_java_client_ends_where_we_say(
    environment: dict[str, str], pulsar: RunningBroker, *, free: bool
) -> None:
    policies = ConnectionPolicies(
        strategy=Strategy.FULL, allows_auto_update=free, enforces_validation=not free
    )
    namespace = NamespaceName(f"t-{uuid.uuid4().hex[:10]}", "clients")
    prepare(pulsar, namespace, policies)
    command = [find_java(), "-Xmx256m", "ClientScenario", pulsar.service_url]
    done = subprocess.run(
        [*command, f"persistent://{namespace}", FIRST, SECOND, BREAKING],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=RUN_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    lines = [line[2:] for line in done.stdout.splitlines() if line.startswith("> ")]
    assert dict(line.split(": ", 1) for line in lines) == expected(policies)


def prepare(pulsar: RunningBroker, namespace: NamespaceName, policies: ConnectionPolicies) -> None:
    """A namespace of these policies, and the topics' histories."""
    url = f"{pulsar.admin_url}/admin/v2"
    body: dict[str, object] = {"adminRoles": [], "allowedClusters": ["standalone"]}
    admin_request("PUT", f"{url}/tenants/{namespace.tenant}", body)
    body = {
        "schema_compatibility_strategy": policies.strategy.value,
        "is_allow_auto_update_schema": policies.allows_auto_update,
        "schema_validation_enforced": policies.enforces_validation,
    }
    admin_request("PUT", f"{url}/namespaces/{namespace}", body)
    registry = open_registry("test", PulsarConfig(url=pulsar.admin_url), Path())
    for name, schema in HISTORIES.items():
        if schema is not None:
            registry.register_schema(TopicName(namespace, name), to_info(schema))
    registry.close()


def expected(policies: ConnectionPolicies) -> dict[str, str]:
    """What we say of every step of the scenario."""
    ends = {"auto-consume as a producer": "InvalidConfigurationException"}
    for name, schema in HISTORIES.items():
        place = place_of(schema, policies)
        ends[f"auto-produce on {name}"] = end(admit_producer(place, "AUTO_PRODUCE"))
        ends[f"bytes on {name}"] = end(admit_producer(place, "NONE"))
        ends[f"auto-consume on {name}"] = end(admit_consumer(place, "AUTO_CONSUME"))
        ends[f"bytes from {name}"] = end(admit_consumer(place, "NONE"))
    ends["auto-produce sends a value to kv-separated"] = "let in"
    nothing, avro = place_of(None, policies), place_of(HISTORIES["avro"], policies)
    ends["int32 on int32"] = end(admit_producer(nothing, INT32))
    ends["int32 on avro"] = end(admit_producer(avro, INT32))
    ends["avro on avro"] = end(admit_producer(avro, avro_of(FIRST)))
    offers: list[Offer] = [avro_of(each) for each in (FIRST, SECOND, BREAKING, SECOND)]
    names = ("further on several", "second message", "breaking message", "second message again")
    ends.update(zip(names, map(end, admit_schemas(nothing, offers)), strict=False))
    return ends


def place_of(schema: StoredSchema | None, policies: ConnectionPolicies) -> ConnectionTarget:
    history = StoredHistory()
    if schema is not None:
        history = replace(history, entries=((0, to_stored_type(schema)),), next_version=1)
    return ConnectionTarget(history=history, policies=policies, use="idle", line=PULSAR_4_0)


def avro_of(text: str) -> StoredSchema:
    return to_stored(SchemaInfo(type=SchemaType.AVRO, schema=text))


def end(admission: Admission) -> str:
    if admission.error == "ClientFailure":
        return "PulsarClientException"  # of the client itself, which the broker never sees
    return "let in" if admission.accepted else f"{admission.error}Exception"
