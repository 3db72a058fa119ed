"""A broker with other settings in broker.conf than Pulsar's, with and without the right to read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from gitops.model.broker_settings import seen_settings
from gitops.model.config import SecretRef, TlsConfig, TokenAuthentication
from gitops.model.errors import RegistryRefusedError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import RefusedSchema, RegisterSchema
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.policy import SettingSource
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.model.state import Scope
from gitops.planning.plan import make_plan
from gitops.registries.pulsar.registry import open_registry
from gitops.registries.pulsar.settings import PulsarConfig
from gitops.reports.broker_wording import broker_lines
from tests.support.admin_rest import admin_request
from tests.support.pulsar_broker import BrokerUnavailableError
from tests.support.secured_broker import SUPERUSER, SecuredBroker, secured_broker
from tests.support.states import question, state, topic_state

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gitops.model.plan import Plan
    from gitops.ports import Registry

pytestmark = pytest.mark.broker

NAMESPACE = NamespaceName("public", "default")
TOPIC = TopicName.of(NAMESPACE, "learned")
OWNER = "owner"
RECORD = '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "%s"}]}'
OLD = SchemaInfo(type=SchemaType.AVRO, schema=RECORD % "int")
NEW = SchemaInfo(type=SchemaType.AVRO, schema=RECORD % "string")
OTHERS = {
    "schemaCompatibilityStrategy": "ALWAYS_COMPATIBLE",
    "isSchemaValidationEnforced": "true",
    "isAllowAutoUpdateSchemaEnabled": "false",
}


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    try:
        with secured_broker(tmp_path_factory.mktemp("learned"), OTHERS) as broker:
            yield broker
    except BrokerUnavailableError as reason:
        pytest.skip(f"no Pulsar broker: {reason}")


@pytest.fixture(scope="module")
def superuser(secured: SecuredBroker) -> Iterator[Registry]:
    registry = opened(secured, SUPERUSER)
    tenant = f"{secured.broker.admin_url}/admin/v2/tenants/public"
    body = {"adminRoles": [OWNER], "allowedClusters": ["standalone"]}
    admin_request("POST", tenant, body, headers=authorization(secured))
    registry.register_schema(TOPIC, OLD)
    yield registry
    registry.close()


def authorization(secured: SecuredBroker) -> dict[str, str]:
    return {"Authorization": f"Bearer {secured.token(SUPERUSER)}"}


def opened(secured: SecuredBroker, role: str) -> Registry:
    folder = secured.ca_file.parent
    token = folder / f"{role}.token"
    token.write_text(secured.token(role))
    config = PulsarConfig(
        url=secured.broker.tls_admin_url,
        authentication=TokenAuthentication(token=SecretRef(kind="file", name=str(token))),
        tls=TlsConfig(ca_file=str(secured.ca_file)),
    )
    return open_registry("secured", config, folder)


def planned(registry: Registry) -> Plan:
    """The plan for a schema that FULL refuses."""
    scope = Scope(namespaces=frozenset({NAMESPACE}), topics=frozenset({TOPIC}))
    observed = registry.observe(scope)
    desired = state(topic_state(TOPIC, NEW))
    asked = replace(question(desired, observed), broker=registry.broker)
    return make_plan(asked)


def test_a_superuser_learns_release_and_settings(superuser: Registry) -> None:
    found = seen_settings(superuser.broker)

    assert str(found["release"]).startswith("4.0.")
    assert found["schema_compatibility_strategy"] is Strategy.ALWAYS_COMPATIBLE
    assert found["is_schema_validation_enforced"] is True
    assert found["is_allow_auto_update_schema_enabled"] is False
    assert found["schema_json_allow_legacy_jackson_format"] is False
    assert (superuser.broker.limits, superuser.broker.doubts) == ((), ())


def test_its_verdict_is_the_brokers(superuser: Registry) -> None:
    plan = planned(superuser)

    assert [type(one) for one in plan.actions] == [RegisterSchema]
    assert "ALWAYS_COMPATIBLE (learned)" in broker_lines(plan.broker)[0]


def test_who_may_not_read_the_configuration_is_told_what_is_assumed(
    secured: SecuredBroker, superuser: Registry
) -> None:
    del superuser  # has made the topic
    owner = opened(secured, OWNER)
    plan = planned(owner)

    assert owner.broker.source("release") is SettingSource.LEARNED
    assert [type(one) for one in plan.notices] == [RefusedSchema]
    first, second = broker_lines(plan.broker)
    assert "default strategy FULL (assumed)" in first
    assert "the role may not read it" in second
    assert "`brokerDefaults:`" in second
    owner.close()


def test_a_stranger_may_not_even_look(secured: SecuredBroker) -> None:
    stranger = opened(secured, "stranger")
    with pytest.raises(RegistryRefusedError):
        planned(stranger)
    stranger.close()
