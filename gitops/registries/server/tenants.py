"""The endpoints under /admin/v2/clusters and /admin/v2/tenants."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Final

from starlette.responses import Response

from gitops.model.errors import RegistryRefusedError
from gitops.registries.embedded.namespace_rows import CLUSTER, TenantInfo
from gitops.registries.server import responses
from gitops.registries.server.request_bodies import tenant_payload
from gitops.registries.server.requests import Call

_ENTITY: Final = re.compile(r"[-=:.\w]+", re.ASCII)


def list_clusters(_call: Call) -> Response:
    """The one cluster."""
    return responses.value([CLUSTER])


def get_cluster(call: Call) -> Response:
    """Where the cluster's admin REST is; it has no broker service, so none is named."""
    _require_cluster(call)
    return responses.value({"serviceUrl": call.base_url})


def put_cluster(call: Call) -> Response:
    """Refused: the one cluster exists, and there can be no other."""
    call.json_body()
    if call.params["cluster"] == CLUSTER:
        raise RegistryRefusedError("Cluster already exists", status=HTTPStatus.CONFLICT)
    raise RegistryRefusedError(
        f"pulsar-gitops serve has the cluster {CLUSTER} only",
        status=HTTPStatus.PRECONDITION_FAILED,
    )


def delete_cluster(call: Call) -> Response:
    """Refused: the one cluster stays."""
    _require_cluster(call)
    raise RegistryRefusedError(
        f"pulsar-gitops serve keeps the cluster {CLUSTER}",
        status=HTTPStatus.PRECONDITION_FAILED,
    )


def list_tenants(call: Call) -> Response:
    """The names of all tenants."""
    return responses.value(call.administration.tenants())


def get_tenant(call: Call) -> Response:
    """One tenant."""
    info = call.administration.tenant(call.params["tenant"])
    if info is None:
        raise RegistryRefusedError("Tenant does not exist", status=HTTPStatus.NOT_FOUND)
    return responses.value(
        {"adminRoles": info.admin_roles, "allowedClusters": info.allowed_clusters}
    )


def put_tenant(call: Call) -> Response:
    """Create a tenant."""
    info = _tenant(call)
    name = call.params["tenant"]
    if not _ENTITY.fullmatch(name):
        raise RegistryRefusedError(
            "Tenant name is not valid", status=HTTPStatus.PRECONDITION_FAILED
        )
    call.administration.create_tenant(name, info)
    return responses.no_content()


def post_tenant(call: Call) -> Response:
    """Replace a tenant's roles and clusters."""
    call.administration.update_tenant(call.params["tenant"], _tenant(call))
    return responses.no_content()


def delete_tenant(call: Call) -> Response:
    """Remove a tenant without namespaces."""
    call.administration.delete_tenant(call.params["tenant"])
    return responses.no_content()


def _tenant(call: Call) -> TenantInfo:
    """The body; refused (412) without clusters, or with one that does not exist."""
    payload = tenant_payload(call.json_body())
    if payload is None:
        complaint = "TenantInfo is null"
    elif payload.allowed_clusters is None:
        complaint = "Clusters cannot be null"
    elif not any(cluster.strip() for cluster in payload.allowed_clusters):
        complaint = "Clusters cannot be empty or blank"
    elif set(payload.allowed_clusters) != {CLUSTER}:
        complaint = "Clusters do not exist"
    else:
        return TenantInfo(
            admin_roles=payload.admin_roles, allowed_clusters=payload.allowed_clusters
        )
    raise RegistryRefusedError(complaint, status=HTTPStatus.PRECONDITION_FAILED)


def _require_cluster(call: Call) -> None:
    """Refuse (404) any other cluster."""
    if call.params["cluster"] != CLUSTER:
        raise RegistryRefusedError("Cluster does not exist", status=HTTPStatus.NOT_FOUND)
