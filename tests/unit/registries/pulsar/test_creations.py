"""Tenants and partitions of a cluster: what is asked for, with which permission, and written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gitops.model.errors import OutsideError, RegistryRefusedError
from gitops.model.names import TenantName, TopicName
from gitops.model.state import Scope, TenantState, TopicPartitions
from tests.support.answering_cluster import Cluster
from tests.support.pulsar_client import open_test_registry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_httpserver import HTTPServer

    from gitops.ports import Registry

pytestmark = pytest.mark.slow

_SHOP = TenantName("shop")
_TOPIC = TopicName.parse("shop/orders/a b")
_PATH = "persistent/shop/orders/a%20b"


def _tenant(server: HTTPServer, answers: Mapping[str, object]) -> TenantState:
    registry = open_test_registry(Cluster(server, answers).url)
    return registry.observe(Scope(tenants=frozenset({_SHOP}))).tenants[_SHOP]


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (
            {"tenants/shop": {"adminRoles": ["ops"], "allowedClusters": ["east", "west"]}},
            TenantState(
                tenant=_SHOP,
                allowed_clusters=frozenset({"east", "west"}),
                admin_roles=frozenset({"ops"}),
            ),
        ),
        ({}, TenantState(tenant=_SHOP, exists=False)),
        ({"tenants/shop": 403, "namespaces/shop": []}, TenantState(tenant=_SHOP)),
        ({"tenants/shop": 401, "namespaces/shop": 404}, TenantState(tenant=_SHOP, exists=False)),
        ({"tenants/shop": 403, "namespaces/shop": 403}, TenantState(tenant=_SHOP)),
    ],
)
def test_a_tenant_is_what_the_role_may_see(
    httpserver: HTTPServer, answers: Mapping[str, object], expected: TenantState
) -> None:
    assert _tenant(httpserver, answers) == expected


@pytest.mark.parametrize("answer", [["shop"], {"adminRoles": "ops"}])
def test_another_body_is_no_tenant(httpserver: HTTPServer, answer: object) -> None:
    with pytest.raises(OutsideError, match="a tenant"):
        _tenant(httpserver, {"tenants/shop": answer})


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"partitions": 4, "deleted": False}, TopicPartitions(topic=_TOPIC, count=4)),
        ({"partitions": 0}, TopicPartitions(topic=_TOPIC, count=0)),
        (404, TopicPartitions(topic=_TOPIC, exists=False)),
    ],
)
def test_a_topic_has_its_partitions(
    httpserver: HTTPServer, answer: object, expected: TopicPartitions
) -> None:
    registry = open_test_registry(Cluster(httpserver, {f"{_PATH}/partitions": answer}).url)
    found = registry.observe(Scope(partitions=frozenset({_TOPIC})))
    assert found.partitions == {_TOPIC: expected}


def test_a_number_that_is_none_is_no_answer(httpserver: HTTPServer) -> None:
    registry = open_test_registry(Cluster(httpserver, {f"{_PATH}/partitions": {}}).url)
    with pytest.raises(OutsideError, match="a number of partitions"):
        registry.observe(Scope(partitions=frozenset({_TOPIC})))


def test_a_role_that_may_not_see_a_topic_is_told(httpserver: HTTPServer) -> None:
    registry = open_test_registry(Cluster(httpserver, {f"{_PATH}/partitions": 403}).url)
    with pytest.raises(RegistryRefusedError):
        registry.observe(Scope(partitions=frozenset({_TOPIC})))


def test_what_is_created_is_sent(httpserver: HTTPServer) -> None:
    cluster = Cluster(httpserver, {"clusters": ["west", "east"]})
    registry: Registry = open_test_registry(cluster.url)

    registry.create_tenant(TenantState(tenant=_SHOP, admin_roles=frozenset({"b", "a"})))
    registry.create_tenant(TenantState(tenant=_SHOP, allowed_clusters=frozenset({"west"})))
    registry.create_topic(_TOPIC, 3)
    registry.create_topic(_TOPIC, 0)

    assert cluster.written == [
        ("PUT tenants/shop", {"adminRoles": ["a", "b"], "allowedClusters": ["east", "west"]}),
        ("PUT tenants/shop", {"adminRoles": [], "allowedClusters": ["west"]}),
        (f"PUT {_PATH}/partitions", 3),
        (f"PUT {_PATH}", {}),
    ]
