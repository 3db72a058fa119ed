"""Faults of an apply: in the registry itself, or on the way to it through a proxy."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final, TypeVar
from urllib.parse import urlsplit

_T = TypeVar("_T")


class Fault(StrEnum):
    """What happens to one request that writes."""

    LOST = "lost before it is carried out"
    UNANSWERED = "carried out, and the answer lost"
    BUSY = "503, not carried out"
    FAILED = "500, carried out"
    INTERRUPTED = "Ctrl-C meanwhile"
    PRESSED_TWICE = "Ctrl-C twice meanwhile, carried out"
    KILLED = "the process is killed before it"
    KILLED_AFTER = "the process is killed after it"


class KilledError(BaseException):
    """Nothing of this process runs any more; whatever it still asks for gets this."""


@dataclass(slots=True)
class Faults:
    """One fault for the write number `at`, from 0; `writes` counts them."""

    fault: Fault | None = None
    at: int = 0
    writes: int = 0
    dead: bool = False

    def next(self) -> Fault | None:
        """The fault of the next write; raises KilledError in a process that is killed."""
        if self.dead:
            raise KilledError
        number, self.writes = self.writes, self.writes + 1
        return self.fault if number == self.at else None

    def kill(self) -> None:
        """End the process."""
        self.dead = True
        raise KilledError


def _press() -> None:
    """Ctrl-C, as the main thread gets it."""
    main = threading.main_thread().ident
    assert main is not None
    signal.pthread_kill(main, signal.SIGINT)
    threading.Event().wait(0.02)  # two that come at once are one


def with_fault(faults: Faults, work: Callable[[], _T], error: Callable[[], Exception]) -> _T:
    """What `work` answers, or what the fault makes of it; `error` is how a connection breaks."""
    match fault := faults.next():
        case Fault.LOST | Fault.BUSY:
            raise error()
        case Fault.KILLED:
            faults.kill()
        case Fault.INTERRUPTED:
            signal.raise_signal(signal.SIGINT)
    done = work()
    match fault:
        case Fault.UNANSWERED | Fault.FAILED:
            raise error()
        case Fault.PRESSED_TWICE:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        case Fault.KILLED_AFTER:
            faults.kill()
    return done


_REASON: Final = b'{"reason": "try again"}'


class _Proxy(ThreadingHTTPServer):
    """Passes requests on to `target`, host and port."""

    def __init__(self, target: tuple[str, int], faults: Faults) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target = target
        self.faults = faults

    def handle_error(self, *_args: object) -> None:
        """Whoever goes away without a word is part of the test."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_one_request(self) -> None:
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        assert isinstance(self.server, _Proxy)
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        fault = None if self.command == "GET" else self.server.faults.next()
        if fault is Fault.LOST:
            self._cut()
        elif fault is Fault.BUSY:
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, _REASON)
        else:
            self._pass_on(self.server.target, body, fault)

    def _pass_on(self, target: tuple[str, int], body: bytes, fault: Fault | None) -> None:
        if fault is Fault.INTERRUPTED:
            _press()
        status, answer = self._asked(target, body)
        if fault is Fault.PRESSED_TWICE:
            _press()
            _press()
        if fault in (Fault.UNANSWERED, Fault.PRESSED_TWICE):
            self._cut()
        elif fault is Fault.FAILED:
            self._answer(HTTPStatus.INTERNAL_SERVER_ERROR, _REASON)
        else:
            self._answer(status, answer)

    def _asked(self, target: tuple[str, int], body: bytes) -> tuple[int, bytes]:
        connection = HTTPConnection(*target, timeout=30)
        try:
            headers = {"Content-Type": "application/json"}
            connection.request(self.command, self.path, body or None, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_args: object) -> None:
        """Say nothing."""


@contextmanager
def faulty_proxy(upstream: str, faults: Faults) -> Iterator[str]:
    """A server on loopback that passes requests on, with these faults; its URL."""
    split = urlsplit(upstream)
    server = _Proxy((str(split.hostname), int(split.port or 0)), faults)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
