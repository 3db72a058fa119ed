"""Brokers whose configuration leaves out checkers: learned, and decided as the broker does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from gitops.broker.lines.table import line_of
from gitops.broker.registration import register
from gitops.model.errors import RegistryRefusedError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import PolicyChange
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.model.state import Scope
from gitops.ports import Registry
from gitops.registries.pulsar.registry import open_registry
from gitops.registries.pulsar.settings import PulsarConfig
from gitops.schemas.payload import stored_history
from tests.support.admin_rest import admin_request
from tests.support.pulsar_broker import BrokerSettings, BrokerUnavailableError, pulsar_broker
from tests.support.states import avro, field, info

pytestmark = [pytest.mark.broker, pytest.mark.slow]

_PACKAGE: Final = "org.apache.pulsar.broker.service.schema."
_LEFT: Final = {
    "4.0.7": ("Json", "ProtobufNative"),
    "4.2.4": ("Avro", "ProtobufNative"),
}
_GONE: Final = {
    "4.0.7": {SchemaType.AVRO},
    "4.2.4": {SchemaType.JSON, SchemaType.EXTERNAL},
}
SHOP = NamespaceName("checkers", "shop")
_INT, _TEXT = avro(field("a", "int")), avro(field("a", "string"))


def _as(kind: SchemaType, schema: SchemaInfo) -> SchemaInfo:
    return SchemaInfo(type=kind, schema=schema.schema)


def _pair(value: SchemaInfo) -> SchemaInfo:
    properties = {
        "key.schema.name": "k",
        "key.schema.type": "STRING",
        "key.schema.properties": "{}",
        "value.schema.name": "v",
        "value.schema.type": value.type.value,
        "value.schema.properties": "{}",
        "kv.encoding.type": "INLINE",
    }
    text = f'{{"key":"","value":{value.schema}}}'
    return SchemaInfo(type=SchemaType.KEY_VALUE, schema=text, properties=properties)


_CHANGES: Final = {
    "avro": (_INT, _TEXT),
    "json": (_as(SchemaType.JSON, _INT), _as(SchemaType.JSON, _TEXT)),
    "protobuf": (_as(SchemaType.PROTOBUF, _INT), _as(SchemaType.PROTOBUF, _TEXT)),
    "pair-avro": (_pair(_INT), _pair(_TEXT)),
    "pair-json": (_pair(_as(SchemaType.JSON, _INT)), _pair(_as(SchemaType.JSON, _TEXT))),
    "type": (_INT, _as(SchemaType.JSON, _INT)),
    "invalid": (_INT, info("nothing")),
}
_STRATEGIES: Final = (
    Strategy.FULL,
    Strategy.BACKWARD_TRANSITIVE,
    Strategy.ALWAYS_INCOMPATIBLE,
    Strategy.ALWAYS_COMPATIBLE,
)


@pytest.fixture(scope="module", params=_LEFT)
def asked(request: pytest.FixtureRequest) -> Iterator[tuple[str, Registry]]:
    release: str = request.param
    names = ",".join(f"{_PACKAGE}{each}SchemaCompatibilityCheck" for each in _LEFT[release])
    config = {"schemaRegistryCompatibilityCheckers": names}
    try:
        with (
            pulsar_broker(BrokerSettings(release=release, config=config)) as broker,
            closing(open_registry("it", PulsarConfig(url=broker.admin_url), Path())) as registry,
        ):
            tenant = {"adminRoles": [], "allowedClusters": ["standalone"]}
            admin_request("PUT", f"{broker.admin_url}/admin/v2/tenants/{SHOP.tenant}", tenant)
            admin_request("PUT", f"{broker.admin_url}/admin/v2/namespaces/{SHOP}", {})
            yield release, registry
    except BrokerUnavailableError as reason:
        pytest.skip(f"no Pulsar broker {release}: {reason}")


def test_what_is_left_out_is_learned(asked: tuple[str, Registry]) -> None:
    release, registry = asked

    assert set(registry.broker.types_without_checker) == _GONE[release]
    assert not registry.broker.doubts


@pytest.mark.parametrize("strategy", _STRATEGIES)
def test_decisions_are_those_of_the_broker(strategy: Strategy, asked: tuple[str, Registry]) -> None:
    _, registry = asked
    line = line_of(registry.broker)
    key = "schemaCompatibilityStrategy"
    registry.set_policies(SHOP, [PolicyChange(key=key, before=None, after=strategy)])
    for name, (before, after) in _CHANGES.items():
        topic = TopicName.of(SHOP, f"{name}-{strategy.value.lower()}")
        registry.register_schema(topic, before)
        history = registry.observe(Scope(topics=frozenset({topic}))).topics[topic].history

        ours = register(stored_history(history), after, strategy, line)

        if ours.accepted:
            assert registry.register_schema(topic, after) == ours.version, name
            continue
        with pytest.raises(RegistryRefusedError) as refused:
            registry.register_schema(topic, after)
        assert refused.value.status == ours.status, name
