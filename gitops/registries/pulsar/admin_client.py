"""Requests to admin REST: credentials, redirects, and what is told where no answer comes.

A read is repeated after a broken connection or a busy answer. A write is repeated only where
nothing was sent: after that, only a look at the registry can tell whether it was carried out.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final, final
from urllib.parse import SplitResult, urljoin, urlsplit

from gitops.model.errors import OutsideError, UnknownOutcomeError
from gitops.registries.pulsar.address import AdminAddress, Origin, origin_of
from gitops.registries.pulsar.connection_failures import explain
from gitops.registries.pulsar.error_responses import Answer, place
from gitops.registries.pulsar.http_client import (
    LONGEST_WAIT,
    USER_AGENT,
    BoundedRetry,
    HttpClient,
    NoAnswerError,
)

if TYPE_CHECKING:
    import urllib3

    from gitops.registries.pulsar.connections import Deadline, Deadlines
    from gitops.registries.pulsar.credentials import Credentials

_MOST_REDIRECTS: Final = 5
_MOMENT: Final = 2.0
"""Seconds that a broker may take which nothing depends on."""
_BROKER_REDIRECTS: Final = frozenset({307, 308})
_FOREIGN_REDIRECTS: Final = frozenset({301, 302, 303})

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
_ONE_TRY: Final = BoundedRetry(total=0, redirect=0, raise_on_status=False)


@final
class AdminClient:
    """Sends requests to one cluster; safe to use from several threads at once."""

    def __init__(
        self,
        *,
        address: AdminAddress,
        credentials: Credentials,
        client: HttpClient,
        deadlines: Deadlines,
        retry: urllib3.Retry = READ_RETRY,
    ) -> None:
        self.address = address
        self._credentials = credentials
        self._client = client
        self._deadlines = deadlines
        self._retry = retry
        self._headers: tuple[str, dict[str, str]] = ("", self._make_headers(""))

    def __repr__(self) -> str:
        return f"AdminClient({self.address})"

    def get(self, path: str) -> Answer:
        """Read what stands under `/admin/v2`; raises OutsideError where no answer comes."""
        return self._authorize("GET", path, None)

    def get_below(self, root: str, path: str) -> Answer:
        """Read what stands under another root than `/admin/v2`; raises OutsideError."""
        return self._authorize("GET", path, None, root)

    def authorization(self) -> str:
        """The header `Authorization` as it is now, empty where there is none."""
        return self._credentials.authorization(self._deadlines.begin())

    def get_quickly(self, origin: Origin, path: str) -> Answer:
        """One try of a read, at another broker of the cluster; raises OutsideError after a moment.

        The credentials go there too, as they do when a broker redirects, and never from TLS to
        plain text: `origin` has the scheme of our address.
        """
        target = f"/admin/v2/{path}"
        deadline = self._deadlines.begin(_MOMENT)
        headers = self._headers_for(self._credentials.authorization(deadline))
        try:
            return self._client.request(
                "GET", origin, target, headers, retry=_ONE_TRY, deadline=deadline
            )
        except NoAnswerError as error:
            where = place("GET", f"{origin}{target}")
            raise OutsideError("no answer from the broker", where=where) from error.cause

    def send(self, method: str, path: str, body: bytes | None = None) -> Answer:
        """Write; raises OutsideError, which tells where the outcome is not known."""
        return self._authorize(method, path, body)

    def redact(self, text: str) -> str:
        """The text without our secrets."""
        return self._credentials.redact(text)

    def close(self) -> None:
        """Close the connections."""
        self._credentials.close()
        self._client.close()

    def _authorize(
        self, method: str, path: str, body: bytes | None, root: str = "/admin/v2"
    ) -> Answer:
        """One request within its deadline, with the token that it needs.

        A 401 is answered once with renewed credentials (nothing was done then).
        """
        target = f"{self.address.path}{root}/{path}"
        deadline = self._deadlines.begin()
        authorization = self._credentials.authorization(deadline)
        answer = self._redirect(method, target, body, authorization, deadline)
        if (
            answer.status == HTTPStatus.UNAUTHORIZED
            and not answer.lacks_permission
            and self._credentials.renew(authorization, deadline)
        ):
            authorization = self._credentials.authorization(deadline)
            answer = self._redirect(method, target, body, authorization, deadline)
        return answer

    def _redirect(
        self, method: str, target: str, body: bytes | None, authorization: str, deadline: Deadline
    ) -> Answer:
        """Follow a broker that names another one, the owner of the namespace's bundle.

        Pulsar 4.0.7 answers 307 then, and the owner wants the same credentials. They never go
        from TLS to plain text, and never after a redirect of another kind: that is no broker's,
        but perhaps the log-in page of a gateway.
        """
        headers = self._headers_for(authorization)
        if body is not None:
            headers = {**headers, "Content-Type": "application/json"}
        origin = self.address.origin
        for _ in range(_MOST_REDIRECTS + 1):
            try:
                answer = self._client.request(
                    method, origin, target, headers, body, retry=self._retry, deadline=deadline
                )
            except NoAnswerError as error:
                where = place(method, f"{origin}{target}")
                raise self._no_answer(error, method, origin, where) from error.cause
            if answer.status in _FOREIGN_REDIRECTS:
                raise _foreign_redirect(answer)
            if answer.status not in _BROKER_REDIRECTS:
                return answer
            origin, target = _next_hop(answer, origin)
        raise OutsideError(
            f"more than {_MOST_REDIRECTS} redirects", where=place(method, f"{origin}{target}")
        )

    def _no_answer(
        self, error: NoAnswerError, method: str, origin: Origin, where: str
    ) -> OutsideError:
        why = explain(error, origin, self._client, redirected=origin != self.address.origin)
        text = self.redact(why.what)
        if method != "GET" and error.attempt.sent and why.understood:
            return UnknownOutcomeError(f"the connection broke: {text}", where=where)
        return OutsideError(f"no answer from the registry: {text}", where=where, hint=why.hint)

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
            "User-Agent": USER_AGENT,
        }
        return {**headers, "Authorization": authorization} if authorization else headers


def _foreign_redirect(answer: Answer) -> OutsideError:
    """The error for a redirect that no broker makes; of its target only the host is named."""
    target = _target(answer)
    there = "elsewhere" if target is None else f"to {origin_of(target)}"
    return OutsideError(
        f"the registry redirects {there} ({answer.status}), which is not followed",
        where=answer.where,
        hint="if the admin endpoint is there, put that into the registry's `url`; "
        "if it is a log-in page, the request needs other credentials",
    )


def _target(answer: Answer) -> SplitResult | None:
    """The URL that a redirect leads to, None where it is no http(s) URL."""
    try:
        split = urlsplit(urljoin(answer.url, answer.location))
    except ValueError:
        return None
    return split if answer.location and origin_of(split) else None


def _next_hop(answer: Answer, origin: Origin) -> tuple[Origin, str]:
    """Where a redirect leads; raises OutsideError where it must not be followed."""
    split = _target(answer)
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
