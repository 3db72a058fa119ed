"""Serving the application with uvicorn: in the foreground, or beside a block of Python."""

from __future__ import annotations

import ipaddress
import logging
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

import uvicorn

from gitops.model.errors import OutsideError, UsageError
from gitops.registry.embedded.registry import EmbeddedRegistry
from gitops.registry.rest.app import make_app

LOOPBACK: Final = "127.0.0.1"
_BACKLOG: Final = 128
_GRACE_SECONDS: Final = 5
_LAST_PORT: Final = 65_535
_ENDING: Final = (signal.SIGINT, signal.SIGTERM)
_LOG: Final = logging.getLogger(__name__)


def serve(registry: EmbeddedRegistry, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM, then return; to be called in the main thread.

    Port 0 means a free one; `ready` is called with the URL once connections are accepted. A host
    that other machines can reach is warned about, for there is no authentication. Raises
    OutsideError if host and port cannot be had, UsageError for a port that is none.
    """
    with _listening(host, port) as listener:
        server = _server(registry)
        with _ended_by_signals(server):
            ready(_url(listener))
            server.run(sockets=[listener])


@contextmanager
def serving(registry: EmbeddedRegistry, host: str = LOOPBACK, port: int = 0) -> Iterator[str]:
    """Serve in a thread while the block runs; gives the URL. Raises as `serve`."""
    with _listening(host, port) as listener:
        server = _server(registry)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield _url(listener)
        finally:
            server.should_exit = True
            thread.join()


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server on that host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _server(registry: EmbeddedRegistry) -> uvicorn.Server:
    """A server that leaves logging as it is, and behaves the same whatever is installed."""
    config = uvicorn.Config(
        make_app(registry),
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        log_level="warning",
        server_header=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
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
