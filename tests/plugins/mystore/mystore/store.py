"""The registry: one JSON file a namespace. It is for one user at a time."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable
from dataclasses import fields, replace
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from gitops.plugins import (
    BrokerSettings,
    NamespaceName,
    NamespacePolicies,
    NamespaceState,
    OutsideError,
    PolicyChange,
    Progress,
    RegistryConfig,
    RegistryRefusedError,
    RegistryState,
    SchemaAutoUpdateCompatibilityStrategy,
    SchemaCompatibilityStrategy,
    SchemaEntry,
    SchemaHistory,
    SchemaInfo,
    SchemaType,
    Scope,
    TenantName,
    TenantState,
    TopicName,
    TopicPartitions,
    TopicPolicies,
    TopicState,
    decide,
    effective_strategy,
    no_progress,
    stored_form,
)

P = TypeVar("P", NamespacePolicies, TopicPolicies)
Json = dict[str, Any]

_STRATEGIES: dict[str, type[Enum]] = {
    "schema_compatibility_strategy": SchemaCompatibilityStrategy,
    "schema_auto_update_compatibility_strategy": SchemaAutoUpdateCompatibilityStrategy,
}


class MyStore:
    """Decides as a broker does, with the function that gitops offers."""

    def __init__(self, name: str, folder: Path, config: RegistryConfig) -> None:
        self._name = name
        self._folder = folder
        self._config = config

    @property
    def name(self) -> str:
        return self._name

    @property
    def address(self) -> str:
        return self._config.address

    @property
    def broker(self) -> BrokerSettings:
        return self._config.broker

    def list_namespaces(self) -> tuple[NamespaceName, ...]:
        files = self._folder.glob("*/*.json")
        return tuple(sorted(NamespaceName(each.parent.name, each.stem) for each in files))

    def list_topics(self, namespace: NamespaceName) -> tuple[TopicName, ...]:
        topics = self._existing(namespace)["topics"]
        known = ("versions", "policies", "created")
        used = [name for name, each in topics.items() if any(map(each.get, known))]
        return tuple(sorted(TopicName(namespace, name) for name in used))

    def observe(self, scope: Scope, progress: Progress = no_progress) -> RegistryState:
        namespaces = {each: self._namespace_state(each) for each in sorted(scope.namespaces)}
        topics = {}
        for done, topic in enumerate(sorted(scope.topics), 1):
            topics[topic] = _topic_state(topic, self._topic(topic))
            progress("read schemas", done, len(scope.topics))
        return RegistryState(
            namespaces=namespaces,
            topics=topics,
            tenants={each: self._tenant_state(each) for each in sorted(scope.tenants)},
            partitions={each: self._partitions(each) for each in sorted(scope.partitions)},
        )

    def create_tenant(self, tenant: TenantState) -> None:
        folder = self._folder / str(tenant.tenant)
        if folder.exists():
            raise self._refused("Tenant already exists", 409, tenant.tenant)
        folder.mkdir(parents=True)

    def create_topic(self, topic: TopicName, partitions: int) -> None:
        content = self._existing(topic.namespace)
        place = _topic_of(content, topic)
        if place.get("created"):
            raise self._refused("Topic already exists", 409, topic)
        place |= {"created": True, "partitions": partitions}
        self._write(topic.namespace, content)

    def create_namespace(self, namespace: NamespaceName) -> None:
        if self._read(namespace) is not None:
            raise self._refused("Namespace already exists", 409, namespace)
        self._write(namespace, {"policies": {}, "topics": {}})

    def set_policies(
        self, subject: NamespaceName | TopicName, changes: Iterable[PolicyChange]
    ) -> None:
        namespace = subject.namespace if isinstance(subject, TopicName) else subject
        content = self._existing(namespace)
        place = _topic_of(content, subject) if isinstance(subject, TopicName) else content
        place["policies"] |= {_snake_case(each.key): _plain(each.after) for each in changes}
        self._write(namespace, content)

    def register_schema(self, topic: TopicName, info: SchemaInfo) -> int:
        content = self._existing(topic.namespace)
        place = _topic_of(content, topic)
        own = _policies(TopicPolicies(), place["policies"])
        policies = _policies(NamespacePolicies(), content["policies"])
        strategy = effective_strategy(own, policies, self.broker)
        decision = decide(_history(place), info, strategy, self.broker)
        if not decision.accepted or decision.version is None:
            raise self._refused(decision.reason, decision.status, topic)
        if not decision.known:
            place["versions"].append(_entry(decision.version, stored_form(info)))
            place["next"] = decision.version + 1
            self._write(topic.namespace, content)
        return decision.version

    def delete_schema(self, topic: TopicName, *, force: bool = False) -> int:
        content = self._existing(topic.namespace)
        place = _topic_of(content, topic)
        version = -1 if force else place["next"]
        place |= {"versions": [], "next": version + 1}
        self._write(topic.namespace, content)
        return int(version)

    def close(self) -> None:
        pass

    def _namespace_state(self, namespace: NamespaceName) -> NamespaceState:
        content = self._read(namespace)
        policies = _policies(NamespacePolicies(), content["policies"] if content else {})
        return NamespaceState(namespace=namespace, policies=policies, exists=content is not None)

    def _tenant_state(self, tenant: TenantName) -> TenantState:
        return TenantState(tenant=tenant, exists=(self._folder / str(tenant)).is_dir())

    def _partitions(self, topic: TopicName) -> TopicPartitions:
        place = self._topic(topic)
        if not place.get("created"):
            return TopicPartitions(topic=topic, exists=False)
        return TopicPartitions(topic=topic, count=place["partitions"])

    def _topic(self, topic: TopicName) -> Json:
        content = self._read(topic.namespace)
        return _topic_of(content, topic) if content else _new()

    def _existing(self, namespace: NamespaceName) -> Json:
        content = self._read(namespace)
        if content is None:
            raise self._refused("Namespace does not exist", 404, namespace)
        return content

    def _file(self, namespace: NamespaceName) -> Path:
        return self._folder / namespace.tenant / f"{namespace.local_name}.json"

    def _read(self, namespace: NamespaceName) -> Json | None:
        file = self._file(namespace)
        try:
            return dict(json.loads(file.read_text("utf-8"))) if file.exists() else None
        except (OSError, ValueError) as error:
            raise OutsideError(f"cannot be read: {error}", where=str(file)) from error

    def _write(self, namespace: NamespaceName, content: Json) -> None:
        file = self._file(namespace)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(content, indent=1), "utf-8")
        except OSError as error:
            raise OutsideError(f"cannot be written: {error}", where=str(file)) from error

    def _refused(self, what: str, status: int, subject: object) -> RegistryRefusedError:
        return RegistryRefusedError(what, status=status, where=f"{subject} in {self.address}")


def _new() -> Json:
    return {"next": 0, "versions": [], "policies": {}}


def _topic_of(content: Json, topic: TopicName) -> Json:
    topics: dict[str, Json] = content["topics"]
    return topics.setdefault(topic.local_name, _new())


def _topic_state(topic: TopicName, place: Json) -> TopicState:
    policies = _policies(TopicPolicies(), place["policies"])
    return TopicState(topic=topic, history=_history(place), policies=policies)


def _history(place: Json) -> SchemaHistory:
    entries = tuple(
        SchemaEntry(
            version=each["version"],
            timestamp=each["timestamp"],
            info=SchemaInfo(
                type=SchemaType(each["type"]),
                schema=each["schema"],
                properties=each["properties"],
            ),
        )
        for each in place["versions"]
    )
    return SchemaHistory(entries=entries, next_version=place["next"])


def _entry(version: int, info: SchemaInfo) -> Json:
    return {
        "version": version,
        "timestamp": time.time_ns() // 1_000_000,
        "type": info.type.value,
        "schema": info.schema,
        "properties": dict(info.properties),
    }


def _policies(none: P, stored: Json) -> P:
    known = {field.name for field in fields(none)}
    values: Json = {
        key: _STRATEGIES[key](value) if key in _STRATEGIES else value
        for key, value in stored.items()
        if key in known and value is not None
    }
    return replace(none, **values)


def _plain(value: object) -> object:
    return value.value if isinstance(value, Enum) else value


def _snake_case(key: str) -> str:
    return re.sub("([A-Z])", r"_\1", key).lower()
