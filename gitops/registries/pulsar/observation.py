"""Reads schemas and policies of a scope from admin REST, several requests at a time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, Protocol, final

from gitops.model.errors import InvalidNameError, OutsideError
from gitops.model.policy import TopicPolicies
from gitops.model.schema import SchemaHistory
from gitops.model.state import NamespaceState, RegistryState, TopicState
from gitops.ports import UnreadableTopicsError
from gitops.registries.pulsar import response_bodies
from gitops.registries.pulsar.address import (
    namespace_path,
    schema_path,
    topic_path,
    user_namespaces,
    user_topics,
)
from gitops.registries.pulsar.error_responses import FailedReadError, refusal, unexpected_body
from gitops.registries.pulsar.threads import map_in_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from gitops.model.names import NamespaceName, TopicName
    from gitops.model.policy import BrokerSettings
    from gitops.model.schema import SchemaInfo
    from gitops.model.state import Scope
    from gitops.ports import Progress
    from gitops.registries.pulsar.admin_client import AdminClient
    from gitops.registries.pulsar.error_responses import Answer
    from gitops.registries.pulsar.settings import PulsarConfig

# Single reads: a namespace's policies, a topic's history and policies, lists of names.


_NO_HISTORY: Final = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_FOUND)
# Pulsar 4.0.7: 404 for a topic that was never created, for a non-persistent one without
# partitions, and in a namespace that does not exist; 405 where the broker has
# topicLevelPoliciesEnabled=false. None of them has policies of its own.
_NO_TOPIC_POLICIES: Final = (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED)

_POLICY_TOPIC: Final = "__change_events"

_NO_SCALABLE: Final = (
    HTTPStatus.NOT_FOUND,
    HTTPStatus.METHOD_NOT_ALLOWED,
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
)
"""A broker before 5.0 has no such path, and a gateway before it may not know it."""

TENANTS_PERMISSION: Final = "a superuser role, as it lists all tenants; or name the namespaces"
NAMESPACES_PERMISSION: Final = "the role of an administrator of the tenant"
POLICIES_PERMISSION: Final = "the role of an administrator of the tenant, to read policies"
TOPICS_PERMISSION: Final = "the role of an administrator of the tenant, to list its topics"
SCHEMA_PERMISSION: Final = "the permission to produce or to consume on the topic"


def list_paths(namespace: NamespaceName) -> tuple[str, ...]:
    """The lists of a namespace's topics that every broker has."""
    return tuple(
        f"{domain}/{namespace_path(namespace)}{rest}"
        for domain in ("persistent", "non-persistent")
        for rest in ("", "/partitioned")
    )


@final
class RegistryReader:
    """Reads of one cluster; safe to use from several threads at once."""

    def __init__(self, admin_client: AdminClient) -> None:
        self._admin_client = admin_client

    def tenants(self) -> list[str]:
        """All tenants."""
        return response_bodies.read_names(self._get("tenants", permission=TENANTS_PERMISSION))

    def namespaces(self, tenant: str) -> list[NamespaceName]:
        """The namespaces that people made in a tenant."""
        answer = self._get(f"namespaces/{tenant}", permission=NAMESPACES_PERMISSION)
        try:
            return user_namespaces(response_bodies.read_names(answer))
        except InvalidNameError as cause:
            raise unexpected_body(answer, f"a list of namespaces ({cause})") from cause

    def topics(self, namespace: NamespaceName, *, threads: int) -> set[TopicName]:
        """The topics that people made and the cluster can name, partitions folded.

        A partitioned topic stands in a list of its own, whether or not its partitions exist, and so
        does a scalable one, from Pulsar 5.0 on.
        """
        scalable = f"scalable/{namespace_path(namespace)}"
        asked: list[tuple[str, Collection[HTTPStatus]]] = [
            *((path, ()) for path in list_paths(namespace)),
            (scalable, _NO_SCALABLE),
        ]
        topics = map_in_threads(
            lambda pair: self.list_topics(*pair),
            asked,
            threads=threads,
            on_progress=lambda _done: None,
        )
        return set().union(*topics)

    def list_topics(self, path: str, accepted: Collection[HTTPStatus] = ()) -> set[TopicName]:
        """The topics of one list; none where the answer has an accepted status."""
        answer = self._get(path, permission=TOPICS_PERMISSION, accepted=accepted)
        return (
            user_topics(response_bodies.read_names(answer))
            if answer.status == HTTPStatus.OK
            else set()
        )

    # ---------------------------------------------------------------- namespaces

    def namespace(self, namespace: NamespaceName) -> NamespaceState:
        """A namespace with its policies, or that it, or its tenant, does not exist."""
        answer = self._get(
            f"namespaces/{namespace_path(namespace)}",
            permission=POLICIES_PERMISSION,
            accepted=(HTTPStatus.NOT_FOUND,),
        )
        if answer.status == HTTPStatus.OK:
            return response_bodies.read_namespace(answer, namespace)
        # Pulsar 4.0.7 says "Namespace does not exist" for a missing tenant too.
        tenant = self._get(
            f"namespaces/{namespace.tenant}",
            permission=NAMESPACES_PERMISSION,
            accepted=(HTTPStatus.NOT_FOUND, HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN),
        )
        # Who may not ask is told so when the namespace is created.
        exists = tenant.status != HTTPStatus.NOT_FOUND
        return NamespaceState(namespace=namespace, exists=False, tenant_exists=exists)

    # ---------------------------------------------------------------- topics

    def history(self, topic: TopicName) -> SchemaHistory:
        """All live versions; one more request tells the next number where there are none."""
        path = schema_path(topic)
        entries = response_bodies.read_entries(
            self._get(f"{path}/schemas", permission=SCHEMA_PERMISSION)
        )
        if entries:
            return SchemaHistory(entries=entries, next_version=entries[-1].version + 1)
        answer = self._get(f"{path}/metadata", permission=SCHEMA_PERMISSION, accepted=_NO_HISTORY)
        return response_bodies.read_empty_history(answer)

    def may_have_topic_policies(self, namespace: NamespaceName) -> bool:
        """Whether a topic of a namespace may have policies, where these are kept in a topic.

        Each change is a message of `__change_events`, compacted or not (Pulsar 3.0.7, 4.0.7, 4.2.4
        and 5.0.0-M1), so there are none while that has never had one. Who deletes or truncates that
        topic deletes the policies, but brokers keep to them until they load the namespace again.
        """
        path = f"persistent/{namespace_path(namespace)}/{_POLICY_TOPIC}/internalStats"
        try:
            answer = self._admin_client.get(path)
        except OutsideError:
            return True
        return answer.status != HTTPStatus.OK or not response_bodies.read_never_written(answer)

    def topic_policies(self, topic: TopicName, *, enforced_above: bool) -> TopicPolicies | None:
        """A topic's own policies, None where it can have none.

        Pulsar 4.0.7 answers `false` both for a `schemaValidationEnforced` that is false and for
        one that was never set. The two differ only where namespace or broker enforce validation
        (`enforced_above`), and there `applied=true` tells which it is.
        """
        answer = self._topic_policy(topic, "schemaCompatibilityStrategy")
        if answer.status in _NO_TOPIC_POLICIES:
            return None
        return TopicPolicies(
            schema_compatibility_strategy=response_bodies.read_topic_strategy(answer),
            schema_validation_enforced=self._validation(topic, enforced_above=enforced_above),
        )

    def _validation(self, topic: TopicName, *, enforced_above: bool) -> bool | None:
        key = "schemaValidationEnforced"
        if self._is_true(self._topic_policy(topic, key)):
            return True
        if not enforced_above:
            return None
        applied = self._topic_policy(topic, f"{key}?applied=true")
        return None if self._is_true(applied) else False

    @staticmethod
    def _is_true(answer: Answer) -> bool:
        # The topic may have been deleted since its strategy was read.
        return answer.status == HTTPStatus.OK and response_bodies.read_boolean(answer)

    def _topic_policy(self, topic: TopicName, key: str) -> Answer:
        return self._get(
            f"{topic.domain}/{topic_path(topic)}/{key}",
            permission=POLICIES_PERMISSION,
            accepted=_NO_TOPIC_POLICIES,
        )

    def _get(self, path: str, *, permission: str, accepted: Collection[HTTPStatus] = ()) -> Answer:
        """An answer of 200 or of an accepted status; raises OutsideError for all others."""
        answer = self._admin_client.get(path)
        if answer.status == HTTPStatus.OK or answer.status in accepted:
            return answer
        message = self._admin_client.redact(answer.message)
        raise refusal(answer, message, permission=permission)


# Reads a whole scope: which requests are worth making, several at a time, in a fixed order.


_WORTH_LISTING: Final = 4
"""From how many topics on a list of the namespace's topics spares more requests than it costs."""


class BrokerSource(Protocol):
    """What is known of the cluster's brokers; namespaces may show more of it."""

    @property
    def settings(self) -> BrokerSettings:
        """What is known, asked for when needed."""

    def add(self, namespaces: Iterable[NamespaceState]) -> None:
        """Namespaces that may be asked."""


@dataclass(frozen=True, slots=True)
class _Observer:
    """What all reads of one observation share."""

    reading: RegistryReader
    config: PulsarConfig
    progress: Progress
    total: int
    broker: BrokerSource

    def namespaces(self, scope: Scope) -> dict[NamespaceName, NamespaceState]:
        names = sorted(scope.namespaces)
        states = map_in_threads(
            self.reading.namespace,
            names,
            threads=self.config.concurrency,
            on_progress=self._reporter("reading policies", 0),
        )
        return dict(zip(names, states, strict=True))

    def existing(self, scope: Scope) -> dict[NamespaceName, set[TopicName]]:
        """The topics that may have policies of their own, of namespaces with many in the scope.

        None where there is no such namespace.
        """
        asked = Counter(topic.namespace for topic in scope.topics if scope.topic_policies)
        names = sorted(name for name, count in asked.items() if count >= _WORTH_LISTING)
        lists = [(name, path) for name in names for path in list_paths(name)]
        items = map_in_threads(
            lambda entries: self.reading.list_topics(entries[1], (HTTPStatus.NOT_FOUND,)),
            lists,
            threads=self.config.concurrency,
            on_progress=lambda _done: None,
        )
        topics: dict[NamespaceName, set[TopicName]] = {name: set() for name in names}
        for (name, _), some in zip(lists, items, strict=True):
            topics[name] |= some
        return topics

    def without_policies(
        self, scope: Scope, existing: Mapping[NamespaceName, set[TopicName]]
    ) -> set[TopicName]:
        """Those of the settled topics that are likely to have no policies.

        Of one that is not persistent only its partitions can have some, so that is asked for.
        """
        settled = scope.settled.keys()
        names = sorted(name for name, topics in existing.items() if topics & settled)
        if not (names and self.broker.settings.has_policy_topics):
            return set()
        may_have = map_in_threads(
            self.reading.may_have_topic_policies,
            names,
            threads=self.config.concurrency,
            on_progress=lambda _done: None,
        )
        without = [name for name, may in zip(names, may_have, strict=True) if not may]
        spared = {topic for name in without for topic in existing[name] & settled}
        return {topic for topic in spared if topic.domain == "persistent"}

    def topics(
        self,
        scope: Scope,
        namespaces: Mapping[NamespaceName, NamespaceState],
        existing: Mapping[NamespaceName, set[TopicName]],
    ) -> dict[TopicName, TopicState | FailedReadError]:
        without_policies = self.without_policies(scope, existing)

        def read(topic: TopicName) -> TopicState | FailedReadError:
            known = existing.get(topic.namespace)
            try:
                history = self.reading.history(topic)
            except FailedReadError as error:
                return error
            is_spared = topic in without_policies and _is_latest(scope.settled[topic], history)
            if is_spared or not scope.topic_policies:
                return TopicState(topic=topic, history=history)
            if known is not None and topic not in known:
                return TopicState(topic=topic, history=history, exists=False)
            policies = self._policies(topic, namespaces.get(topic.namespace))
            if policies is None:
                return TopicState(topic=topic, history=history, exists=False)
            return TopicState(topic=topic, history=history, policies=policies)

        names = sorted(scope.topics)
        items = map_in_threads(
            read,
            names,
            threads=self.config.concurrency,
            on_progress=self._reporter("reading schemas", len(scope.namespaces)),
        )
        return dict(zip(names, items, strict=True))

    def _policies(self, topic: TopicName, namespace: NamespaceState | None) -> TopicPolicies | None:
        by_namespace = namespace is not None and namespace.policies.schema_validation_enforced
        enforced = bool(by_namespace) or self.broker.settings.is_schema_validation_enforced
        return self.reading.topic_policies(topic, enforced_above=enforced)

    def _reporter(self, what: str, before: int) -> Callable[[int], None]:
        """Tells the Progress how many of all names are done."""
        return lambda done: self.progress(what, before + done, self.total)


def _is_latest(info: SchemaInfo, history: SchemaHistory) -> bool:
    return bool(history.entries) and history.entries[-1].info == info


def observe(
    reading: RegistryReader,
    config: PulsarConfig,
    scope: Scope,
    progress: Progress,
    broker: BrokerSource,
) -> RegistryState:
    """Everything in `scope`, sorted by name; raises OutsideError where anything is not known.

    A topic on which the broker fails (500) stops no other: UnreadableTopicsError has the rest.

    One request for each namespace, one for each topic, and more only where they tell something:
    the next version of an empty history, and the policies of topics that exist, unless they are
    settled and their namespace shows that none of them has any.
    """
    total = len(scope.namespaces) + len(scope.topics)
    observer = _Observer(reading, config, progress, total, broker)
    namespaces = observer.namespaces(scope)
    broker.add(namespaces.values())
    read = observer.topics(scope, namespaces, observer.existing(scope))
    topics = {name: item for name, item in read.items() if isinstance(item, TopicState)}
    state = RegistryState(namespaces=namespaces, topics=topics)
    failed = {name: item for name, item in read.items() if isinstance(item, FailedReadError)}
    if failed:
        reasons = {name: error.what for name, error in failed.items()}
        raise UnreadableTopicsError(state, reasons, where=min(failed.items())[1].where)
    return state
