"""Tenants, namespaces and created topics, with a broker's refusals."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gitops.model.errors import RegistryRefusedError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import (
    NamespacePolicies,
    PolicyChange,
    SchemaCompatibilityStrategy,
    TopicPolicies,
)
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.registries.embedded.administration import Administration
from gitops.registries.embedded.namespace_rows import CreatedTopic, TenantInfo
from gitops.registries.embedded.registry import EmbeddedRegistry

SHOP = NamespaceName("shop", "orders")
TOPIC = TopicName(SHOP, "created")
STRING = SchemaInfo(type=SchemaType.STRING)


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[EmbeddedRegistry]:
    registry = EmbeddedRegistry("local", tmp_path / "registry.db")
    yield registry
    registry.close()


@pytest.fixture
def absent(registry: EmbeddedRegistry) -> Administration:
    """Of a file that is not there."""
    return Administration(registry.database)


@pytest.fixture
def administration(registry: EmbeddedRegistry) -> Administration:
    registry.create_namespace(SHOP)
    return Administration(registry.database)


def test_an_absent_file_has_nothing(absent: Administration) -> None:
    assert absent.tenants() == ()
    assert absent.tenant("shop") is None
    assert absent.namespace(SHOP) is None
    assert absent.stored(TOPIC).live == []
    assert absent.all_versions(TOPIC) == ()
    for ask in (
        lambda: absent.namespaces("shop"),
        lambda: absent.topics(SHOP),
        lambda: absent.topic(TOPIC),
    ):
        with pytest.raises(RegistryRefusedError) as refused:
            ask()
        assert refused.value.status == 404


def test_a_tenant_lives_and_ends(administration: Administration) -> None:
    info = TenantInfo(admin_roles=("admin",), allowed_clusters=("standalone",))
    administration.create_tenant("fresh", TenantInfo())
    administration.update_tenant("fresh", info)
    assert administration.tenant("fresh") == info
    assert administration.tenants() == ("fresh", "shop")
    administration.delete_tenant("fresh")
    assert administration.tenant("fresh") is None


def test_tenants_are_refused_as_by_a_broker(administration: Administration) -> None:
    with pytest.raises(RegistryRefusedError, match="already exist"):
        administration.create_tenant("shop", TenantInfo())
    with pytest.raises(RegistryRefusedError, match="still has active namespaces"):
        administration.delete_tenant("shop")
    with pytest.raises(RegistryRefusedError, match="Tenant missing not found"):
        administration.update_tenant("missing", TenantInfo())
    with pytest.raises(RegistryRefusedError, match="doesn't exist"):
        administration.delete_tenant("missing")


def test_a_namespace_starts_with_its_policies(administration: Administration) -> None:
    policies = NamespacePolicies(
        schema_compatibility_strategy=SchemaCompatibilityStrategy.FORWARD,
        is_allow_auto_update_schema=False,
    )
    second = NamespaceName("shop", "second")
    administration.create_namespace(second, policies)
    assert administration.namespace(second) == policies
    assert administration.namespaces("shop") == (SHOP, second)
    with pytest.raises(RegistryRefusedError, match="already exists"):
        administration.create_namespace(second, policies)
    with pytest.raises(RegistryRefusedError, match="Tenant does not exist"):
        administration.create_namespace(NamespaceName("missing", "n"), policies)


def test_a_namespace_with_topics_stays(administration: Administration) -> None:
    administration.create_topic(TOPIC, 0)
    with pytest.raises(RegistryRefusedError, match="non empty"):
        administration.delete_namespace(SHOP)
    administration.delete_topic(TOPIC)
    administration.delete_namespace(SHOP)
    with pytest.raises(RegistryRefusedError, match="does not exist"):
        administration.delete_namespace(SHOP)


def test_schemas_outlive_their_namespace(
    administration: Administration, registry: EmbeddedRegistry
) -> None:
    registry.register_schema(TOPIC, STRING)
    administration.delete_namespace(SHOP)
    registry.create_namespace(SHOP)
    assert registry.register_schema(TOPIC, STRING) == 0
    assert administration.all_versions(TOPIC) == (0,)


def test_a_topic_takes_its_schemas_with_it(
    administration: Administration, registry: EmbeddedRegistry
) -> None:
    administration.create_topic(TOPIC, 3)
    assert administration.topic(TOPIC) == CreatedTopic(partitions=3, policies=TopicPolicies())
    registry.register_schema(TOPIC, STRING)
    registry.delete_schema(TOPIC)
    assert administration.all_versions(TOPIC) == (0, 1)
    administration.delete_topic(TOPIC)
    assert administration.all_versions(TOPIC) == ()
    assert administration.topics(SHOP) == {}


def test_topics_are_refused_as_by_a_broker(administration: Administration) -> None:
    administration.create_topic(TOPIC, 0)
    with pytest.raises(RegistryRefusedError, match="already exists"):
        administration.create_topic(TOPIC, 2)
    other = TopicName(SHOP, "created", "non-persistent")
    with pytest.raises(RegistryRefusedError, match="non-persistent://shop/orders/created not"):
        administration.topic(other)
    with pytest.raises(RegistryRefusedError, match="Namespace not found"):
        administration.create_topic(TopicName(NamespaceName("shop", "missing"), "t"), 0)


def test_policies_keep_the_partitions(
    administration: Administration, registry: EmbeddedRegistry
) -> None:
    administration.create_topic(TOPIC, 3)
    change = PolicyChange(key="schemaValidationEnforced", before=None, after=True)
    registry.set_policies(TOPIC, [change])
    policies = TopicPolicies(schema_validation_enforced=True)
    assert administration.topics(SHOP) == {TOPIC: CreatedTopic(partitions=3, policies=policies)}
