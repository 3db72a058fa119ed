"""Short ways to write down schemas, histories, states and questions."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace

from gitops.model.config import SafetyConfig
from gitops.model.findings import Finding, Severity
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import BrokerSettings, NamespacePolicies, TopicPolicies
from gitops.model.schema import SchemaEntry, SchemaHistory, SchemaInfo, SchemaType
from gitops.model.state import NamespaceState, RegistryState, Scope, TopicState
from gitops.model.waivers import Waiver
from gitops.planning.plan import PlanInput
from gitops.ports import Registry

ORDERS = NamespaceName("shop", "orders")
CREATED = TopicName(ORDERS, "created")
UNLIMITED = SafetyConfig(max_changed_share=1.0, allow_deletions=True)
"""Lets every plan through."""

TODAY = datetime.date(2026, 5, 12)
"""The day on which plans of tests are made."""

STRING = SchemaInfo(type=SchemaType.STRING)
INT64 = SchemaInfo(type=SchemaType.INT64)


def field(name: str, type_: object = "string", **more: object) -> dict[str, object]:
    """A field of an Avro record."""
    return {"name": name, "type": type_, **more}


def record(*fields: object, name: str = "Order", **more: object) -> dict[str, object]:
    """An Avro record."""
    return {"type": "record", "name": name, "fields": list(fields), **more}


def avro(*fields: object, name: str = "Order", **more: object) -> SchemaInfo:
    """An AVRO schema of a record."""
    return info(record(*fields, name=name, **more))


def info(
    definition: object,
    type_: SchemaType = SchemaType.AVRO,
    properties: Mapping[str, str] | None = None,
) -> SchemaInfo:
    """A schema; what is not text yet is written as JSON."""
    text = definition if isinstance(definition, str) else json.dumps(definition)
    return SchemaInfo(type=type_, schema=text, properties=properties or {})


def pair(
    key: object, value: object, key_type: str = "AVRO", value_type: str = "AVRO"
) -> SchemaInfo:
    """A KEY_VALUE schema."""
    types = {"key.schema.type": key_type, "value.schema.type": value_type}
    return info({"key": key, "value": value}, SchemaType.KEY_VALUE, types)


def history(*infos: SchemaInfo, after: int = 0) -> SchemaHistory:
    """These as live versions, oldest first, the first of them numbered `after`."""
    entries = tuple(SchemaEntry(version=i, info=one) for i, one in enumerate(infos, after))
    return SchemaHistory(entries=entries, next_version=after + len(infos))


def topic_state(
    topic: TopicName, *infos: SchemaInfo, policies: TopicPolicies | None = None, after: int = 0
) -> TopicState:
    """A topic with these versions."""
    return TopicState(
        topic=topic, history=history(*infos, after=after), policies=policies or TopicPolicies()
    )


def state(
    *topics: TopicState,
    namespaces: Mapping[NamespaceName, NamespacePolicies] | None = None,
) -> RegistryState:
    """A state of these topics, with their namespaces and those given."""
    given = dict(namespaces or {})
    for topic in topics:
        given.setdefault(topic.topic.namespace, NamespacePolicies())
    return RegistryState(
        namespaces={
            name: NamespaceState(namespace=name, policies=policies)
            for name, policies in given.items()
        },
        topics={topic.topic: topic for topic in topics},
    )


def question(  # noqa: PLR0913 - each is one member of a question
    desired: RegistryState,
    observed: RegistryState,
    *,
    broker: BrokerSettings | None = None,
    safety: SafetyConfig = UNLIMITED,
    content: Mapping[TopicName, tuple[Finding, ...]] | None = None,
    rules: Mapping[str, Severity] | None = None,
    waivers: Iterable[Waiver] = (),
    prune: bool = False,
) -> PlanInput:
    """What a plan is made from; `observed` need not name everything that `desired` names."""
    return PlanInput(
        registry="local",
        address="local.db",
        files="sha256:" + "0" * 64,
        desired=desired,
        observed=_completed(observed, desired),
        broker=broker or BrokerSettings(),
        safety=safety,
        locate=lambda _topic, _pointer: None,
        today=TODAY,
        content=content or {},
        rules=rules or {},
        waivers=tuple(waivers),
        prune=prune,
    )


def observe(registry: Registry, *states: RegistryState) -> RegistryState:
    """What a registry holds of everything that these states name."""
    namespaces = {name for one in states for name in one.namespaces}
    topics = {name for one in states for name in one.topics}
    return registry.observe(Scope(namespaces=frozenset(namespaces), topics=frozenset(topics)))


def _completed(observed: RegistryState, desired: RegistryState) -> RegistryState:
    missing = {
        name: NamespaceState(namespace=name, exists=False)
        for name in desired.namespaces
        if name not in observed.namespaces
    }
    empty = {name: TopicState(topic=name) for name in desired.topics if name not in observed.topics}
    return replace(
        observed,
        namespaces={**observed.namespaces, **missing},
        topics={**observed.topics, **empty},
    )
