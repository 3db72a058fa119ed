"""A topic that a broker cannot show: audit and plan say so, and go on with the others.

4.2.4 stores a KEY_VALUE with a half of the type EXTERNAL, and 4.0.7 opens its disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from gitops.cli.app import run
from gitops.model.names import NamespaceName, TopicName
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.registries.pulsar.registry import open_registry
from gitops.registries.pulsar.settings import PulsarConfig
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
MANIFEST = "apiVersion: pulsar-gitops/v1\nkind: Topic\nschema: {type: STRING}\n"


@pytest.fixture(scope="module")
def downgraded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """4.0.7 on a disk on which 4.2.4 has stored a schema that 4.0.7 does not know."""
    disk = tmp_path_factory.mktemp("disk")
    try:
        with pulsar_broker(BrokerSettings(release="4.2.4", data=disk)) as newer:
            fill(newer)
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
