"""A Registry that only writes down what it is asked to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from gitops.model.errors import GitopsError, OutsideError, RegistryRefusedError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import CreateNamespace, DeleteSchema, SetPolicy
from gitops.model.policy import BrokerSettings, PolicyChange
from gitops.model.schema import SchemaEntry, SchemaHistory, SchemaInfo
from gitops.model.state import (
    NamespaceState,
    RegistryState,
    Scope,
    TenantState,
    TopicPartitions,
    TopicState,
)
from gitops.planning.fingerprints import Subject, fingerprints_after
from gitops.planning.plan import subject_of
from gitops.ports import Progress, UnreadableTopicsError, no_progress


class FakeRegistry:
    """Holds `state`, and what is written; answers `versions` one after the other.

    It fails on the call number `fails_at`, with `fails_once` and on no later one.

    `calls` are the writes, in order. The topics of `unlisted` namespaces may not be listed, and
    what is `unread` may not be read; the answer to that has `refusal` as its status. It fails on
    the schemas of `broken` topics, with these reasons.
    """

    def __init__(  # noqa: PLR0913 - each is for some tests, by name
        self,
        state: RegistryState | None = None,
        *,
        versions: Iterable[int] = (),
        fails_at: int = -1,
        fails_once: bool = False,
        error: GitopsError | None = None,
        listed: Iterable[TopicName] = (),
        unlisted: Iterable[NamespaceName] = (),
        broker: BrokerSettings | None = None,
        unread: Iterable[TopicName | NamespaceName] = (),
        refusal: int = 403,
        broken: Mapping[TopicName, str] | None = None,
    ) -> None:
        self._state = state or RegistryState()
        self._versions = iter(versions)
        self._fails_at = fails_at
        self._fails_once = fails_once
        self._error = error or OutsideError("the wire is cut", where="nowhere", hint="mend it")
        self._listed = tuple(listed)
        self._unlisted = frozenset(unlisted)
        self._unread = frozenset(unread)
        self._refusal = refusal
        self._broken = broken or {}
        self._broker = broker or BrokerSettings()
        self.calls: list[tuple[str, object]] = []
        self.asked: list[Scope] = []

    @property
    def name(self) -> str:
        return "fake"

    @property
    def address(self) -> str:
        return "nowhere"

    @property
    def broker(self) -> BrokerSettings:
        return self._broker

    def list_namespaces(self) -> tuple[NamespaceName, ...]:
        return tuple(sorted(name for name, each in self._state.namespaces.items() if each.exists))

    def list_topics(self, namespace: NamespaceName) -> tuple[TopicName, ...]:
        if namespace not in self.list_namespaces():
            raise OutsideError(f"there is no namespace {namespace}")
        if namespace in self._unlisted:
            raise RegistryRefusedError("not for you", status=403)
        return tuple(topic for topic in self._listed if topic.namespace == namespace)

    def observe(self, scope: Scope, progress: Progress = no_progress) -> RegistryState:
        self.asked.append(scope)
        if self._unread & (scope.topics | scope.namespaces):
            raise RegistryRefusedError("not for you", status=self._refusal)
        progress("observing", 0, len(scope.topics))
        known = self._state
        broken = {name: self._broken[name] for name in scope.topics if name in self._broken}
        state = RegistryState(
            namespaces={
                name: known.namespaces.get(name, NamespaceState(namespace=name, exists=False))
                for name in scope.namespaces
            },
            topics={
                name: known.topics.get(name, TopicState(topic=name))
                for name in scope.topics - broken.keys()
            },
            tenants={
                name: known.tenants.get(name, TenantState(tenant=name, exists=False))
                for name in scope.tenants
            },
            partitions={
                name: known.partitions.get(name, TopicPartitions(topic=name, exists=False))
                for name in scope.partitions
            },
        )
        if broken:
            raise UnreadableTopicsError(state, broken, where=self.address)
        return state

    def create_namespace(self, namespace: NamespaceName) -> None:
        self._call("create", namespace)
        self._put(CreateNamespace(namespace=namespace))

    def create_tenant(self, tenant: TenantState) -> None:
        self._call("tenant", tenant.tenant)
        tenants = {**self._state.tenants, tenant.tenant: tenant}
        self._state = replace(self._state, tenants=tenants)

    def create_topic(self, topic: TopicName, partitions: int) -> None:
        self._call("topic", (topic, partitions))
        made = {**self._state.partitions, topic: TopicPartitions(topic=topic, count=partitions)}
        self._state = replace(self._state, partitions=made)

    def set_policies(
        self, subject: NamespaceName | TopicName, changes: Iterable[PolicyChange]
    ) -> None:
        changes = tuple(changes)
        self._call("set", (subject, *(change.key for change in changes)))
        for change in changes:
            self._put(SetPolicy(subject=subject, change=change))

    def register_schema(self, topic: TopicName, info: SchemaInfo) -> int:
        self._call("register", (topic, info))
        version = next(self._versions)
        entries = self._state.topics.get(topic, TopicState(topic=topic)).history.entries
        entries = (*entries, SchemaEntry(version=version, info=info))
        history = SchemaHistory(entries=entries, next_version=version + 1)
        its = self._state.topics.get(topic, TopicState(topic=topic))
        self._hold(replace(its, history=history))
        return version

    def delete_schema(self, topic: TopicName, *, force: bool = False) -> int:
        self._call("forget" if force else "delete", topic)
        self._put(DeleteSchema(topic=topic, versions=()))
        return 0

    def mend(self) -> None:
        """It fails no more."""
        self._fails_at = -1

    def close(self) -> None:
        self._call("close", None)

    def _call(self, what: str, about: object) -> None:
        if len(self.calls) == self._fails_at:
            self._fails_at = -1 if self._fails_once else self._fails_at
            raise self._error
        self.calls.append((what, about))

    def _put(self, action: CreateNamespace | SetPolicy | DeleteSchema) -> None:
        subject = subject_of(action)
        match subject:
            case NamespaceName():
                absent = NamespaceState(namespace=subject, exists=False)
                self._hold(fingerprints_after(self._state.namespaces.get(subject, absent), action))
            case TopicName():
                its = self._state.topics.get(subject, TopicState(topic=subject))
                self._hold(fingerprints_after(its, action))

    def _hold(self, its: Subject) -> None:
        namespaces, topics = dict(self._state.namespaces), dict(self._state.topics)
        if isinstance(its, NamespaceState):
            namespaces[its.namespace] = its
        if isinstance(its, TopicState):
            topics[its.topic] = its
        self._state = replace(self._state, namespaces=namespaces, topics=topics)
