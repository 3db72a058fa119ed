"""What every Registry must do with tenants, namespaces and topics: show and create them."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest

from gitops.model.errors import RegistryRefusedError
from gitops.model.names import NamespaceName, TenantName, TopicName
from gitops.model.state import Scope, TenantState, TopicPartitions
from gitops.testing.registry_examples import namespace_state

if TYPE_CHECKING:
    from gitops.ports import Registry


class CreationContract:
    """The part of RegistryContract about what has to exist before schemas do."""

    def test_a_created_tenant_exists_and_has_namespaces(self, registry: Registry) -> None:
        tenant = TenantName(f"contract-{uuid.uuid4().hex[:10]}")
        scope = Scope(tenants=frozenset({tenant}))
        assert not registry.observe(scope).tenants[tenant].exists
        registry.create_tenant(TenantState(tenant=tenant))
        assert registry.observe(scope).tenants[tenant].exists
        registry.create_namespace(NamespaceName(str(tenant), "n"))

    def test_a_tenant_cannot_be_created_twice(self, registry: Registry) -> None:
        tenant = TenantState(tenant=TenantName(f"contract-{uuid.uuid4().hex[:10]}"))
        registry.create_tenant(tenant)
        with pytest.raises(RegistryRefusedError) as refused:
            registry.create_tenant(tenant)
        assert refused.value.status == 409

    def test_a_namespace_cannot_be_created_twice(
        self, registry: Registry, namespace: NamespaceName
    ) -> None:
        with pytest.raises(RegistryRefusedError) as refused:
            registry.create_namespace(namespace)
        assert refused.value.status == 409

    def test_a_created_namespace_exists(self, registry: Registry, namespace: NamespaceName) -> None:
        second = NamespaceName(namespace.tenant, f"{namespace.local_name}-second")
        assert not namespace_state(registry, second).exists
        registry.create_namespace(second)
        assert namespace_state(registry, second).exists

    @pytest.mark.parametrize("count", [0, 3])
    def test_a_created_topic_has_its_partitions(
        self, registry: Registry, namespace: NamespaceName, count: int
    ) -> None:
        topic = TopicName.of(namespace, "created")
        scope = Scope(partitions=frozenset({topic}))
        absent = TopicPartitions(topic=topic, exists=False)
        assert registry.observe(scope).partitions == {topic: absent}
        registry.create_topic(topic, count)
        partitions = TopicPartitions(topic=topic, count=count)
        assert registry.observe(scope).partitions == {topic: partitions}
        assert registry.list_topics(namespace) == (topic,)

    def test_a_topic_cannot_be_created_twice(
        self, registry: Registry, namespace: NamespaceName
    ) -> None:
        topic = TopicName.of(namespace, "created")
        registry.create_topic(topic, 2)
        with pytest.raises(RegistryRefusedError) as refused:
            registry.create_topic(topic, 2)
        assert refused.value.status == 409

    def test_a_topic_needs_its_namespace(
        self, registry: Registry, namespace: NamespaceName
    ) -> None:
        missing = TopicName.of(NamespaceName(namespace.tenant, "missing"), "created")
        scope = Scope(partitions=frozenset({missing}))
        assert not registry.observe(scope).partitions[missing].exists
        with pytest.raises(RegistryRefusedError) as refused:
            registry.create_topic(missing, 2)
        assert refused.value.status == 404
