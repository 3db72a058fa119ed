"""A topic that a broker cannot show: audit and plan say so, and go on with the others.

4.2.4 stores schemas of the type EXTERNAL, also as a half of a KEY_VALUE, and 4.0.7 opens its disk.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.error import HTTPError

import pytest

from gitops.cli.app import run
from gitops.model import policy as model_policy
from gitops.model.names import NamespaceName, TopicName
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.pulsar.registry import open_registry
from gitops.registries.pulsar.settings import PulsarConfig
from gitops.registries.server.server import serve_in_thread
from tests.broker.rest_requests import compared
from tests.support.admin_rest import admin_request
from tests.support.pulsar_broker import (
    BrokerSettings,
    BrokerUnavailableError,
    RunningBroker,
    pulsar_broker,
)

pytestmark = [pytest.mark.broker, pytest.mark.slow]

SHOP = NamespaceName("downgraded", "shop")
GOOD, BROKEN = TopicName.of(SHOP, "good"), TopicName.of(SHOP, "broken")
STRING = SchemaInfo(type=SchemaType.STRING)
HALF_EXTERNAL = SchemaInfo(
    type=SchemaType.KEY_VALUE,
    schema='{"key":"","value":"x"}',
    properties={
        "key.schema.name": "k",
        "key.schema.type": "STRING",
        "key.schema.properties": "{}",
        "value.schema.name": "v",
        "value.schema.type": "EXTERNAL",
        "value.schema.properties": "{}",
        "kv.encoding.type": "INLINE",
    },
)
INT_FIELD = '{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}'
AVRO = SchemaInfo(type=SchemaType.AVRO, schema=INT_FIELD)
EXTERNAL = SchemaInfo(type=SchemaType.EXTERNAL, schema="x")
MIXED = NamespaceName("downgraded", "mixed")
HISTORIES: dict[str, list[SchemaInfo | None]] = {
    "external": [EXTERNAL],
    "before": [EXTERNAL, AVRO],
    "after": [AVRO, EXTERNAL],
    "deleted": [EXTERNAL, None],
    "renewed": [EXTERNAL, None, STRING],
    "half": [HALF_EXTERNAL],
    "half-before": [HALF_EXTERNAL, AVRO],
    "half-after": [AVRO, HALF_EXTERNAL],
}
"""What is registered one after the other under ALWAYS_COMPATIBLE; None deletes."""
MANIFEST = "apiVersion: pulsar-gitops/v1\nkind: Topic\nschema: {type: STRING}\n"


@pytest.fixture(scope="module")
def downgraded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """4.0.7 on a disk on which 4.2.4 has stored a schema that 4.0.7 does not know."""
    disk = tmp_path_factory.mktemp("disk")
    try:
        with pulsar_broker(BrokerSettings(release="4.2.4", data=disk)) as newer:
            fill(newer)
            fill_mixed(newer.admin_url)
        with pulsar_broker(BrokerSettings(data=disk)) as older:
            yield older
    except BrokerUnavailableError as reason:
        pytest.skip(f"no Pulsar broker: {reason}")


def fill(broker: RunningBroker) -> None:
    """Two topics, one of which an older broker cannot show."""
    admin = f"{broker.admin_url}/admin/v2"
    tenant = {"adminRoles": [], "allowedClusters": ["standalone"]}
    admin_request("PUT", f"{admin}/tenants/{SHOP.tenant}", tenant)
    admin_request("PUT", f"{admin}/namespaces/{SHOP}", {})
    for topic in (GOOD, BROKEN):
        admin_request("PUT", f"{admin}/persistent/{SHOP}/{topic.local_name}")
    config = PulsarConfig(url=broker.admin_url)
    with closing(open_registry("newer", config, Path())) as registry:
        registry.register_schema(GOOD, STRING)
        registry.register_schema(BROKEN, HALF_EXTERNAL)


def test_an_audit_goes_on(downgraded: RunningBroker, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["audit", str(SHOP), "--url", downgraded.admin_url])

    shown = capsys.readouterr().out
    assert code == 1
    assert "AUDIT-H008" in shown
    assert "the registry answered 500" in shown
    assert "1 topic" in shown


def test_a_plan_goes_on(
    downgraded: RunningBroker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "namespaces" / SHOP.tenant / SHOP.local_name
    folder.mkdir(parents=True)
    registries = f"registries:\n  it: {{kind: pulsar, url: {downgraded.admin_url}}}\n"
    config = f"apiVersion: pulsar-gitops/v1\nkind: Config\n{registries}defaultRegistry: it\n"
    (tmp_path / "gitops.yaml").write_text(config)
    for name in ("good", "broken", "new"):
        (folder / f"{name}.yaml").write_text(MANIFEST)

    code = run(["plan", "--repo", str(tmp_path)])

    shown = capsys.readouterr().out
    assert code == 1
    assert "PLAN-R013" in shown
    assert "shop/new" in shown


def fill_mixed(admin_url: str) -> None:
    """Histories that a broker of 4.0 can read in part."""
    admin = f"{admin_url}/admin/v2"
    tenant = {"adminRoles": [], "allowedClusters": ["standalone"]}
    with contextlib.suppress(HTTPError):  # it is there
        admin_request("PUT", f"{admin}/tenants/{MIXED.tenant}", tenant)
    policies = {"schema_compatibility_strategy": "ALWAYS_COMPATIBLE"}
    admin_request("PUT", f"{admin}/namespaces/{MIXED}", policies)
    for name, versions in HISTORIES.items():
        for one in versions:
            url = f"{admin}/schemas/{MIXED}/{name}/schema"
            admin_request("POST" if one else "DELETE", url, _payload(one) if one else None)


def _payload(info: SchemaInfo) -> dict[str, object]:
    properties = dict(info.properties)
    return {"type": info.type.value, "schema": info.schema, "properties": properties}


SENT = {one.type.value: _payload(one) for one in (AVRO, STRING, EXTERNAL, HALF_EXTERNAL)}
POLICY = f"namespaces/{MIXED}/schemaCompatibilityStrategy"


def reads() -> Iterator[tuple[str, str, object]]:
    """Requests that change nothing of a history."""
    paths = [f"schemas/{MIXED}/{name}" for name in HISTORIES]
    for path in paths:
        for end in ("schema", "schema/0", "schema/1", "schemas", "metadata"):
            yield "GET", f"{path}/{end}", None
        for body in SENT.values():
            yield "POST", f"{path}/version", body
    for strategy in ("ALWAYS_COMPATIBLE", "FULL", "FULL_TRANSITIVE"):
        yield "PUT", POLICY, strategy
        for path, body in itertools.product(paths, SENT.values()):
            yield "POST", f"{path}/compatibility", body


def writes() -> Iterator[tuple[str, str, object]]:
    """Requests that do."""
    yield "PUT", POLICY, "FULL"
    for name in HISTORIES:
        path = f"schemas/{MIXED}/{name}"
        for body in SENT.values():
            yield "POST", f"{path}/schema", body
        yield "DELETE", f"{path}/schema", None
        yield "GET", f"{path}/schemas", None
        yield "POST", f"{path}/schema", SENT["STRING"]
        yield "DELETE", f"{path}/schema?force=true", None
        yield "POST", f"{path}/schema", SENT["STRING"]


def answers(admin_url: str) -> list[tuple[str, object]]:
    """Each request with its answer, without what differs by nature."""
    found: list[tuple[str, object]] = []
    for method, path, body in (*reads(), *writes()):
        try:
            text = admin_request(method, f"{admin_url}/admin/v2/{path}", body)
            answer = compared(json.loads(text)) if text else None
        except HTTPError as error:
            with error:
                answer = error.code
        found.append((f"{method} {path} {body}", answer))
    return found


def test_serve_of_4_0_answers_for_a_file_of_4_2_as_a_broker(
    downgraded: RunningBroker, tmp_path: Path
) -> None:
    def served(release: str) -> contextlib.AbstractContextManager[str]:
        settings = model_policy.BrokerSettings(release=release)
        return serve_in_thread(EmbeddedRegistry("local", tmp_path / "x.db", settings))

    with served("4.2") as url:
        fill_mixed(url)
    with served("4.0") as url:
        ours = answers(url)

    theirs = answers(downgraded.admin_url)

    different = [pair for pair in zip(ours, theirs, strict=True) if pair[0] != pair[1]]
    assert different == []
    assert sum(answer == 500 for _, answer in theirs) > len(theirs) / 3
