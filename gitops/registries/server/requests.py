"""One request as the handlers see it, and how what they raise becomes an answer."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Final
from urllib.parse import unquote_plus

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from gitops.model.errors import InvalidNameError, OutsideError, RegistryRefusedError
from gitops.model.names import Domain, NamespaceName, TopicName
from gitops.registries.embedded.administration import Administration
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.server import responses
from gitops.registries.server.request_bodies import BadBodyError

_LOG: Final = logging.getLogger(__name__)

SLASH_IN_SEGMENT: Final = "\0"
"""Stands for an encoded slash within a segment of a path; no name may hold it."""

LARGEST_BODY: Final = 16 << 20
"""Bytes; three times what a broker can store of a schema, which is 5 MiB (Pulsar 4.0.7)."""

BROKEN_PERCENT: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
"""A percent sign that encodes nothing."""


class UnsupportedMediaTypeError(Exception):
    """The body is not declared as JSON."""


class _TooLargeBodyError(Exception):
    """The body is larger than the limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request: the registry it is for, the path's and the query's parameters, the body.

    `uri` is the request's, as an error page shows it.
    """

    registry: EmbeddedRegistry
    uri: str
    base_url: str
    params: dict[str, str]
    query: dict[str, str]
    body: bytes
    content_type: str
    accept: str

    @property
    def administration(self) -> Administration:
        """The rows besides the Registry port."""
        return Administration(self.registry.database)

    @property
    def namespace(self) -> NamespaceName:
        """The namespace of the path; refused (412) if it cannot be one."""
        return self._namespace("Namespace name is not valid")

    def topic(self, domain: Domain = "persistent") -> TopicName:
        """The topic of the path, without partition; refused (412) if it cannot be one."""
        namespace = self._namespace("Topic name is not valid")
        name = self.params["topic"]
        try:
            if SLASH_IN_SEGMENT not in name:
                return TopicName.of(namespace, name, domain)
        except InvalidNameError:
            pass
        raise RegistryRefusedError("Topic name is not valid", status=HTTPStatus.PRECONDITION_FAILED)

    def schema_topic(self) -> TopicName:
        """The topic of a path below `schemas/`, whose name is decoded once more.

        Pulsar 4.0.7: a plus means a space there, and a percent sign that encodes nothing is an
        error, so clients encode such names twice.
        """
        name = self.params["topic"]
        if BROKEN_PERCENT.search(name):
            status = HTTPStatus.INTERNAL_SERVER_ERROR
            raise RegistryRefusedError("Request failed.", status=status)
        params = {**self.params, "topic": unquote_plus(name)}
        return replace(self, params=params).topic()

    def asked(self, flag: str) -> bool:
        """Whether the query sets that flag to true."""
        return self.query.get(flag, "").lower() == "true"

    def json_body(self) -> bytes:
        """The body; raises UnsupportedMediaTypeError unless it is empty or declared as JSON."""
        media_type = self.content_type.split(";")[0].strip().lower()
        if self.body and media_type != "application/json":
            raise UnsupportedMediaTypeError
        return self.body

    def _namespace(self, complaint: str) -> NamespaceName:
        try:
            return NamespaceName.parse(f"{self.params['tenant']}/{self.params['namespace']}")
        except InvalidNameError as cause:
            status = HTTPStatus.PRECONDITION_FAILED
            raise RegistryRefusedError(complaint, status=status) from cause


Handler = Callable[[Call], Response]
Handlers = Mapping[str, Handler]
"""A handler for each method of one path."""

Endpoint = Callable[[Request], Awaitable[Response]]


def shown_uri(request: Request) -> str:
    """The URI of an error page: the path as it was sent, from Pulsar 5.0 on the whole URL."""
    path: str = request.scope["raw_path"].decode("latin-1").partition("?")[0]
    if not request.app.state.registry.line.errors_show_url:
        return path
    query = request.scope["query_string"].decode("latin-1")
    return f"{_origin(request)}{path}{'?' if query else ''}{query}"


def _origin(request: Request) -> str:
    return str(request.base_url).rstrip("/")


def endpoint(handlers: Handlers, domain: str = "") -> Endpoint:
    """Handlers as Starlette's endpoint; they run in a thread, for they wait for the file.

    `domain` becomes a parameter of the path, in which it stands as a literal.
    """

    async def answer(request: Request) -> Response:
        accept = request.headers.get("accept", "")
        try:
            body = await _read_body(request)
        except _TooLargeBodyError:
            why = f"the body is larger than {LARGEST_BODY >> 20} MiB"
            status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
            return responses.page(why, status, shown_uri(request), accept)
        except ClientDisconnect:
            return responses.no_content()  # to nobody: the rest of the request never came
        method = "GET" if request.method == "HEAD" else request.method
        call = Call(
            registry=request.app.state.registry,
            uri=shown_uri(request),
            base_url=_origin(request),
            params={**request.path_params, "domain": domain},
            query=dict(request.query_params),
            body=body,
            content_type=request.headers.get("content-type", ""),
            accept=accept,
        )
        return await run_in_threadpool(_answer, handlers[method], call)

    return answer


async def _read_body(request: Request) -> bytes:
    """The body; raises _TooLargeBodyError, at once where its announced length tells."""
    if int(request.headers.get("content-length", "0")) > LARGEST_BODY:
        raise _TooLargeBodyError
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            raise _TooLargeBodyError
    return bytes(body)


def _answer(handler: Handler, call: Call) -> Response:
    """Run a handler; whatever it raises is an answer, and no traceback leaves the process."""
    try:
        return handler(call)
    except RegistryRefusedError as refusal:
        return responses.reason(refusal.what, refusal.status)
    except BadBodyError as error:
        return responses.bad_request(str(error))
    except UnsupportedMediaTypeError:
        status = HTTPStatus.UNSUPPORTED_MEDIA_TYPE
        return responses.page(status.phrase, status, call.uri, call.accept)
    except OutsideError as error:
        return responses.failure(f"{error.what} ({error.hint})" if error.hint else error.what)
    except Exception as error:  # noqa: BLE001 - a bug must not show its traceback to a client
        _LOG.exception("%s failed", call.uri)
        return responses.failure(type(error).__name__)
