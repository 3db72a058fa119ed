"""Which request sets which policy, and what removes it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from gitops.model.errors import UsageError
from gitops.model.names import NamespaceName
from gitops.model.policy import (
    SchemaAutoUpdateCompatibilityStrategy,
    SchemaCompatibilityStrategy,
)
from gitops.registry.pulsar.names import namespace_path, topic_path

if TYPE_CHECKING:
    from gitops.model.names import TopicName
    from gitops.model.policy import PolicyChange, PolicyValue


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRequest:
    """A request that sets or removes one policy."""

    method: str
    path: str
    body: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Route:
    """How a key is written; `removal` is method and body, None where it cannot be removed."""

    method: str
    type: type
    removal: tuple[str, bytes | None] | None


# Seen on Pulsar 4.0.7. A namespace's isAllowAutoUpdateSchema and a topic's
# schemaValidationEnforced have no request that removes them: a posted `null` is stored as false.
# A namespace's schemaValidationEnforced is a plain boolean, and false is the same as not set.
_NAMESPACE: Final = {
    "schemaCompatibilityStrategy": _Route(
        method="PUT", type=SchemaCompatibilityStrategy, removal=("PUT", b'"UNDEFINED"')
    ),
    "isAllowAutoUpdateSchema": _Route(method="POST", type=bool, removal=None),
    "schemaValidationEnforced": _Route(method="POST", type=bool, removal=("POST", b"false")),
    "schemaAutoUpdateCompatibilityStrategy": _Route(
        method="PUT", type=SchemaAutoUpdateCompatibilityStrategy, removal=("PUT", b"null")
    ),
}
_TOPIC: Final = {
    "schemaCompatibilityStrategy": _Route(
        method="PUT", type=SchemaCompatibilityStrategy, removal=("DELETE", None)
    ),
    "schemaValidationEnforced": _Route(method="POST", type=bool, removal=None),
}


def policy_request(subject: NamespaceName | TopicName, change: PolicyChange) -> PolicyRequest:
    """The request for one change.

    Raises UsageError for a key that the subject does not have, a value of another key's type (a
    topic's strategy of another type is stored as none without a word), and a removal that Pulsar
    has no request for.
    """
    if isinstance(subject, NamespaceName):
        routes, base = _NAMESPACE, f"namespaces/{namespace_path(subject)}"
    else:
        routes, base = _TOPIC, f"{subject.domain}/{topic_path(subject)}"
    route = routes.get(change.key)
    if route is None:
        raise UsageError(
            f"'{change.key}' is no schema policy of a "
            f"{'namespace' if routes is _NAMESPACE else 'topic'}",
            where=str(subject),
            hint=f"it is one of {', '.join(routes)}",
        )
    method, body = _content(route, change, subject)
    return PolicyRequest(method=method, path=f"{base}/{change.key}", body=body)


def _content(
    route: _Route, change: PolicyChange, subject: NamespaceName | TopicName
) -> tuple[str, bytes | None]:
    if change.after is None:
        if route.removal is None:
            raise UsageError(
                f"Pulsar cannot remove {change.key} once it is set",
                where=str(subject),
                hint="set it to true or false instead",
            )
        return route.removal
    if not isinstance(change.after, route.type):
        raise UsageError(f"{change.key} cannot be {_text(change.after)}", where=str(subject))
    return route.method, json.dumps(_text(change.after)).encode()


def _text(value: PolicyValue) -> object:
    return value.value if isinstance(value, Enum) else value
