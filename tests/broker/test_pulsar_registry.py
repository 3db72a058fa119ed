"""What only a real broker can tell about names, policies of topics and refusals."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from gitops.model.errors import RegistryRefusedError, UsageError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import PolicyChange, PolicyValue, SchemaCompatibilityStrategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.model.state import Scope
from gitops.usecases.audit import AuditRequest, audit
from tests.support.admin_rest import admin_request

if TYPE_CHECKING:
    from gitops.model.policy import TopicPolicies
    from gitops.ports import Registry

pytestmark = pytest.mark.broker

FULL = SchemaCompatibilityStrategy.FULL


@pytest.fixture
def created(pulsar_admin_url: str, pulsar_namespace: NamespaceName) -> TopicName:
    return create(pulsar_admin_url, f"persistent/{pulsar_namespace}/created")


def create(url: str, path: str, partitions: int = 0) -> TopicName:
    """Create a topic of `domain/tenant/namespace/name`, partitioned if it says so."""
    rest, body = ("/partitions", partitions) if partitions else ("", None)
    admin_request("PUT", f"{url}/admin/v2/{path}{rest}", body)
    return TopicName.parse(path.replace("/", "://", 1))


def avro(*fields: dict[str, object], **more: object) -> SchemaInfo:
    text = json.dumps({"type": "record", "name": "R", "fields": list(fields), **more})
    return SchemaInfo(type=SchemaType.AVRO, schema=text)


def set_policy(
    registry: Registry, subject: NamespaceName | TopicName, key: str, after: PolicyValue
) -> None:
    registry.set_policies(subject, [PolicyChange(key=key, before=None, after=after)])


def policies(registry: Registry, topic: TopicName) -> TopicPolicies:
    scope = Scope(namespaces=frozenset({topic.namespace}), topics=frozenset({topic}))
    return registry.observe(scope).topics[topic].policies


# ---------------------------------------------------------------------------- names


def test_partitions_are_folded_and_domains_merged(
    registry: Registry, pulsar_admin_url: str, pulsar_namespace: NamespaceName
) -> None:
    namespace = pulsar_namespace
    topics = {
        create(pulsar_admin_url, f"persistent/{namespace}/plain"),
        create(pulsar_admin_url, f"persistent/{namespace}/parts", 3),
        create(pulsar_admin_url, f"non-persistent/{namespace}/brief"),
        create(pulsar_admin_url, f"non-persistent/{namespace}/brief-parts", 2),
    }
    assert registry.list_topics(namespace) == tuple(sorted(topics))


def test_system_topics_are_not_listed(registry: Registry, created: TopicName) -> None:
    set_policy(registry, created, "schemaCompatibilityStrategy", FULL)  # makes __change_events
    assert registry.list_topics(created.namespace) == (created,)


def test_a_topic_that_was_never_created_has_schemas_and_is_not_listed(
    registry: Registry, pulsar_namespace: NamespaceName
) -> None:
    topic = TopicName.of(pulsar_namespace, "never-created")
    registry.register_schema(topic, avro())
    assert registry.list_topics(pulsar_namespace) == ()
    assert (
        len(registry.observe(Scope(topics=frozenset({topic}))).topics[topic].history.entries) == 1
    )


@pytest.mark.parametrize("name", ["a+b", "a;b=c", "a b", "a:b", "a&b?c#d", ".."])
def test_unusual_names_are_encoded(
    registry: Registry, pulsar_namespace: NamespaceName, name: str
) -> None:
    topic = TopicName.of(pulsar_namespace, name)
    registry.register_schema(topic, SchemaInfo(type=SchemaType.INT8))
    (entry,) = registry.observe(Scope(topics=frozenset({topic}))).topics[topic].history.entries
    assert entry.info == SchemaInfo(type=SchemaType.INT8)


def test_namespaces_of_pulsar_itself_are_not_listed(
    registry: Registry, pulsar_namespace: NamespaceName
) -> None:
    listed = {str(namespace) for namespace in registry.list_namespaces()}
    assert str(pulsar_namespace) in listed
    assert "pulsar/system" not in listed


def test_a_missing_tenant_is_told_from_a_missing_namespace(
    registry: Registry, pulsar_namespace: NamespaceName
) -> None:
    no_namespace = NamespaceName(pulsar_namespace.tenant, "missing")
    no_tenant = NamespaceName(f"{pulsar_namespace.tenant}-missing", "missing")
    state = registry.observe(Scope(namespaces=frozenset({no_namespace, no_tenant})))
    found = {name: (each.exists, each.tenant_exists) for name, each in state.namespaces.items()}
    assert found == {no_namespace: (False, True), no_tenant: (False, False)}


def test_a_namespace_without_tenant_cannot_be_created(
    registry: Registry, pulsar_namespace: NamespaceName
) -> None:
    tenant = f"{pulsar_namespace.tenant}-missing"
    with pytest.raises(RegistryRefusedError, match="Tenant does not exist") as refused:
        registry.create_namespace(NamespaceName(tenant, "n"))
    assert f"pulsar-admin tenants create {tenant}" in refused.value.hint


# ---------------------------------------------------------------------------- policies of topics


def test_many_topics_are_read_as_one_by_one(
    registry: Registry, pulsar_admin_url: str, pulsar_namespace: NamespaceName
) -> None:
    created = [
        create(pulsar_admin_url, f"persistent/{pulsar_namespace}/t{number}", number % 2)
        for number in range(4)
    ]
    set_policy(registry, created[0], "schemaCompatibilityStrategy", FULL)
    set_policy(registry, created[3], "schemaValidationEnforced", after=True)
    names = [*created, TopicName.of(pulsar_namespace, "never-created")]
    registry.register_schema(names[-1], avro())
    together = registry.observe(Scope(topics=frozenset(names))).topics
    alone = {name: registry.observe(Scope(topics=frozenset({name}))).topics[name] for name in names}
    assert together == alone
    assert together[created[0]].policies.schema_compatibility_strategy is FULL
    assert together[created[3]].policies.schema_validation_enforced is True


def test_a_partitioned_topic_has_policies(
    registry: Registry, pulsar_admin_url: str, pulsar_namespace: NamespaceName
) -> None:
    for domain in ("persistent", "non-persistent"):
        topic = create(pulsar_admin_url, f"{domain}/{pulsar_namespace}/{domain}-parts", 2)
        set_policy(registry, topic, "schemaCompatibilityStrategy", FULL)
        assert policies(registry, topic).schema_compatibility_strategy is FULL


def test_a_topic_must_exist_to_have_policies(
    registry: Registry, pulsar_namespace: NamespaceName
) -> None:
    topic = TopicName.of(pulsar_namespace, "never-created")
    with pytest.raises(RegistryRefusedError, match="not found") as refused:
        set_policy(registry, topic, "schemaCompatibilityStrategy", FULL)
    assert f"pulsar-admin topics create {topic}" in refused.value.hint


def test_validation_set_to_false_is_told_from_not_set_where_it_matters(
    registry: Registry, created: TopicName
) -> None:
    key = "schemaValidationEnforced"
    assert policies(registry, created).schema_validation_enforced is None
    set_policy(registry, created.namespace, key, after=True)
    assert policies(registry, created).schema_validation_enforced is None
    set_policy(registry, created, key, after=False)
    assert policies(registry, created).schema_validation_enforced is False
    set_policy(registry, created, key, after=True)
    assert policies(registry, created).schema_validation_enforced is True


def test_what_pulsar_cannot_remove_is_refused_before_anything_is_sent(
    registry: Registry, created: TopicName
) -> None:
    changes = [
        PolicyChange(key="schemaCompatibilityStrategy", before=None, after=FULL),
        PolicyChange(key="schemaValidationEnforced", before=True, after=None),
    ]
    with pytest.raises(UsageError, match="cannot remove"):
        registry.set_policies(created, changes)
    assert policies(registry, created).schema_compatibility_strategy is None


# ---------------------------------------------------------------------------- refusals


def test_the_message_of_an_error_page_is_one_clear_line(
    registry: Registry, pulsar_namespace: NamespaceName
) -> None:
    topic = TopicName.of(pulsar_namespace, "orders")
    registry.register_schema(topic, avro())
    with pytest.raises(RegistryRefusedError) as refused:
        registry.register_schema(topic, avro({"name": "a", "type": "int"}))
    what = refused.value.what
    assert what.startswith("Error during schema compatibility check with strategy FULL")
    assert '"name" : "a"' in what
    assert what.isprintable()
    assert "<" not in what


def test_control_characters_of_a_refused_schema_are_harmless(
    registry: Registry, pulsar_namespace: NamespaceName
) -> None:
    topic = TopicName.of(pulsar_namespace, "orders")
    with pytest.raises(RegistryRefusedError) as refused:
        registry.register_schema(
            topic, SchemaInfo(type=SchemaType.STRING, schema='a\x01\r\nX: \\y\n\x1b[31m€<"&amp;')
        )
    assert refused.value.status == 422
    assert refused.value.what.isprintable()
    assert refused.value.what.startswith("Invalid schema definition data for string schema")


def test_a_very_long_refusal_is_still_one(
    registry: Registry, pulsar_namespace: NamespaceName
) -> None:
    topic = TopicName.of(pulsar_namespace, "orders")
    optional: list[dict[str, object]] = [
        {"name": f"field_{number}", "type": "string", "default": "", "doc": "x" * 100}
        for number in range(1500)
    ]
    registry.register_schema(topic, avro(*optional))
    with pytest.raises(RegistryRefusedError) as refused:
        registry.register_schema(topic, avro(*optional, {"name": "a", "type": "int"}))
    assert refused.value.status == 409
    assert len(refused.value.what) < 1100


def test_a_500_about_the_schema_is_a_refusal_without_stack_trace(
    registry: Registry, pulsar_namespace: NamespaceName
) -> None:
    topic = TopicName.of(pulsar_namespace, "orders")
    bad_default = avro({"name": "a", "type": "int", "default": "x"})
    assert registry.register_schema(topic, bad_default) == 0
    with pytest.raises(RegistryRefusedError) as refused:
        registry.register_schema(topic, bad_default)
    assert refused.value.status == 500
    assert refused.value.what == 'Invalid default for field a: "x" not a "int"'


# ---------------------------------------------------------------------------- what is kept of BYTES


def test_an_audit_finds_what_the_broker_refuses_of_bytes(
    registry: Registry, pulsar_admin_url: str, pulsar_namespace: NamespaceName
) -> None:
    """They are kept as NONE, which refuses them from then on, but under ALWAYS_COMPATIBLE."""
    raw = SchemaInfo(type=SchemaType.BYTES)
    topic = create(pulsar_admin_url, f"persistent/{pulsar_namespace}/raw")
    loose = SchemaCompatibilityStrategy.ALWAYS_COMPATIBLE
    set_policy(registry, pulsar_namespace, "schemaCompatibilityStrategy", loose)
    for _ in range(2):
        registry.register_schema(topic, raw)
    asked = AuditRequest(namespaces=(pulsar_namespace,), as_if_strategy=FULL)

    found = audit(registry, asked)
    registered = registry.observe(Scope(topics=frozenset({topic}))).topics[topic].history.entries
    set_policy(registry, pulsar_namespace, "schemaCompatibilityStrategy", FULL)
    with pytest.raises(RegistryRefusedError, match="Incompatible schema"):
        registry.register_schema(topic, raw)

    assert [entry.info.type for entry in registered] == [SchemaType.NONE, SchemaType.NONE]
    (refused,) = (one for one in found.findings if one.rule == "AUDIT-S001")
    assert refused.message.startswith("v1: FULL would have refused what was registered")
    as_loose = audit(registry, replace(asked, as_if_strategy=loose))
    assert not [one for one in as_loose.findings if one.rule == "AUDIT-S001"]
