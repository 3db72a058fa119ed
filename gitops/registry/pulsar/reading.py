"""Single reads: a namespace's policies, a topic's history and policies, lists of names."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final, final

from gitops.model.errors import InvalidNameError
from gitops.model.policy import TopicPolicies
from gitops.model.schema import SchemaHistory
from gitops.model.state import NamespaceState
from gitops.registry.pulsar import wire
from gitops.registry.pulsar.failures import refusal, unexpected
from gitops.registry.pulsar.names import (
    namespace_path,
    own_namespaces,
    own_topics,
    schema_path,
    topic_path,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from gitops.model.names import NamespaceName, TopicName
    from gitops.registry.pulsar.failures import Answer
    from gitops.registry.pulsar.transport import Transport

_OK: Final = (HTTPStatus.OK, HTTPStatus.NO_CONTENT)
# Pulsar 4.0.7: 404 for a topic that was never created, for a non-persistent one without
# partitions, and in a namespace that does not exist; 405 where the broker has
# topicLevelPoliciesEnabled=false. None of them has policies of its own.
_NO_TOPIC_POLICIES: Final = (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED)

TENANTS_PERMISSION: Final = "a superuser role, as it lists all tenants; or name the namespaces"
NAMESPACES_PERMISSION: Final = "the role of an administrator of the tenant"
POLICIES_PERMISSION: Final = "the role of an administrator of the tenant, to read policies"
TOPICS_PERMISSION: Final = "the role of an administrator of the tenant, to list its topics"
SCHEMA_PERMISSION: Final = "the permission to produce or to consume on the topic"


@final
class Reading:
    """Reads of one cluster; safe to use from several threads at once."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    # ---------------------------------------------------------------- lists

    def tenants(self) -> list[str]:
        """All tenants."""
        return wire.read_names(self._get("tenants", permission=TENANTS_PERMISSION))

    def namespaces(self, tenant: str) -> list[NamespaceName]:
        """The namespaces that people made in a tenant."""
        answer = self._get(f"namespaces/{tenant}", permission=NAMESPACES_PERMISSION)
        try:
            return own_namespaces(wire.read_names(answer))
        except InvalidNameError as cause:
            raise unexpected(answer, f"a list of namespaces ({cause})") from cause

    def topics(self, namespace: NamespaceName) -> set[TopicName]:
        """The topics that people made and the cluster can name, partitions folded.

        A partitioned topic stands in a list of its own, whether or not its partitions exist.
        """
        found: set[TopicName] = set()
        for domain in ("persistent", "non-persistent"):
            for rest in ("", "/partitioned"):
                found |= self._listed(f"{domain}/{namespace_path(namespace)}{rest}")
        return found

    def existing(self, namespace: NamespaceName) -> set[TopicName]:
        """The topics that may have policies of their own; none where there is no such namespace."""
        found: set[TopicName] = set()
        for rest in ("", "/partitioned"):
            for domain in ("persistent", "non-persistent"):
                path = f"{domain}/{namespace_path(namespace)}{rest}"
                found |= self._listed(path, accepted=(HTTPStatus.NOT_FOUND,))
        return found

    def _listed(self, path: str, accepted: Collection[HTTPStatus] = ()) -> set[TopicName]:
        answer = self._get(path, permission=TOPICS_PERMISSION, accepted=accepted)
        return own_topics(wire.read_names(answer)) if answer.status == HTTPStatus.OK else set()

    # ---------------------------------------------------------------- namespaces

    def namespace(self, namespace: NamespaceName) -> NamespaceState:
        """A namespace with its policies, or that it, or its tenant, does not exist."""
        answer = self._get(
            f"namespaces/{namespace_path(namespace)}",
            permission=POLICIES_PERMISSION,
            accepted=(HTTPStatus.NOT_FOUND,),
        )
        if answer.status == HTTPStatus.OK:
            return NamespaceState(namespace=namespace, policies=wire.read_namespace(answer))
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
        entries = wire.read_entries(self._get(f"{path}/schemas", permission=SCHEMA_PERMISSION))
        if entries:
            return SchemaHistory(entries=entries, next_version=entries[-1].version + 1)
        answer = self._get(f"{path}/metadata", permission=SCHEMA_PERMISSION, accepted=_OK)
        return wire.read_empty_history(answer)

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
            schema_compatibility_strategy=wire.read_topic_strategy(answer),
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
        return answer.status == HTTPStatus.OK and wire.read_boolean(answer)

    def _topic_policy(self, topic: TopicName, key: str) -> Answer:
        return self._get(
            f"{topic.domain}/{topic_path(topic)}/{key}",
            permission=POLICIES_PERMISSION,
            accepted=_NO_TOPIC_POLICIES,
        )

    # ---------------------------------------------------------------- one request

    def _get(self, path: str, *, permission: str, accepted: Collection[HTTPStatus] = ()) -> Answer:
        """An answer of 200 or of an accepted status; raises OutsideError for all others."""
        answer = self._transport.get(path)
        if answer.status == HTTPStatus.OK or answer.status in accepted:
            return answer
        message = self._transport.redact(answer.message)
        raise refusal(answer, message, permission=permission)
