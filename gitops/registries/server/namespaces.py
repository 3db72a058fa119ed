"""The endpoints under /admin/v2/namespaces."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from starlette.responses import Response

from gitops.model.errors import RegistryRefusedError
from gitops.model.policy import NamespacePolicies, PolicyChange, PolicyValue
from gitops.registries.embedded.namespace_rows import CLUSTER
from gitops.registries.server import request_bodies, responses
from gitops.registries.server.requests import Call
from gitops.registries.server.topics import topic_and_partition_names

_BOUNDARIES: Final = ("0x00000000", "0x40000000", "0x80000000", "0xc0000000", "0xffffffff")


def list_namespaces(call: Call) -> Response:
    """The full names of a tenant's namespaces."""
    namespaces = call.administration.namespaces(call.params["tenant"])
    return responses.value([str(namespace) for namespace in namespaces])


def get_namespace(call: Call) -> Response:
    """All policies: the schema policies, and a new namespace's values for the others."""
    return responses.value(_shown(_policies(call), call))


def put_namespace(call: Call) -> Response:
    """Create a namespace, with the schema policies of the body."""
    policies, clusters = request_bodies.namespace_payload(call.json_body())
    namespace = call.namespace
    strangers = sorted(set(clusters) - {CLUSTER})
    if strangers:
        raise RegistryRefusedError(
            f"Cluster [{', '.join(strangers)}] is not in the list of allowed clusters list "
            f"for tenant [{namespace.tenant}]",
            status=HTTPStatus.FORBIDDEN,
        )
    call.administration.create_namespace(namespace, policies)
    return responses.no_content()


def delete_namespace(call: Call) -> Response:
    """Remove a namespace without topics; `force=true` is refused as a broker's default is."""
    namespace = call.namespace
    if call.asked("force"):
        raise RegistryRefusedError(
            "Broker doesn't allow forced deletion of namespaces",
            status=HTTPStatus.METHOD_NOT_ALLOWED,
        )
    call.administration.delete_namespace(namespace)
    return responses.no_content()


def list_topics(call: Call) -> Response:
    """The created topics; `mode` is PERSISTENT (the default), NON_PERSISTENT or ALL."""
    created = call.administration.topics(call.namespace)
    mode = call.query.get("mode", "PERSISTENT")
    persistent = (
        [] if mode == "NON_PERSISTENT" else topic_and_partition_names(created, "persistent")
    )
    others = (
        topic_and_partition_names(created, "non-persistent")
        if mode in ("NON_PERSISTENT", "ALL")
        else []
    )
    return responses.value([*persistent, *others])


def get_strategy(call: Call) -> Response:
    """The strategy, UNDEFINED where none was set."""
    strategy = _policies(call).schema_compatibility_strategy
    return responses.value(strategy.value if strategy else "UNDEFINED")


def put_strategy(call: Call) -> Response:
    """Set the strategy; null and what is not known make it undefined."""
    value = request_bodies.strategy(request_bodies.parse(call.json_body()))
    return _set(call, "schemaCompatibilityStrategy", value)


def get_legacy_strategy(call: Call) -> Response:
    """The legacy strategy, 204 where none was set."""
    strategy = _policies(call).schema_auto_update_compatibility_strategy
    return responses.value(strategy.value) if strategy else responses.no_content()


def put_legacy_strategy(call: Call) -> Response:
    """Set the legacy strategy; null and what is not known remove it."""
    value = request_bodies.legacy_strategy(request_bodies.parse(call.json_body()))
    return _set(call, "schemaAutoUpdateCompatibilityStrategy", value)


def get_allow_auto_update(call: Call) -> Response:
    """Whether producers may register schemas: what was set, else the broker's default."""
    return responses.value(_allows_auto_update(_policies(call), call))


def post_allow_auto_update(call: Call) -> Response:
    """Set whether producers may register schemas."""
    return _set(call, "isAllowAutoUpdateSchema", request_bodies.required_flag(call.json_body()))


def get_validation_enforced(call: Call) -> Response:
    """Whether producers need a schema: what was set, else false."""
    applied = call.asked("applied") and call.registry.broker.is_schema_validation_enforced
    return responses.value(bool(_policies(call).schema_validation_enforced) or applied)


def post_validation_enforced(call: Call) -> Response:
    """Set whether producers need a schema."""
    return _set(call, "schemaValidationEnforced", request_bodies.required_flag(call.json_body()))


def _policies(call: Call) -> NamespacePolicies:
    """The namespace's policies; refused (404) where there is no such namespace."""
    policies = call.administration.namespace(call.namespace)
    if policies is None:
        raise RegistryRefusedError("Namespace does not exist", status=HTTPStatus.NOT_FOUND)
    return policies


def _set(call: Call, key: str, value: PolicyValue) -> Response:
    """Set one policy of the namespace."""
    change = PolicyChange(key=key, before=None, after=value)
    call.registry.set_policies(call.namespace, [change])
    return responses.no_content()


def _allows_auto_update(policies: NamespacePolicies, call: Call) -> bool:
    own = policies.is_allow_auto_update_schema
    return call.registry.broker.is_allow_auto_update_schema_enabled if own is None else own


def _shown(policies: NamespacePolicies, call: Call) -> dict[str, Any]:
    """Pulsar's Policies as JSON (Pulsar 4.0.7, a namespace created with an empty body)."""
    strategy = policies.schema_compatibility_strategy
    legacy = policies.schema_auto_update_compatibility_strategy
    rates = (
        "backlog_quota_map",
        "clusterDispatchRate",
        "topicDispatchRate",
        "subscriptionDispatchRate",
        "replicatorDispatchRate",
        "clusterSubscribeRate",
        "publishMaxMessageRate",
        "latency_stats_sample_rate",
    )
    return {
        "auth_policies": {
            "namespace_auth": {},
            "destination_auth": {},
            "subscription_auth_roles": {},
        },
        "replication_clusters": [CLUSTER],
        "allowed_clusters": [],
        "bundles": {"boundaries": _BOUNDARIES, "numBundles": len(_BOUNDARIES) - 1},
        **{rate: {} for rate in rates},
        "deleted": False,
        "encryption_required": False,
        "subscription_auth_mode": "None",
        "offload_threshold": -1,
        "offload_threshold_in_seconds": -1,
        **({"schema_auto_update_compatibility_strategy": legacy.value} if legacy else {}),
        "schema_compatibility_strategy": strategy.value if strategy else "UNDEFINED",
        "is_allow_auto_update_schema": _allows_auto_update(policies, call),
        "schema_validation_enforced": bool(policies.schema_validation_enforced),
        "subscription_types_enabled": [],
        "properties": {},
        "migrated": False,
    }
