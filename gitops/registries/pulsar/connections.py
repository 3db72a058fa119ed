"""Connections with a deadline for each request and for a whole command."""

from __future__ import annotations

import http.client
import math
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast, final
from urllib.parse import quote

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError

from gitops.interrupts import call_with_timeout

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from _typeshed import WriteableBuffer

    from gitops.registries.pulsar.address import Origin

# How long requests may take: each with all its tries, and all those of one command together.


class Deadline(NamedTuple):
    """The end of one request's time.

    `at` is in seconds of `now`; `seconds` is how much time there was, and `key` says of what:
    `request`, or `run` for all requests of the command together.
    """

    at: float
    seconds: float
    key: str
    now: Callable[[], float]

    @property
    def limit(self) -> str:
        """The time that there was, and where it is set, for people."""
        return f"{self.seconds:g} s (`timeouts.{self.key}`)"

    @property
    def left(self) -> float:
        """Seconds until the end, 0 after it."""
        return max(0.0, self.at - self.now())

    def within(self, seconds: float) -> float:
        """The time for one step: `seconds`, or what is left; raises TimeoutError for nothing."""
        left = self.at - self.now()
        if left <= 0:
            raise TimeoutError
        return min(seconds, left)


@final
class Deadlines:
    """Deadlines of the requests that one command makes to one registry, from its first one on."""

    def __init__(
        self, *, request: float, run: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._request = request
        self._run = run
        self._now = now
        self._run_end: float | None = None

    def begin(self, longest: float = math.inf) -> Deadline:
        """The deadline of a request that begins now; that of the command may have passed."""
        now = self._now()
        request = min(self._request, longest)
        if self._run_end is None:
            self._run_end = now + self._run
        if self._run_end < now + request:
            return Deadline(self._run_end, self._run, "run", self._now)
        return Deadline(now + request, request, "request", self._now)


# Connections that give up at the deadline of a request, in whatever phase it is.
#
# urllib3's limits hold for a single step: a server that sends a byte now and then, or a chain of
# addresses that do not answer, outlasts each of them. Here no step gets more than what is left.


_Address = tuple[socket.AddressFamily, tuple[Any, ...]]

_BLOCK: Final = 16_384
"""Bytes of a request that are sent at once: a TLS record."""

_KEPT: Final = "%!$&'()*+,;=:@/?"
"""Signs of a path and its query; others, which a redirect may lead to, are encoded."""


@dataclass(slots=True)
class Attempt:
    """One try of a request, and how far it came.

    `sent` is whether any of it may have reached the server, `received` the bytes of the answer.
    """

    deadline: Deadline
    sent: bool = False
    received: int = 0


class _Socket(socket.socket):
    """Plain text; `attempt` is the try that is under way."""

    attempt: Attempt

    def recv_into(self, buffer: WriteableBuffer, nbytes: int = 0, flags: int = 0) -> int:
        _tighten(self, self.attempt.deadline)
        count = super().recv_into(buffer, nbytes, flags)
        self.attempt.received += count
        return count


class _SecureSocket(ssl.SSLSocket):
    """TLS, as above."""

    attempt: Attempt

    def recv_into(self, buffer: WriteableBuffer, nbytes: int | None = None, flags: int = 0) -> int:
        _tighten(self, self.attempt.deadline)
        count = super().recv_into(buffer, nbytes, flags)
        self.attempt.received += count
        return count


class Connection(HTTPConnection):
    """Plain text; `timeout` is for connecting, `read` for each step after that."""

    attempt: Attempt

    def __init__(self, *args: Any, read: float, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self._read = read

    def __del__(self) -> None:
        """Nobody keeps it any more."""
        self.close()

    def exchange(
        self,
        attempt: Attempt,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: bytes | None,
    ) -> http.client.HTTPResponse:
        """The head of the answer, whose body is still to be read.

        Requests and answers are http.client's: with urllib3's own a read takes half as long again.
        """
        self.attempt = attempt
        if self.sock is not None and not self.is_connected:  # the server has ended it
            self.close()
        if self.sock is None:
            self.connect()
        sock = cast("_Socket", self.sock)
        sock.attempt = attempt
        if sock.gettimeout() != self._read:
            sock.settimeout(self._read)
        with suppress(BrokenPipeError, ConnectionResetError):  # an answer may have come before
            http.client.HTTPConnection.request(
                self, method, quote(target, safe=_KEPT), body, headers
            )
        return http.client.HTTPConnection.getresponse(self)

    def connect(self) -> None:
        """Connect, and shake hands where it is TLS."""
        try:
            super().connect()
        except TimeoutError as cause:
            raise ConnectTimeoutError(self, "no connection in time") from cause

    def send(self, data: Any) -> None:  # noqa: ANN401 - http.client's signature
        """Send a part of the request."""
        attempt = self.attempt
        attempt.sent = True
        for block in (data,) if len(data) <= _BLOCK else _blocks(data):
            _tighten(self.sock, attempt.deadline)
            super().send(block)

    def _new_conn(self) -> socket.socket:
        """A socket to the first address that accepts; raises what urllib3's own raises."""
        deadline, limit = self.attempt.deadline, cast("float", self.timeout)
        try:
            addresses = resolve(self._dns_host, self.port, deadline.within(limit))
        except (socket.gaierror, UnicodeError) as cause:
            unknown = cause if isinstance(cause, socket.gaierror) else socket.gaierror(str(cause))
            raise NameResolutionError(self.host, self, unknown) from cause
        refusal: OSError = OSError("no address")
        for address in addresses:
            try:
                return self._connect(address, deadline.within(limit))
            except OSError as cause:
                refusal = cause
        if isinstance(refusal, TimeoutError):
            raise refusal
        raise NewConnectionError(self, str(refusal)) from refusal

    def _connect(self, address: _Address, seconds: float) -> socket.socket:
        sock = _Socket(address[0], socket.SOCK_STREAM)
        try:
            for option in self.socket_options or ():
                sock.setsockopt(*option)
            sock.settimeout(seconds)
            sock.connect(address[1])
        except BaseException:
            sock.close()
            raise
        return sock


class _SecureConnection(Connection, HTTPSConnection):
    """TLS."""


def open_connection(
    origin: Origin, *, context: ssl.SSLContext, connect: float, read: float
) -> Connection:
    """A connection that is made with its first request; the context is for such ones alone."""
    if not origin.is_secure:
        return Connection(origin.host, origin.port, timeout=connect, read=read)
    context.sslsocket_class = _SecureSocket
    return _SecureConnection(
        origin.host,
        origin.port,
        timeout=connect,
        read=read,
        ssl_context=context,
        assert_hostname=None if context.check_hostname else False,
    )


def resolve(host: str, port: int, seconds: float) -> list[_Address]:
    """The addresses of a host, in the system's order of preference.

    The system's resolver cannot be interrupted: nobody waits for it longer than `seconds`. Raises
    TimeoutError then, gaierror or UnicodeError for a name that nobody has.
    """
    try:
        return _addresses(host, port, socket.AI_NUMERICHOST)
    except (socket.gaierror, UnicodeError):
        return call_with_timeout(seconds, lambda: _addresses(host, port))


def _addresses(host: str, port: int, flags: int = 0) -> list[_Address]:
    texts = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)
    return [(family, address) for family, *_, address in texts]


def _blocks(data: bytes) -> Iterator[memoryview]:
    view = memoryview(data)
    return (view[start : start + _BLOCK] for start in range(0, len(view), _BLOCK))


def _tighten(sock: socket.socket, deadline: Deadline) -> None:
    """Let the next step on the socket end at the deadline; raises TimeoutError after it."""
    limit = cast("float", sock.gettimeout())
    if (left := deadline.within(limit)) < limit:
        sock.settimeout(left)
