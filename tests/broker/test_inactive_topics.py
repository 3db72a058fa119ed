"""A broker deletes inactive topics, their schemas with them; its configuration shows that."""

from __future__ import annotations

import json
import threading
import time
import urllib.error
from typing import TYPE_CHECKING, Final

import pytest

from gitops.audit.health import inactive_topic_findings
from gitops.registries.pulsar.registry import open_registry
from gitops.registries.pulsar.settings import PulsarConfig
from tests.support.admin_rest import admin_request
from tests.support.pulsar_broker import BrokerSettings, BrokerUnavailableError, pulsar_broker

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.broker, pytest.mark.slow]

_CONFIG: Final = {
    "brokerDeleteInactiveTopicsEnabled": "true",
    "brokerDeleteInactiveTopicsFrequencySeconds": "1",
    "brokerDeleteInactiveTopicsMaxInactiveDurationSeconds": "1",
}
_SCHEMA: Final = {"type": "STRING", "schema": "", "properties": {}}
_PATIENCE: Final = 60.0


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Of a broker that deletes inactive topics at once."""
    try:
        with pulsar_broker(BrokerSettings(config=_CONFIG)) as broker:
            yield broker.admin_url
    except BrokerUnavailableError as reason:
        pytest.skip(f"no Pulsar broker: {reason}")


def _status(url: str) -> int:
    try:
        admin_request("GET", url)
    except urllib.error.HTTPError as error:
        return error.code
    return 200


def test_the_schemas_of_an_inactive_topic_go_with_it(url: str, tmp_path: Path) -> None:
    admin = f"{url}/admin/v2"
    admin_request(
        "PUT", f"{admin}/tenants/t", {"adminRoles": [], "allowedClusters": ["standalone"]}
    )
    admin_request("PUT", f"{admin}/namespaces/t/n", {})
    admin_request("PUT", f"{admin}/persistent/t/n/plain")
    admin_request("PUT", f"{admin}/persistent/t/n/parted/partitions", 2)
    admin_request("PUT", f"{admin}/persistent/t/n/used")
    admin_request("PUT", f"{admin}/persistent/t/n/used/subscription/billing")
    for name in ("plain", "parted", "used", "never-created"):
        admin_request("POST", f"{admin}/schemas/t/n/{name}/schema", _SCHEMA)

    for number in range(2):  # what no client has asked for is not loaded, and stays
        admin_request("GET", f"{admin}/persistent/t/n/parted-partition-{number}/stats")

    deadline = time.monotonic() + _PATIENCE
    while json.loads(admin_request("GET", f"{admin}/persistent/t/n")) != ["persistent://t/n/used"]:
        assert time.monotonic() < deadline
        threading.Event().wait(0.2)

    found = {
        name: _status(f"{admin}/schemas/t/n/{name}/schema")
        for name in ("plain", "parted", "used", "never-created")
    }
    assert found == {"plain": 404, "parted": 200, "used": 200, "never-created": 200}
    again = json.loads(admin_request("POST", f"{admin}/schemas/t/n/plain/schema", _SCHEMA))
    assert again == {"version": {"version": 0}}

    registry = open_registry("test", PulsarConfig(url=url), tmp_path)
    assert [one.rule for one in inactive_topic_findings(registry.broker)] == ["AUDIT-H010"]
    registry.close()
