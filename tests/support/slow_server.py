"""A server that keeps its clients waiting, in each phase of a request."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"
CHUNKED: Final = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
DRIP: Final = 0.02
"""Seconds between two pieces: far below any limit of silence in the tests."""

Behaviour = Callable[[socket.socket, threading.Event], None]
"""What is done to a connection until the event says that the test is over."""


def silent(connection: socket.socket, over: threading.Event) -> None:
    """Read nothing and say nothing, as a process that is stopped: the system accepted for it."""
    del connection
    over.wait()


def dripping(start: bytes, piece: bytes) -> Behaviour:
    """Answer with `start`, and then with one piece after the other, for ever."""

    def behave(connection: socket.socket, over: threading.Event) -> None:
        connection.recv(65536)
        connection.sendall(start)
        while not over.wait(DRIP):
            connection.sendall(piece)

    return behave


DRIPS: Final = {
    "body": dripping(HEAD, b"x"),
    "status line": dripping(b"HTTP/1.1 200 ", b"x"),
    "headers": dripping(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
    "one header": dripping(b"HTTP/1.1 200 OK\r\nX: ", b"y"),
    "chunks": dripping(CHUNKED, b"1\r\nx\r\n"),
    "one chunk": dripping(CHUNKED + b"ffffff\r\n", b"x"),
    "chunk's size": dripping(CHUNKED, b"0"),
    "trailers": dripping(CHUNKED + b"0\r\n", b"X: y\r\n"),
    "continue": dripping(b"", CONTINUE),
    "until the end": dripping(b"HTTP/1.1 200 OK\r\n\r\n", b"x"),
}
"""By what comes little by little."""


@contextmanager
def slow_server(behaviour: Behaviour) -> Iterator[str]:
    """Treat all connections in this way; gives the URL."""
    over = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []
    connections: list[socket.socket] = []

    def treat(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            behaviour(connection, over)

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                connections.append(connection)
                threads.append(threading.Thread(target=treat, args=(connection,), daemon=True))
                threads[-1].start()

    acceptor = threading.Thread(target=accept, daemon=True)
    acceptor.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        over.set()
        for each in (listener, *connections):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)  # wakes up whoever is blocked on it
        for thread in (acceptor, *threads):
            thread.join()
        listener.close()
