"""The ASGI application: which path goes to which handler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.server import brokers, namespaces, responses, schemas, tenants, topics
from gitops.registries.server.host_guard import HostGuard, HostNames
from gitops.registries.server.requests import (
    BROKEN_PERCENT,
    SLASH_IN_SEGMENT,
    Handlers,
    endpoint,
    shown_uri,
)
from gitops.registries.server.status_line import StandardPhrases

_NAMESPACE: Final = "/namespaces/{tenant}/{namespace}"
_TOPICS: Final = "/{domain}/{tenant}/{namespace}"
_TOPIC: Final = "/{domain}/{tenant}/{namespace}/{topic}"
_SCHEMAS: Final = "/schemas/{tenant}/{namespace}/{topic}"
_METADATA: Final = f"{_SCHEMAS}/metadata"
"""Not served by Pulsar 3.0.7."""

PATHS: Final[Mapping[str, Handlers]] = {
    "/brokers": {"GET": brokers.list_brokers},
    "/brokers/version": {"GET": brokers.get_version},
    "/brokers/configuration/runtime": {"GET": brokers.get_runtime_configuration},
    "/brokers/{cluster}": {"GET": brokers.list_brokers},
    "/clusters": {"GET": tenants.list_clusters},
    "/clusters/{cluster}": {
        "GET": tenants.get_cluster,
        "PUT": tenants.put_cluster,
        "DELETE": tenants.delete_cluster,
    },
    "/tenants": {"GET": tenants.list_tenants},
    "/tenants/{tenant}": {
        "GET": tenants.get_tenant,
        "PUT": tenants.put_tenant,
        "POST": tenants.post_tenant,
        "DELETE": tenants.delete_tenant,
    },
    "/namespaces/{tenant}": {"GET": namespaces.list_namespaces},
    _NAMESPACE: {
        "GET": namespaces.get_namespace,
        "PUT": namespaces.put_namespace,
        "DELETE": namespaces.delete_namespace,
    },
    f"{_NAMESPACE}/topics": {"GET": namespaces.list_topics},
    f"{_NAMESPACE}/schemaCompatibilityStrategy": {
        "GET": namespaces.get_strategy,
        "PUT": namespaces.put_strategy,
    },
    f"{_NAMESPACE}/schemaAutoUpdateCompatibilityStrategy": {
        "GET": namespaces.get_legacy_strategy,
        "PUT": namespaces.put_legacy_strategy,
    },
    f"{_NAMESPACE}/isAllowAutoUpdateSchema": {
        "GET": namespaces.get_allow_auto_update,
        "POST": namespaces.post_allow_auto_update,
    },
    f"{_NAMESPACE}/schemaValidationEnforced": {
        "GET": namespaces.get_validation_enforced,
        "POST": namespaces.post_validation_enforced,
    },
    f"{_SCHEMAS}/schema": {
        "GET": schemas.get_schema,
        "POST": schemas.post_schema,
        "DELETE": schemas.delete_schema,
    },
    f"{_SCHEMAS}/schema/{{version}}": {"GET": schemas.get_schema_version},
    f"{_SCHEMAS}/schemas": {"GET": schemas.get_schemas},
    _METADATA: {"GET": schemas.get_metadata},
    f"{_SCHEMAS}/compatibility": {"POST": schemas.post_compatibility},
    f"{_SCHEMAS}/version": {"POST": schemas.post_version},
    _TOPICS: {"GET": topics.list_topics},
    f"{_TOPICS}/partitioned": {"GET": topics.list_partitioned},
    _TOPIC: {"PUT": topics.put_topic, "DELETE": topics.delete_topic},
    f"{_TOPIC}/partitions": {
        "GET": topics.get_partitions,
        "PUT": topics.put_partitions,
        "DELETE": topics.delete_partitions,
    },
    f"{_TOPIC}/schemaCompatibilityStrategy": {
        "GET": topics.get_strategy,
        "PUT": topics.put_strategy,
        "DELETE": topics.delete_strategy,
    },
    f"{_TOPIC}/schemaValidationEnforced": {
        "GET": topics.get_validation_enforced,
        "POST": topics.post_validation_enforced,
    },
}
"""What is served, under /admin/v2."""


def make_app(registry: EmbeddedRegistry, names: HostNames) -> Starlette:
    """The admin REST of that registry, for requests that ask for one of these names."""
    app = Starlette(
        routes=[
            route
            for template, handlers in PATHS.items()
            if template != _METADATA or registry.line.has_metadata
            for route in _routes(template, handlers)
        ],
        middleware=[
            *([] if registry.line.has_message_in_status_line else [Middleware(StandardPhrases)]),
            Middleware(HostGuard, names=names),
            Middleware(_PathSegments),
        ],
        exception_handlers={HTTPException: _page},
    )
    app.state.registry = registry
    return app


class _PathSegments:
    """Splits the path before it is decoded, so that an encoded slash stays within its segment.

    Also drops a slash at the end, as a broker does, and refuses what cannot be decoded (400, as
    Pulsar 4.0.7 does).
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            raw = scope["raw_path"].decode("latin-1").split("?")[0].rstrip("/") or "/"
            if BROKEN_PERCENT.search(raw) or "%00" in raw:
                await responses.bad_request("the path cannot be decoded")(scope, receive, send)
                return
            segments = (unquote(item).replace("/", SLASH_IN_SEGMENT) for item in raw.split("/"))
            scope = {**scope, "path": "/".join(segments)}
        await self._app(scope, receive, send)


def _routes(template: str, handlers: Handlers) -> list[Route]:
    """The routes of a template; `{domain}` stands for either of the two."""
    path = f"/admin/v2{template}"
    if "{domain}" not in template:
        return [Route(path, endpoint(handlers), methods=list(handlers))]
    return [
        Route(path.replace("{domain}", item), endpoint(handlers, item), methods=list(handlers))
        for item in ("persistent", "non-persistent")
    ]


async def _page(request: Request, error: Exception) -> Response:
    """An error page for a path that is not served (404), or not with that method (405)."""
    if not isinstance(error, HTTPException):
        raise error
    accept = request.headers.get("accept", "")
    answer = responses.page(error.detail, error.status_code, shown_uri(request), accept)
    answer.headers.update(error.headers or {})
    return answer
