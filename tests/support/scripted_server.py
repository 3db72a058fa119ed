"""A server that misbehaves as told: raw bytes, one script for each connection."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

HANG = b""
"""The script of a connection that is never answered; one with text is answered and closed."""

_TLS_RECORD = b"\x16\x03"
"""How a client begins that wants TLS; what it sends has no end of a head."""


@dataclass(slots=True)
class ScriptedServer:
    """Where it listens, and the head of each request that came."""

    url: str
    requests: list[bytes] = field(default_factory=list)


@contextmanager
def scripted_server(scripts: Sequence[bytes]) -> Iterator[ScriptedServer]:
    """Answer the first connections with one script each, and close later ones unanswered."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = ScriptedServer(url=f"http://127.0.0.1:{listener.getsockname()[1]}")
    held: list[socket.socket] = []

    def serve() -> None:
        left = list(scripts)
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            head = _read_head(connection)
            if not head.startswith(_TLS_RECORD):
                server.requests.append(head)
            if left and left[0] == HANG:
                held.append(connection)
            else:
                connection.sendall(left[0] if left else b"")
                connection.close()
            left = left[1:]

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        # A blocked accept wakes up when its socket is shut down, not when it is closed.
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
        for each in (*held, listener):
            each.close()


def _read_head(connection: socket.socket) -> bytes:
    """The request up to the end of its body, as far as it tells its length."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        data += more
        if not more or data.startswith(_TLS_RECORD):
            return data
    head, body = data.split(b"\r\n\r\n", 1)
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    length = int(lengths[0].split(b":")[1]) if lengths else 0
    while len(body) < length:
        body += connection.recv(65536)
    return head
