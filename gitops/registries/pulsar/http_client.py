"""HTTP requests: as many tries as are harmless, within a deadline, and answers up to a size."""

from __future__ import annotations

import http.client
import ssl
import time
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, final

import urllib3
from urllib3.exceptions import HTTPError, InvalidHeader, MaxRetryError, ProtocolError, SSLError

from gitops import __version__
from gitops.model.errors import OutsideError
from gitops.ports import WAITING
from gitops.registries.pulsar.connections import Attempt, open_connection
from gitops.registries.pulsar.error_responses import Answer, place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from urllib3 import BaseHTTPResponse

    from gitops.registries.pulsar.address import Origin
    from gitops.registries.pulsar.connections import Connection, Deadline

USER_AGENT: Final = f"pulsar-schema-gitops/{__version__}"

LARGEST_ANSWER: Final = 64 << 20
"""Bytes; 100,000 topics' names are a tenth of it."""

MOST_CONTAINERS: Final = 4_000_000
"""Objects and arrays of an answer, and braces in its texts: each costs a hundred times its bytes in
memory. All versions of a topic fill the largest answer with a quarter of it."""

LARGEST_UNPACKED: Final = 8 << 20
"""Bytes of an answer that is packed although nobody asked for it: a proxy may do so, and a little
that is sent can cost gigabytes of memory."""

LONGEST_WAIT: Final = 10.0
"""Seconds between two tries, whatever the server's `Retry-After` asks for."""

_REDIRECTS: Final = range(300, 400)


class BoundedRetry(urllib3.Retry):
    """urllib3's rules for another try, with a limit to the wait that a server may ask for."""

    def get_retry_after(self, response: BaseHTTPResponse) -> float | None:
        """Seconds that the server asks for, within the limit."""
        try:
            asked = super().get_retry_after(response)
        except InvalidHeader:
            return None
        return None if asked is None else min(asked, LONGEST_WAIT)


class NoAnswerError(Exception):
    """No answer came: why, how far the last try was, and whether the deadline ended it."""

    def __init__(self, cause: Exception, attempt: Attempt, *, late: bool) -> None:
        super().__init__("no answer")
        self.cause = cause
        self.attempt = attempt
        self.late = late


@final
class HttpClient:
    """Connections to the servers that requests lead to; safe to use from several threads at once.

    `connect` and `read` are the seconds that one step may take.
    """

    def __init__(self, *, context: ssl.SSLContext, connect: float, read: float) -> None:
        self.connect = connect
        self.read = read
        self._context = context
        self._waiting = WAITING.get()
        self._idle: defaultdict[Origin, list[Connection]] = defaultdict(list)

    def request(  # noqa: PLR0913 - all different
        self,
        method: str,
        origin: Origin,
        target: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        *,
        retry: urllib3.Retry,
        deadline: Deadline,
    ) -> Answer:
        """The answer to a request, of whatever status; raises NoAnswerError.

        A failed try is repeated as `retry` allows it, and a busy answer as well; where no more
        tries are left, that answer counts. Raises OutsideError for one that is too large.
        """
        url = f"{origin}{target}"
        with self._waiting(place(method, url)):
            while True:
                attempt = Attempt(deadline)
                try:
                    with self._connection(origin) as connection:
                        response = connection.exchange(attempt, method, target, headers, body)
                        answer = _read_answer(response, method, url)
                except HTTPError as cause:
                    retry = _next_try(retry, method, target, cause, attempt)
                    time.sleep(retry.get_backoff_time())
                    continue
                if not retry.is_retry(method, answer.status):
                    return answer
                try:
                    retry = retry.increment(method, target)
                except MaxRetryError:
                    return answer
                pause = _asked_pause(retry, response) or retry.get_backoff_time()
                if pause >= deadline.left:
                    return answer
                time.sleep(pause)

    def close(self) -> None:
        """Close the connections."""
        self._idle.clear()

    @contextmanager
    def _connection(self, origin: Origin) -> Iterator[Connection]:
        """A connection for one exchange; raises HTTPError where that fails, and closes it then."""
        idle = self._idle[origin]
        try:
            connection = idle.pop()
        except IndexError:
            connection = open_connection(
                origin, context=self._context, connect=self.connect, read=self.read
            )
        try:
            yield connection
        except BaseException as cause:
            connection.close()
            if isinstance(cause, (OSError, http.client.HTTPException)):
                raise _failure(cause) from cause
            raise
        idle.append(connection)


def _failure(cause: Exception) -> HTTPError:
    """What urllib3 calls a failure, on which depends whether there is another try."""
    return SSLError(cause) if isinstance(cause, ssl.SSLError) else ProtocolError("broken", cause)


def _asked_pause(retry: urllib3.Retry, response: http.client.HTTPResponse) -> float | None:
    return retry.get_retry_after(urllib3.HTTPResponse(headers=dict(response.headers)))


def _next_try(
    retry: urllib3.Retry, method: str, target: str, cause: Exception, attempt: Attempt
) -> urllib3.Retry:
    """What is left of the tries; raises NoAnswerError where there is none, or no time for one."""
    late = not attempt.deadline.left
    if not late:
        try:
            retry = retry.increment(method, target, error=cause)
        except (HTTPError, OSError):
            raise NoAnswerError(cause, attempt, late=False) from cause
        late = retry.get_backoff_time() >= attempt.deadline.left
    if late:
        raise NoAnswerError(cause, attempt, late=True) from cause
    return retry


def _read_answer(response: http.client.HTTPResponse, method: str, url: str) -> Answer:
    """The answer, read to its end; raises OutsideError for one that is too large."""
    headers = response.headers
    return Answer(
        method,
        url,
        response.status,
        response.reason or "",
        headers.get("Content-Type", ""),
        _read_body(response, method, url),
        headers.get("Location", "") if response.status in _REDIRECTS else "",
    )


def _read_body(response: http.client.HTTPResponse, method: str, url: str) -> bytes:
    body = _read_bytes(response, method, url)
    if body.count(b"{") + body.count(b"[") > MOST_CONTAINERS:
        raise OutsideError(
            f"the answer contains more than {MOST_CONTAINERS:,} objects and arrays",
            where=place(method, url),
            hint="is this really Pulsar's admin endpoint?",
        )
    return body


def _read_bytes(response: http.client.HTTPResponse, method: str, url: str) -> bytes:
    announced = response.length
    is_packed = response.headers.get("Content-Encoding", "identity").lower() != "identity"
    most = LARGEST_UNPACKED if is_packed else LARGEST_ANSWER
    if announced is not None and announced <= most and not is_packed:
        return response.read()
    headers = dict(response.headers)
    with urllib3.HTTPResponse(response, headers, preload_content=False) as unpacked:
        data = unpacked.read(most + 1)
    if len(data) > most:
        packed = ", and was packed unasked" if is_packed else ""
        raise OutsideError(
            f"the answer is larger than {most >> 20} MiB{packed}",
            where=place(method, url),
            hint="let the proxy in between pack nothing"
            if is_packed
            else "is this really Pulsar's admin endpoint?",
        )
    return data
