"""A Registry that only writes down what it is asked to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gitops.model.errors import GitopsError, OutsideError, RegistryRefusedError
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import BrokerSettings, PolicyChange
from gitops.model.schema import SchemaInfo
from gitops.model.state import NamespaceState, RegistryState, Scope, TopicState
from gitops.ports import Progress, UnreadableTopicsError, no_progress


class FakeRegistry:
    """Holds `state`; answers `versions` one after the other; fails on the call number `fails_at`.

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
        )
        if broken:
            raise UnreadableTopicsError(state, broken, where=self.address)
        return state

    def create_namespace(self, namespace: NamespaceName) -> None:
        self._call("create", namespace)

    def set_policies(
        self, subject: NamespaceName | TopicName, changes: Iterable[PolicyChange]
    ) -> None:
        self._call("set", (subject, *(change.key for change in changes)))

    def register_schema(self, topic: TopicName, info: SchemaInfo) -> int:
        self._call("register", (topic, info))
        return next(self._versions)

    def delete_schema(self, topic: TopicName, *, force: bool = False) -> int:
        self._call("forget" if force else "delete", topic)
        return 0

    def close(self) -> None:
        self._call("close", None)

    def _call(self, what: str, about: object) -> None:
        if len(self.calls) == self._fails_at:
            raise self._error
        self.calls.append((what, about))
