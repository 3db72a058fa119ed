"""Tenants and topics of a cluster: how they are created, and whether they have messages."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gitops.model.state import TenantState, TopicPartitions
from gitops.registries.pulsar.address import topic_path
from gitops.registries.pulsar.error_responses import refusal, unexpected_body
from gitops.registries.pulsar.observation import NAMESPACES_PERMISSION, SCHEMA_PERMISSION
from gitops.registries.pulsar.response_bodies import read_names
from gitops.registries.pulsar.threads import map_in_threads

if TYPE_CHECKING:
    from collections.abc import Collection

    from gitops.model.names import TenantName, TopicName
    from gitops.model.state import Scope
    from gitops.registries.pulsar.admin_client import AdminClient
    from gitops.registries.pulsar.error_responses import Answer

CLUSTERS_PERMISSION: Final = "the permission to list clusters; or write allowedClusters"
_MISSING: Final = (HTTPStatus.NOT_FOUND,)
_NO_PERMISSION: Final = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


class TenantBody(BaseModel):
    """GET tenants/T: its roles and clusters."""

    model_config = ConfigDict(strict=True, extra="ignore")

    admin_roles: list[str] | None = Field(default=None, alias="adminRoles")
    allowed_clusters: list[str] | None = Field(default=None, alias="allowedClusters")


class PartitionsBody(BaseModel):
    """GET …/partitions: their number, 0 for a topic that has none."""

    model_config = ConfigDict(strict=True, extra="ignore")

    partitions: int = Field(ge=0)


class CreationClient:
    """Reads and writes of tenants, and of topics as such; safe to use from several threads."""

    def __init__(self, admin_client: AdminClient, threads: int) -> None:
        self._admin_client = admin_client
        self._threads = threads

    def tenants(self, scope: Scope) -> dict[TenantName, TenantState]:
        """The tenants that were asked for, sorted."""
        return {name: self._tenant(name) for name in sorted(scope.tenants)}

    def partitions(self, scope: Scope) -> dict[TopicName, TopicPartitions]:
        """The topics whose existence was asked for, sorted."""
        names = sorted(scope.partitions)
        partitions = map_in_threads(
            self._partitions, names, threads=self._threads, on_progress=lambda _done: None
        )
        return dict(zip(names, partitions, strict=True))

    def _tenant(self, tenant: TenantName) -> TenantState:
        """Who may not read it, but may list its namespaces, learns that it exists."""
        answer = self._get(
            f"tenants/{tenant}",
            permission=NAMESPACES_PERMISSION,
            accepted=(*_MISSING, *_NO_PERMISSION),
        )
        if answer.status == HTTPStatus.OK:
            return _read_tenant(tenant, answer)
        if answer.status in _NO_PERMISSION:
            answer = self._get(
                f"namespaces/{tenant}",
                permission=NAMESPACES_PERMISSION,
                accepted=(*_MISSING, *_NO_PERMISSION),
            )
        # Who may not ask is told so when the tenant is needed.
        return TenantState(tenant=tenant, exists=answer.status != HTTPStatus.NOT_FOUND)

    def _partitions(self, topic: TopicName) -> TopicPartitions:
        """Pulsar 4.0.7 answers 404 for a topic, and for a namespace, that does not exist."""
        path = f"{topic.domain}/{topic_path(topic)}/partitions"
        answer = self._get(path, permission=SCHEMA_PERMISSION, accepted=_MISSING)
        if answer.status == HTTPStatus.NOT_FOUND:
            return TopicPartitions(topic=topic, exists=False)
        try:
            body = PartitionsBody.model_validate_json(answer.body)
        except ValidationError as cause:
            raise unexpected_body(answer, "a number of partitions") from cause
        return TopicPartitions(topic=topic, count=body.partitions)

    def create_tenant(self, tenant: TenantState) -> Answer:
        """Pulsar wants clusters: without any it is all that the cluster knows, as pulsar-admin."""
        clusters = tenant.allowed_clusters
        if clusters is None:
            answer = self._get("clusters", permission=CLUSTERS_PERMISSION)
            clusters = frozenset(read_names(answer))
        body = {
            "adminRoles": sorted(tenant.admin_roles or ()),
            "allowedClusters": sorted(clusters),
        }
        path = f"tenants/{tenant.tenant}"
        return self._admin_client.send("PUT", path, json.dumps(body).encode())

    def create_topic(self, topic: TopicName, partitions: int) -> Answer:
        """Create a topic with so many partitions; 0: it has none."""
        path = f"{topic.domain}/{topic_path(topic)}"
        if partitions:
            return self._admin_client.send("PUT", f"{path}/partitions", str(partitions).encode())
        return self._admin_client.send("PUT", path, b"{}")

    def _get(self, path: str, *, permission: str, accepted: Collection[HTTPStatus] = ()) -> Answer:
        """An answer of 200 or of an accepted status; raises OutsideError for all others."""
        answer = self._admin_client.get(path)
        if answer.status == HTTPStatus.OK or answer.status in accepted:
            return answer
        message = self._admin_client.redact(answer.message)
        raise refusal(answer, message, permission=permission)


def _read_tenant(tenant: TenantName, answer: Answer) -> TenantState:
    try:
        body = TenantBody.model_validate_json(answer.body)
    except ValidationError as cause:
        raise unexpected_body(answer, "a tenant") from cause
    return TenantState(
        tenant=tenant,
        allowed_clusters=frozenset(body.allowed_clusters or ()),
        admin_roles=frozenset(body.admin_roles or ()),
    )
