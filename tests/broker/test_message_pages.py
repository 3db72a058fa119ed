"""The code on the page about messages of several schemas runs, and does what the page says."""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from typing import Any

import pytest

from gitops.model.names import NamespaceName
from tests.support.admin_rest import admin_request
from tests.support.project_files import ROOT
from tests.support.pulsar_broker import RunningBroker
from tests.support.topic_reader import read_topic

pytestmark = pytest.mark.broker

PAGE = ROOT / "docs" / "how-to" / "send-messages-of-several-schemas.md"


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """What the page's blocks of Python define."""
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 3
    for block in blocks:
        exec(compile(block, PAGE.name, "exec"), names)  # noqa: S102 - our own page
    return names


def test_the_producer_and_the_replicator_of_the_page(
    page: dict[str, Any],
    pulsar: RunningBroker,
    pulsar_namespace: NamespaceName,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if not pulsar.service_url:
        pytest.skip("PULSAR_SERVICE_URL does not say where the broker's own protocol listens")
    policies = f"{pulsar.admin_url}/admin/v2/namespaces/{pulsar_namespace}/deduplication"
    admin_request("POST", policies, json.loads("true"))
    url, run = pulsar.service_url, uuid.uuid4().hex[:8]
    source, target = (f"{pulsar_namespace}/{name}-{run}" for name in ("source", "target"))
    asyncio.run(page["send_orders"](url, source))
    assert re.fullmatch(r"sent, stored as \d+:\d+:-1:-1\n", capsys.readouterr().out)
    sent = read_topic(url, source)
    assert [(each.version, each.key) for each in sent] == [(0, "1"), (1, "1")]
    for _ in range(2):
        assert asyncio.run(page["replicate"](url, source, url, target)) == 1
        assert read_topic(url, target) == sent


def test_the_client_with_a_token(page: dict[str, Any], tmp_path: Any) -> None:  # noqa: ANN401
    import trustme

    ca_file = tmp_path / "ca.pem"
    trustme.CA().cert_pem.write_to_path(ca_file)
    assert page["secured_client"]("pulsar+ssl://localhost:6651", str(ca_file), "token")
