"""Requests to admin REST: connections, retries, redirects, limits.

A read is repeated after a broken connection or a busy answer. A write is repeated only where
nothing was sent: after that, only a look at the registry can tell whether it was carried out.
"""

from __future__ import annotations

import threading
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, final
from urllib.parse import SplitResult, urljoin, urlsplit

import urllib3
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    InvalidHeader,
    LocationParseError,
    MaxRetryError,
    SSLError,
)

from gitops import __version__
from gitops.model.errors import OutsideError, UnknownOutcomeError
from gitops.registry.pulsar.address import AdminAddress, Origin, origin_of
from gitops.registry.pulsar.failures import Answer, place
from gitops.registry.pulsar.no_answers import explain

if TYPE_CHECKING:
    import ssl

    from urllib3 import BaseHTTPResponse, HTTPConnectionPool

    from gitops.registry.pulsar.credentials import Credentials

LARGEST_ANSWER: Final = 64 << 20
"""Bytes; 100,000 topics' names are a tenth of it."""

LONGEST_WAIT: Final = 10.0
"""Seconds between two tries, whatever the server's `Retry-After` asks for."""

_MOST_REDIRECTS: Final = 5
_BROKER_REDIRECTS: Final = frozenset({307, 308})
_FOREIGN_REDIRECTS: Final = frozenset({301, 302, 303})


class BoundedRetry(urllib3.Retry):
    """urllib3's rules for another try, with a limit to the wait that a server may ask for."""

    def get_retry_after(self, response: BaseHTTPResponse) -> float | None:
        """Seconds that the server asks for, within the limit."""
        try:
            asked = super().get_retry_after(response)
        except InvalidHeader:
            return None
        return None if asked is None else min(asked, LONGEST_WAIT)


READ_RETRY: Final = BoundedRetry(
    total=4,
    other=0,
    redirect=0,
    allowed_methods={"GET"},
    status_forcelist={429, 502, 503, 504},
    backoff_factor=0.2,
    backoff_max=LONGEST_WAIT,
    backoff_jitter=0.2,
    raise_on_status=False,
)


_ONE_TRY: Final = urllib3.Retry(total=False)  # the pool would make one for each request


@final
class Transport:
    """Sends requests to one cluster; safe to use from several threads at once."""

    def __init__(  # noqa: PLR0913 - all by keyword, all different
        self,
        *,
        address: AdminAddress,
        credentials: Credentials,
        context: ssl.SSLContext,
        connect_timeout: float,
        read_timeout: float,
        connections: int,
        retry: urllib3.Retry = READ_RETRY,
    ) -> None:
        self.address = address
        self._credentials = credentials
        self._context = context
        self._connect_timeout = connect_timeout
        self._read_timeout = read_timeout
        self._timeout = urllib3.Timeout(connect=connect_timeout, read=read_timeout)
        self._connections = connections
        self._retry = retry
        self._lock = threading.Lock()
        self._pools: dict[Origin, HTTPConnectionPool] = {}
        self._headers: tuple[str, dict[str, str]] = ("", self._make_headers(""))

    def __repr__(self) -> str:
        return f"Transport({self.address})"

    def get(self, path: str) -> Answer:
        """Read what stands under `/admin/v2`; raises OutsideError where no answer comes."""
        return self._authorized("GET", path, None)

    def send(self, method: str, path: str, body: bytes | None = None) -> Answer:
        """Write; raises OutsideError, which tells where the outcome is not known."""
        return self._authorized(method, path, body)

    def redact(self, text: str) -> str:
        """The text without our secrets."""
        return self._credentials.redact(text)

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            for pool in self._pools.values():
                pool.close()
            self._pools.clear()

    def _authorized(self, method: str, path: str, body: bytes | None) -> Answer:
        """One request; a 401 is answered once with renewed credentials (nothing was done then)."""
        target = f"{self.address.path}/admin/v2/{path}"
        authorization = self._credentials.authorization()
        answer = self._redirected(method, target, body, authorization)
        if (
            answer.status == HTTPStatus.UNAUTHORIZED
            and not answer.lacks_permission
            and self._credentials.renew(authorization)
        ):
            authorization = self._credentials.authorization()
            answer = self._redirected(method, target, body, authorization)
        return answer

    def _redirected(
        self, method: str, target: str, body: bytes | None, authorization: str
    ) -> Answer:
        """Follow a broker that names another one, the owner of the namespace's bundle.

        Pulsar 4.0.7 answers 307 then, and the owner wants the same credentials. They never go
        from TLS to plain text, and never after a redirect of another kind: that is no broker's,
        but perhaps the log-in page of a gateway.
        """
        headers = self._headers_for(authorization)
        origin = self.address.origin
        for _ in range(_MOST_REDIRECTS + 1):
            answer, location = self._tried(method, origin, target, body, headers)
            if answer.status in _FOREIGN_REDIRECTS:
                raise _foreign_redirect(answer, location)
            if answer.status not in _BROKER_REDIRECTS:
                return answer
            origin, target = _next_hop(answer, origin, location)
        raise OutsideError(
            f"more than {_MOST_REDIRECTS} redirects", where=place(method, f"{origin}{target}")
        )

    def _tried(
        self, method: str, origin: Origin, target: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[Answer, str]:
        """One request and as many more as are harmless; the answer and its `Location`."""
        retry = self._retry
        while True:
            try:
                response, answer = self._exchange(method, origin, target, body, headers)
            except (HTTPError, OSError) as cause:
                retry = self._next_try(retry, method, origin, target, cause)
                retry.sleep()
                continue
            location = response.headers.get("Location", "")
            if not retry.is_retry(method, response.status):
                return answer, location
            try:
                retry = retry.increment(method, target, response=response)
            except MaxRetryError:
                return answer, location
            retry.sleep(response)

    def _exchange(
        self, method: str, origin: Origin, target: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[BaseHTTPResponse, Answer]:
        """One request, and its answer read to the end; raises what urllib3 raises."""
        pool = self._pools.get(origin) or self._open_pool(origin)
        if body is not None:
            headers = {**headers, "Content-Type": "application/json"}
        response = pool.urlopen(
            method, target, body, headers, retries=_ONE_TRY, redirect=False, preload_content=False
        )
        url = f"{origin}{target}"
        data = _read_all(response, place(method, url))
        content_type = response.headers.get("Content-Type", "")
        reason = response.reason or ""
        return response, Answer(method, url, response.status, reason, content_type, data)

    def _next_try(
        self, retry: urllib3.Retry, method: str, origin: Origin, target: str, cause: Exception
    ) -> urllib3.Retry:
        """What is left of the tries; raises OutsideError where there is none."""
        try:
            return retry.increment(method, target, error=cause)
        except (HTTPError, OSError):
            raise self._no_answer(method, origin, target, cause) from cause

    def _no_answer(
        self, method: str, origin: Origin, target: str, cause: Exception
    ) -> OutsideError:
        why = explain(
            cause,
            origin,
            redirected=origin != self.address.origin,
            connect=self._connect_timeout,
            read=self._read_timeout,
        )
        said = self.redact(why.what)
        where = place(method, f"{origin}{target}")
        sent = not isinstance(cause, (ConnectTimeoutError, LocationParseError, SSLError))
        if method != "GET" and sent and why.understood:
            return UnknownOutcomeError(f"the connection broke: {said}", where=where)
        return OutsideError(f"no answer from the registry: {said}", where=where, hint=why.hint)

    def _open_pool(self, origin: Origin) -> HTTPConnectionPool:
        """The connections to one broker."""
        with self._lock:
            if origin not in self._pools:
                self._pools[origin] = self._make_pool(origin)
            return self._pools[origin]

    def _make_pool(self, origin: Origin) -> HTTPConnectionPool:
        if not origin.is_secure:
            return urllib3.HTTPConnectionPool(
                origin.host, origin.port, timeout=self._timeout, maxsize=self._connections
            )
        return urllib3.HTTPSConnectionPool(
            origin.host,
            origin.port,
            timeout=self._timeout,
            maxsize=self._connections,
            ssl_context=self._context,
            assert_hostname=None if self._context.check_hostname else False,
        )

    def _headers_for(self, authorization: str) -> dict[str, str]:
        """The same mapping for every request with the same credentials."""
        known, headers = self._headers
        if known != authorization:
            headers = self._make_headers(authorization)
            self._headers = (authorization, headers)
        return headers

    @staticmethod
    def _make_headers(authorization: str) -> dict[str, str]:
        headers = {
            "Accept": "application/json",
            # Unzipping costs more than a local network saves.
            "Accept-Encoding": "identity",
            "User-Agent": f"pulsar-schema-gitops/{__version__}",
        }
        return {**headers, "Authorization": authorization} if authorization else headers


def _read_all(response: BaseHTTPResponse, where: str) -> bytes:
    """The body, within the limit; raises OutsideError beyond it."""
    announced = response.length_remaining
    if announced is not None and announced <= LARGEST_ANSWER and _is_plain(response):
        return response.read()  # cheaper than with a limit, which needs a buffer
    data = response.read(LARGEST_ANSWER + 1)
    if len(data) > LARGEST_ANSWER:
        response.close()
        raise OutsideError(
            f"the registry's answer is larger than {LARGEST_ANSWER >> 20} MiB",
            where=where,
            hint="is this really Pulsar's admin endpoint?",
        )
    return data


def _is_plain(response: BaseHTTPResponse) -> bool:
    """Whether the body is as long as it says: one that is zipped, unasked, can be much longer."""
    return "Content-Encoding" not in response.headers


def _foreign_redirect(answer: Answer, location: str) -> OutsideError:
    """The error for a redirect that no broker makes; of its target only the host is named."""
    target = _target(answer, location)
    there = "elsewhere" if target is None else f"to {origin_of(target)}"
    return OutsideError(
        f"the registry redirects {there} ({answer.status}), which is not followed",
        where=answer.where,
        hint="if the admin endpoint is there, put that into the registry's `url`; "
        "if it is a log-in page, the request needs other credentials",
    )


def _target(answer: Answer, location: str) -> SplitResult | None:
    """The URL that a redirect leads to, None where it is no http(s) URL."""
    try:
        split = urlsplit(urljoin(answer.url, location))
    except ValueError:
        return None
    return split if location and origin_of(split) else None


def _next_hop(answer: Answer, origin: Origin, location: str) -> tuple[Origin, str]:
    """Where a redirect leads; raises OutsideError where it must not be followed."""
    split = _target(answer, location)
    target = None if split is None else origin_of(split)
    if split is None or target is None:
        raise OutsideError("the registry redirects to no http(s) URL", where=answer.where)
    if origin.is_secure and not target.is_secure:
        raise OutsideError(
            "the registry redirects from https to http, which is not followed",
            where=answer.where,
            hint="the brokers must advertise their TLS port (webServicePortTls)",
        )
    return target, f"{split.path}?{split.query}" if split.query else split.path
