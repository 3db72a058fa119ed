"""What the contract of registries puts in, and how it reads what came of it."""

from __future__ import annotations

import json

from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import PolicyChange, PolicyValue, TopicPolicies
from gitops.model.schema import SchemaHistory, SchemaInfo, SchemaType
from gitops.model.state import NamespaceState, Scope
from gitops.ports import Registry

KEY_VALUE_PROPERTIES = {
    "key.schema.name": "",
    "key.schema.type": "STRING",
    "key.schema.properties": "{}",
    "value.schema.name": "",
    "value.schema.type": "AVRO",
    "value.schema.properties": "{}",
    "kv.encoding.type": "SEPARATED",
}


def record(*fields: object, name: str = "Order", **mapping: object) -> str:
    """The text of an Avro record."""
    return json.dumps({"type": "record", "name": name, "fields": list(fields), **mapping})


def field(name: str, type_: object = "string", **mapping: object) -> dict[str, object]:
    """A field of an Avro record."""
    return {"name": name, "type": type_, **mapping}


def avro(*fields: object, **mapping: object) -> SchemaInfo:
    """An AVRO schema of a record."""
    return SchemaInfo(type=SchemaType.AVRO, schema=record(*fields, **mapping))  # type: ignore[arg-type]


def history(registry: Registry, topic: TopicName) -> SchemaHistory:
    """The topic's history as the registry tells it now."""
    return registry.observe(Scope(topics=frozenset({topic}))).topics[topic].history


def stored_versions(registry: Registry, topic: TopicName) -> list[tuple[int, SchemaInfo]]:
    """The live versions with what they hold."""
    return [(entry.version, entry.info) for entry in history(registry, topic).entries]


def namespace_state(registry: Registry, namespace: NamespaceName) -> NamespaceState:
    """A namespace as the registry tells it now."""
    return registry.observe(Scope(namespaces=frozenset({namespace}))).namespaces[namespace]


def topic_policies(registry: Registry, topic: TopicName) -> TopicPolicies:
    """A topic's own policies as the registry tells them now."""
    return registry.observe(Scope(topics=frozenset({topic}))).topics[topic].policies


def change(key: str, after: PolicyValue) -> PolicyChange:
    """A change of one key, whatever it was before."""
    return PolicyChange(key=key, before=None, after=after)


A, B = field("a"), field("b", default="")
