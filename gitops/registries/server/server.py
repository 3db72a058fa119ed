"""Serves the application with uvicorn, with limits for each connection."""

from __future__ import annotations

import asyncio
import logging
import resource
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, cast, final

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from gitops.model.errors import OutsideError, UsageError
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.server.app import make_app
from gitops.registries.server.host_guard import HostNames, is_loopback
from gitops.registries.server.status_line import PhraseConnection

# Connections as uvicorn serves them over HTTP/1.1, with limits, and quiet about bad clients.

IDLE_SECONDS: Final = 30
"""How long a client may be silent, also in the middle of a request; a broker's Jetty waits so."""

GRACE_SECONDS: Final = 5
"""How long a client has to read the last answer once the server ends."""

_MOST_CONNECTIONS: Final = 1024
_SHARE_OF_FILES: Final = 2
"""At most half of the files that the process may open are connections."""


@final
class Connection(H11Protocol):
    """One client: bytes that are no HTTP, silence and a flood of others end it without a word."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(*args, **kwargs)
        self.conn = PhraseConnection(h11.SERVER)
        self._heard = self.loop.time()
        self._silence: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the client in, unless there are too many."""
        # What listens on a socket gives both ends of a stream.
        super().connection_made(cast("asyncio.Transport", transport))
        if len(self.connections) > _most_connections():
            self.transport.close()
        else:
            self._watch(IDLE_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the client."""
        if self._silence is not None:
            self._silence.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take in a part of a request."""
        self._heard = self.loop.time()
        super().data_received(data)

    def resume_writing(self) -> None:
        """Go on with an answer, since the client has read some of it."""
        self._heard = self.loop.time()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP, unless an answer to the request was begun already."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            if (last := self._last_request) is not None:
                last.disconnected = True  # whoever decides about it has nobody to tell any more
            try:
                super().send_400_response(msg)
            except h11.LocalProtocolError:  # what answers HEAD has no body
                self.transport.close()
        else:
            self.transport.close()

    def shutdown(self) -> None:
        """End once the answer that is under way is read; a request that is not whole has none."""
        last = self._last_request
        if last is not None and last.more_body and not last.response_started:
            self.transport.close()
        else:
            super().shutdown()
            self.loop.call_later(GRACE_SECONDS, self.transport.abort)

    def _watch(self, seconds: float) -> None:
        self._silence = self.loop.call_later(seconds, self._end_if_silent)

    def _end_if_silent(self) -> None:
        silent = self.loop.time() - self._heard
        if silent < IDLE_SECONDS or self._is_deciding():
            self._watch(max(IDLE_SECONDS - silent, 1))
        else:
            self.transport.abort()

    def _is_deciding(self) -> bool:
        """Whether the client waits for us."""
        last = self._last_request
        return last is not None and not last.more_body and not last.response_started

    @property
    def _last_request(self) -> RequestResponseCycle | None:
        """The request that is being served, or was served last."""
        return self.cycle


def _most_connections() -> int:
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed == resource.RLIM_INFINITY:
        return _MOST_CONNECTIONS
    return min(_MOST_CONNECTIONS, allowed // _SHARE_OF_FILES)


# Serving the application with uvicorn: in the foreground, or beside a block of Python.


LOOPBACK: Final = "127.0.0.1"
_BACKLOG: Final = 128
_LAST_PORT: Final = 65_535
_ENDING: Final = (signal.SIGINT, signal.SIGTERM)
_LOG: Final = logging.getLogger(__name__)


def serve(
    registry: EmbeddedRegistry,
    host: str,
    port: int,
    ready: Callable[[str], None],
    *,
    allow_hosts: Iterable[str] = (),
) -> None:
    """Serve until SIGINT or SIGTERM, then return; to be called in the main thread.

    Port 0 means a free one; `ready` is called with the URL once connections are accepted. A host
    that other machines can reach is warned about, for there is no authentication. `allow_hosts`
    are further names by which clients ask for the server. Raises OutsideError if host and port
    cannot be had, UsageError for a port that is none.
    """
    with _listen(host, port) as listener:
        server = _server(registry, HostNames(host, allow_hosts))
        with _ended_by_signals(server):
            ready(_url(listener))
            server.run(sockets=[listener])


@contextmanager
def serve_in_thread(
    registry: EmbeddedRegistry,
    host: str = LOOPBACK,
    port: int = 0,
    *,
    allow_hosts: Iterable[str] = (),
) -> Iterator[str]:
    """Serve in a thread while the block runs; gives the URL. Arguments and errors as `serve`."""
    with _listen(host, port) as listener:
        server = _server(registry, HostNames(host, allow_hosts))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield _url(listener)
        finally:
            server.should_exit = True
            thread.join()


def _server(registry: EmbeddedRegistry, names: HostNames) -> uvicorn.Server:
    """A server that leaves logging as it is, and behaves the same whatever is installed.

    Warnings are about bad requests, which are answered; a server for tests does not repeat them.
    """
    config = uvicorn.Config(
        make_app(registry, names),
        loop="asyncio",
        http=Connection,
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        log_level="error",
        server_header=False,
        timeout_keep_alive=IDLE_SECONDS,
    )
    return uvicorn.Server(config)


@contextmanager
def _listen(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that accepts connections; raises UsageError, OutsideError."""
    if not 0 <= port <= _LAST_PORT:
        raise UsageError(f"{port} is no port", hint="give a --port of 0 (any free one) to 65535")
    if not is_loopback(host):
        _LOG.warning("%s: anybody who can reach this machine can change the registry", host)
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as cause:
        raise _not_to_be_had(host, port, cause) from cause
    with listener:
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(_BACKLOG)
        except OSError as cause:
            raise _not_to_be_had(host, port, cause) from cause
        yield listener


def _not_to_be_had(host: str, port: int, cause: Exception) -> OutsideError:
    detail = getattr(cause, "strerror", None) or str(cause)
    return OutsideError(
        f"cannot listen on {host} port {port}: {detail}",
        hint="give another --port (0: any free one) or --host",
    )


def _url(listener: socket.socket) -> str:
    """Where the socket is reached."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextmanager
def _ended_by_signals(server: uvicorn.Server) -> Iterator[None]:
    """Let SIGINT and SIGTERM end the server and nothing else.

    uvicorn raises them anew when it is done; that second time they find the server ended.
    """

    def end(_number: int, _frame: FrameType | None) -> None:
        server.should_exit = True

    before = {number: signal.signal(number, end) for number in _ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
