"""What a real broker shows of a namespace's messages: other clusters, and compaction."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pytest

from gitops.model.names import NamespaceName, TopicName
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.model.state import Scope
from gitops.usecases.audit import AuditRequest, audit
from tests.support.admin_rest import admin_request

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitops.ports import Registry

pytestmark = pytest.mark.broker

OTHER: Final = "zz-other"


@pytest.fixture
def replicated(pulsar_admin_url: str, pulsar_namespace: NamespaceName) -> Iterator[str]:
    """The cluster beside which the namespace names another one, which is not there."""
    admin = f"{pulsar_admin_url}/admin/v2"
    (cluster, *_) = json.loads(admin_request("GET", f"{admin}/clusters"))
    admin_request("PUT", f"{admin}/clusters/{OTHER}", {"serviceUrl": "http://127.0.0.1:1"})
    tenant = {"adminRoles": [], "allowedClusters": [cluster, OTHER]}
    admin_request("POST", f"{admin}/tenants/{pulsar_namespace.tenant}", tenant)
    admin_request("POST", f"{admin}/namespaces/{pulsar_namespace}/replication", [cluster, OTHER])
    yield cluster
    admin_request("POST", f"{admin}/namespaces/{pulsar_namespace}/replication", [cluster])
    tenant = {"adminRoles": [], "allowedClusters": [cluster]}
    admin_request("POST", f"{admin}/tenants/{pulsar_namespace.tenant}", tenant)
    admin_request("DELETE", f"{admin}/clusters/{OTHER}")


def test_a_plain_namespace_is_neither_replicated_nor_compacted(
    registry: Registry, pulsar_namespace: NamespaceName
) -> None:
    scope = Scope(namespaces=frozenset({pulsar_namespace}))
    found = registry.observe(scope).namespaces[pulsar_namespace]

    assert (len(found.replication_clusters), found.is_compacted) == (1, False)
    assert not found.is_replicated


def test_an_audit_finds_other_clusters_and_compaction(
    registry: Registry, replicated: str, pulsar_admin_url: str, pulsar_namespace: NamespaceName
) -> None:
    admin = f"{pulsar_admin_url}/admin/v2"
    topic = TopicName.of(pulsar_namespace, "t")
    admin_request("PUT", f"{admin}/persistent/{topic}/partitions", 1)
    record = {"type": "record", "name": "R", "fields": []}
    registry.register_schema(topic, SchemaInfo(type=SchemaType.AVRO, schema=json.dumps(record)))
    admin_request("PUT", f"{admin}/namespaces/{pulsar_namespace}/compactionThreshold", 1_000_000)

    found = audit(registry, AuditRequest(namespaces=(pulsar_namespace,)))

    told = {one.rule: one.message for one in found.findings}
    assert {"AUDIT-H011", "AUDIT-H012"} <= told.keys()
    assert told["AUDIT-H011"].startswith(f"messages are replicated between {replicated}, {OTHER}:")
