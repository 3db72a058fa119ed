"""Serving the application with uvicorn: in the foreground, or beside a block of Python."""

from __future__ import annotations

import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

import uvicorn

from gitops.model.errors import OutsideError, UsageError
from gitops.registry.embedded.registry import EmbeddedRegistry
from gitops.registry.rest.app import make_app
from gitops.registry.rest.connections import IDLE_SECONDS, Connection
from gitops.registry.rest.hosts import HostNames, is_loopback

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
    with _listening(host, port) as listener:
        server = _server(registry, HostNames(host, allow_hosts))
        with _ended_by_signals(server):
            ready(_url(listener))
            server.run(sockets=[listener])


@contextmanager
def serving(
    registry: EmbeddedRegistry,
    host: str = LOOPBACK,
    port: int = 0,
    *,
    allow_hosts: Iterable[str] = (),
) -> Iterator[str]:
    """Serve in a thread while the block runs; gives the URL. Arguments and errors as `serve`."""
    with _listening(host, port) as listener:
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
def _listening(host: str, port: int) -> Iterator[socket.socket]:
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
