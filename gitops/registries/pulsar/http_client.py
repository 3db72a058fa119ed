"""HTTP requests: as many tries as are harmless, within a deadline, and answers up to a size."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Final, final

import urllib3
from urllib3.exceptions import HTTPError, InvalidHeader, MaxRetryError

from gitops.model.errors import OutsideError
from gitops.ports import WAITING
from gitops.registries.pulsar.connections import Attempt, Attempts, open_pool
from gitops.registries.pulsar.error_responses import Answer, place

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping

    from urllib3 import BaseHTTPResponse, HTTPConnectionPool

    from gitops.registries.pulsar.address import Origin
    from gitops.registries.pulsar.connections import Deadline

LARGEST_ANSWER: Final = 64 << 20
"""Bytes; 100,000 topics' names are a tenth of it."""

LONGEST_WAIT: Final = 10.0
"""Seconds between two tries, whatever the server's `Retry-After` asks for."""

_REDIRECTS: Final = range(300, 400)
_ONE_TRY: Final = urllib3.Retry(total=False)  # the pool would make one for each request


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

    `connect` and `read` are the seconds that one step may take, `connections` is how many are kept
    to one server.
    """

    def __init__(
        self, *, context: ssl.SSLContext, connect: float, read: float, connections: int
    ) -> None:
        self.connect = connect
        self.read = read
        self._context = context
        self._connections = connections
        self._waiting = WAITING.get()
        self._lock = threading.Lock()
        self._attempts = Attempts()
        self._pools: dict[Origin, HTTPConnectionPool] = {}

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
        pool = self._pools.get(origin) or self._pool(origin)
        url = f"{origin}{target}"
        with self._waiting(place(method, url)):
            while True:
                self._attempts.current = attempt = Attempt(deadline)
                try:
                    response = pool.urlopen(
                        method,
                        target,
                        body,
                        headers,
                        retries=_ONE_TRY,
                        redirect=False,
                        preload_content=False,
                    )
                    answer = _read_answer(response, method, url)
                except (HTTPError, OSError) as cause:
                    retry = _next_try(retry, method, target, cause, attempt)
                    time.sleep(retry.get_backoff_time())
                    continue
                if not retry.is_retry(method, answer.status):
                    return answer
                try:
                    retry = retry.increment(method, target, response=response)
                except MaxRetryError:
                    return answer
                pause = retry.get_retry_after(response) or retry.get_backoff_time()
                if pause >= deadline.left:
                    return answer
                time.sleep(pause)

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            for pool in self._pools.values():
                pool.close()
            self._pools.clear()

    def _pool(self, origin: Origin) -> HTTPConnectionPool:
        """The connections to one server."""
        with self._lock:
            if origin not in self._pools:
                self._pools[origin] = open_pool(
                    origin,
                    self._attempts,
                    context=self._context,
                    timeout=urllib3.Timeout(connect=self.connect, read=self.read),
                    size=self._connections,
                )
            return self._pools[origin]


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


def _read_answer(response: BaseHTTPResponse, method: str, url: str) -> Answer:
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


def _read_body(response: BaseHTTPResponse, method: str, url: str) -> bytes:
    announced = response.length_remaining
    if announced is not None and announced <= LARGEST_ANSWER and _is_plain(response):
        return response.read()  # cheaper than with a limit, which needs a buffer
    data = response.read(LARGEST_ANSWER + 1)
    if len(data) > LARGEST_ANSWER:
        response.close()
        raise OutsideError(
            f"the answer is larger than {LARGEST_ANSWER >> 20} MiB",
            where=place(method, url),
            hint="is this really Pulsar's admin endpoint?",
        )
    return data


def _is_plain(response: BaseHTTPResponse) -> bool:
    """Whether the body is as long as it says: one that is zipped, unasked, can be much longer."""
    return "Content-Encoding" not in response.headers
