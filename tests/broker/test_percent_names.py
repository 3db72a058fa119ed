"""Topics whose names have a `%`, which is not always the beginning of a code: none is lost.

Admin REST decodes the name in paths of schemas once more than in others (Pulsar 4.0.7, 4.2.4), so
that a name that is encoded too seldom is another topic's, or answered with 500.
"""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import pytest

from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import PolicyChange
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.model.state import Scope
from gitops.registries.pulsar.registry import open_registry
from gitops.registries.pulsar.settings import PulsarConfig
from tests.support.admin_rest import admin_request
from tests.support.command_line import captured
from tests.support.pulsar_broker import BrokerSettings, BrokerUnavailableError, pulsar_broker

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.broker, pytest.mark.slow]

SHOP: Final = NamespaceName("percent", "shop")
NAMES: Final = (
    "%",
    "%%",
    "%zz",
    "%25zz",
    "%41",
    "A",
    "100%",
    "a%20b",
    "a b",
    "a%2Fb",
    "a%2Bb",
    "a+b",
)
"""Some are another one's name, decoded or encoded once more."""


@pytest.fixture(scope="module", params=["4.0.7", "4.2.4"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    """Where a broker listens that has these topics; each has a schema that no other one has."""
    try:
        with pulsar_broker(BrokerSettings(release=request.param)) as broker:
            fill(broker.admin_url)
            yield broker.admin_url
    except BrokerUnavailableError as reason:
        pytest.skip(f"no Pulsar broker {request.param}: {reason}")


def fill(url: str) -> None:
    admin = f"{url}/admin/v2"
    tenant = {"adminRoles": [], "allowedClusters": ["standalone"]}
    admin_request("PUT", f"{admin}/tenants/{SHOP.tenant}", tenant)
    admin_request("PUT", f"{admin}/namespaces/{SHOP}", {})
    with closing(open_registry("it", PulsarConfig(url=url), Path())) as registry:
        for number, name in enumerate(NAMES):
            admin_request("PUT", f"{admin}/persistent/{SHOP}/{quote(name, safe='')}")
            registry.register_schema(TopicName.of(SHOP, name), schema(number))


def schema(number: int) -> SchemaInfo:
    """A schema by which a topic is known."""
    text = json.dumps({"type": "record", "name": f"R{number}", "fields": []})
    return SchemaInfo(type=SchemaType.AVRO, schema=text)


def test_each_topic_has_its_own_schema_and_policies(url: str) -> None:
    topics = [TopicName.of(SHOP, name) for name in NAMES]
    with closing(open_registry("it", PulsarConfig(url=url), Path())) as registry:
        listed = registry.list_topics(SHOP)
        strict = TopicName.of(SHOP, "%41")
        key = "schemaCompatibilityStrategy"
        registry.set_policies(strict, [PolicyChange(key=key, before=None, after=Strategy.BACKWARD)])
        found = registry.observe(Scope(topics=frozenset(topics))).topics

    assert listed == tuple(sorted(topics))
    assert [entry.info for topic in topics for entry in found[topic].history.entries] == [
        schema(number) for number in range(len(NAMES))
    ]
    own = {each for each in topics if found[each].policies.schema_compatibility_strategy}
    assert own == {strict}


def test_audit_import_plan_and_snapshot_lose_none(url: str, tmp_path: Path) -> None:
    count = f"{len(NAMES)} topics"
    audited = captured("audit", SHOP, "--url", url)
    assert (audited.code, f"{count}, {len(NAMES)} versions" in audited.out) == (0, True)

    registries = f"registries:\n  it: {{kind: pulsar, url: {url}}}\n"
    config = f"apiVersion: pulsar-gitops/v1\nkind: Config\n{registries}defaultRegistry: it\n"
    (tmp_path / "gitops.yaml").write_text(config)
    imported = captured("import", SHOP, "--repo", tmp_path)
    assert (imported.code, f"for {count} of it" in imported.err) == (0, True)
    planned = captured("plan", "--repo", tmp_path, "--format", "json")
    assert (planned.code, json.loads(planned.out)["actions"]) == (0, [])
    recorded = captured("snapshot", "--repo", tmp_path)
    assert recorded.code == 0
    again = captured("audit", "--snapshot", "--repo", tmp_path)
    assert (again.code, f"{count}, {len(NAMES)} versions" in again.out) == (0, True)
