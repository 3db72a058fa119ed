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
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import urlsplit

_T = TypeVar("_T")


class Fault(StrEnum):
    """What happens to one request that writes; of `FLAKY`, to every third one that reads."""

    LOST = "lost before it is carried out"
    UNANSWERED = "carried out, and the answer lost"
    LATE = "carried out, and the answer comes too late"
    CUT = "carried out, and the answer is cut"
    BUSY = "503, not carried out"
    LIMITED = "429, not carried out"
    FAILED = "500, carried out"
    GATEWAY = "502 with HTML, carried out"
    PAGE = "200 with HTML, carried out"
    GONE = "carried out, and nothing answers any more"
    FLAKY = "a read is cut, or answered with 503, 502 and HTML, or the half of it"
    INTERRUPTED = "Ctrl-C meanwhile"
    PRESSED_TWICE = "Ctrl-C twice meanwhile, carried out"
    KILLED = "the process is killed before it"
    KILLED_AFTER = "the process is killed after it"
    CUT_JOURNAL = "the process is killed while it writes the journal"


NOT_CARRIED_OUT: Final = frozenset({Fault.LOST, Fault.BUSY, Fault.LIMITED})
CARRIED_OUT: Final = frozenset(
    {
        Fault.UNANSWERED,
        Fault.LATE,
        Fault.CUT,
        Fault.FAILED,
        Fault.GATEWAY,
        Fault.PAGE,
        Fault.GONE,
    }
)
_OF_READS: Final = (Fault.UNANSWERED, Fault.BUSY, Fault.CUT, Fault.GATEWAY, Fault.LIMITED)
KILLS: Final = frozenset({Fault.KILLED, Fault.KILLED_AFTER, Fault.CUT_JOURNAL})


class KilledError(BaseException):
    """Nothing of this process runs any more; whatever it still asks for gets this."""


@dataclass(slots=True)
class Faults:
    """One fault for the write number `at`, from 0; `writes` counts them.

    With `gone` nothing answers. Of a journal `at` and `lines` count the lines, and `kept` is the
    share of the line that is written before the process ends.
    """

    fault: Fault | None = None
    at: int = 0
    kept: float = 0.0
    writes: int = 0
    lines: int = 0
    reads: int = 0
    dead: bool = False
    gone: bool = False

    def set(self, fault: Fault | None, at: int = 0, kept: float = 0.0) -> None:
        """What happens next, to a new process."""
        self.fault, self.at, self.kept = fault, at, kept
        self.writes, self.lines, self.reads = 0, 0, 0
        self.dead = self.gone = False

    def check_alive(self) -> None:
        """Raise KilledError in a process that is killed."""
        if self.dead:
            raise KilledError

    def next(self) -> Fault | None:
        """The fault of the next write; raises KilledError in a process that is killed."""
        self.check_alive()
        number, self.writes = self.writes, self.writes + 1
        if self.gone:
            return Fault.LOST
        self.gone = self.fault is Fault.GONE and number == self.at
        return self.fault if number == self.at else None

    def next_read(self) -> Fault | None:
        """The fault of the next read, of those that a write may have."""
        self.reads += 1
        if self.gone:
            return Fault.LOST
        if self.fault is not Fault.FLAKY or self.reads % 3:
            return None
        return _OF_READS[self.reads // 3 % len(_OF_READS)]

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
        case Fault.KILLED:
            faults.kill()
        case Fault.INTERRUPTED:
            signal.raise_signal(signal.SIGINT)
        case _ if fault in NOT_CARRIED_OUT:
            raise error()
    done = work()
    match fault:
        case _ if fault in CARRIED_OUT:
            raise error()
        case Fault.PRESSED_TWICE:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        case Fault.KILLED_AFTER:
            faults.kill()
    return done


Append = Callable[..., None]
"""Appends a line to a file."""


def cutting(append: Append, faults: Faults) -> Append:
    """The same, but that the process may be killed in front of a line, in it, or behind it."""

    def cut(path: Path, line: bytes, *, sync: bool) -> None:
        faults.check_alive()
        number, faults.lines = faults.lines, faults.lines + 1
        if faults.fault is not Fault.CUT_JOURNAL or number != faults.at:
            append(path, line, sync=sync)
            return
        if kept := line[: int(len(line) * faults.kept)]:
            append(path, kept, sync=sync)
        faults.kill()

    return cut


LATE_SECONDS: Final = 3.0
"""How late an answer is: longer than a client of the tests waits."""
_REASON: Final = b'{"reason": "try again"}'
_PAGE: Final = b"<html><head><title>502 Bad Gateway</title></head><body></body></html>"


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
        faults = self.server.faults
        try:
            fault = faults.next_read() if self.command == "GET" else faults.next()
        except KilledError:  # another thread's, whose process was killed on the way
            fault = Fault.LOST
        if fault is Fault.LOST:
            self._cut()
        elif fault in (Fault.BUSY, Fault.LIMITED):
            busy = fault is Fault.BUSY
            self._answer(
                HTTPStatus.SERVICE_UNAVAILABLE if busy else HTTPStatus.TOO_MANY_REQUESTS, _REASON
            )
        else:
            self._pass_on(self.server.target, body, fault)

    def _pass_on(self, target: tuple[str, int], body: bytes, fault: Fault | None) -> None:
        if fault is Fault.INTERRUPTED:
            _press()
        status, answer = self._asked(target, body)
        match fault:
            case Fault.PRESSED_TWICE:
                _press()
                _press()
                self._cut()
            case Fault.UNANSWERED | Fault.GONE:
                self._cut()
            case Fault.LATE:
                threading.Event().wait(LATE_SECONDS)
                self._cut()
            case Fault.CUT:
                self._answer(status, answer or _REASON, cut=True)
            case Fault.FAILED:
                self._answer(HTTPStatus.INTERNAL_SERVER_ERROR, _REASON)
            case Fault.GATEWAY | Fault.PAGE:
                bad = fault is Fault.GATEWAY
                self._answer(HTTPStatus.BAD_GATEWAY if bad else HTTPStatus.OK, _PAGE, "text/html")
            case _:
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

    def _answer(
        self, status: int, body: bytes, kind: str = "application/json", *, cut: bool = False
    ) -> None:
        self.send_response(status)
        if status != HTTPStatus.NO_CONTENT or cut:
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if cut else body)
        self.wfile.flush()
        if cut:
            self._cut()

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
