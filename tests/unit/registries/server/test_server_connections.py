"""Bytes that clients send and no HTTP library would: all are answered, or the connection ends."""

from __future__ import annotations

import asyncio
import io
import logging
import socket
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPResponse
from pathlib import Path
from typing import Final, cast
from urllib.parse import urlsplit

import pytest
import uvicorn
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.server import server
from gitops.registries.server.server import Connection, serve_in_thread
from tests.support.examples import examples

FINE: Final = b"GET /admin/v2/clusters HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
PUT: Final = b"PUT /admin/v2/tenants/t HTTP/1.1\r\nHost: localhost\r\n"
POST: Final = b"POST /nonsense HTTP/1.1\r\nHost: localhost\r\n"
JSON: Final = b"Content-Type: application/json\r\n"
CHUNKED: Final = b"Transfer-Encoding: chunked\r\n"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    registry = EmbeddedRegistry("local", tmp_path_factory.mktemp("served") / "registry.db")
    with serve_in_thread(registry) as url:
        yield url
    registry.close()


def connected(url: str) -> socket.socket:
    address = urlsplit(url)
    assert address.hostname is not None
    assert address.port is not None
    return socket.create_connection((address.hostname, address.port), timeout=30)


def rest_of(connection: socket.socket) -> bytes:
    """What comes until the server ends the connection."""
    received = b""
    try:
        while part := connection.recv(65536):
            received += part
    except ConnectionError:
        pass
    return received


def exchanged(url: str, *parts: bytes) -> bytes:
    """What is answered to these parts, after which nothing follows."""
    with connected(url) as connection:
        try:
            for part in parts:
                connection.sendall(part)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        return rest_of(connection)


class _Received:
    """Bytes that were received, as the socket that `HTTPResponse` wants."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, _mode: str) -> io.BytesIO:
        return io.BytesIO(self._data)


def status_of(received: bytes, method: str = "GET") -> int:
    """The status of the first answer, which must be a whole one."""
    response = HTTPResponse(cast("socket.socket", _Received(received)), method=method)
    response.begin()
    response.read()
    return response.status


def assert_quiet(caplog: pytest.LogCaptureFixture) -> None:
    told = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert not told, [record.getMessage() for record in told]


@pytest.mark.parametrize(
    ("request_parts", "status"),
    [
        ([PUT + JSON + CHUNKED + b"\r\nzz\r\n[]\r\n"], 400),
        ([PUT + JSON + CHUNKED + b"\r\n2\r\n{}", b"XX"], 400),
        ([PUT + JSON + CHUNKED + b"\r\nffffffffffffffffffffff\r\n"], 400),
        ([PUT + JSON + b"Content-Length: -1\r\n\r\n"], 400),
        ([PUT + JSON + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"], 400),
        ([b"PUT /admin/v2/tenants/t HTTP/1.1\r\n\r\n"], 400),
        ([PUT + b"Host: other\r\n\r\n"], 400),
        ([b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"], 400),
        ([b"GET /\xc3\xa9 HTTP/1.1\r\nHost: localhost\r\n\r\n"], 400),
        ([b"nonsense\r\n\r\n"], 400),
    ],
)
def test_what_is_no_http_is_told_so(
    url: str, request_parts: list[bytes], status: int, caplog: pytest.LogCaptureFixture
) -> None:
    with connected(url) as connection:
        for part in request_parts:
            connection.sendall(part)
        assert status_of(rest_of(connection)) == status
    assert status_of(exchanged_whole(url)) == 200
    assert_quiet(caplog)


def test_a_request_that_breaks_while_it_is_decided_has_one_answer(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert status_of(asyncio.run(_broken_while_decided(monkeypatch))) == 400
    assert_quiet(caplog)


async def _broken_while_decided(monkeypatch: pytest.MonkeyPatch) -> bytes:
    asked, told, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()
    tell = H11Protocol.send_400_response

    def decided_just_then(connection: H11Protocol, msg: str) -> None:
        told.set()  # before the connection is known to be lost
        tell(connection, msg)

    monkeypatch.setattr(H11Protocol, "send_400_response", decided_just_then)

    async def decide(_scope: Scope, _receive: Receive, send: Send) -> None:
        asked.set()
        await told.wait()
        try:
            await Response("decided")(_scope, _receive, send)
        finally:
            ended.set()

    config = uvicorn.Config(
        decide, http=Connection, ws="none", log_level="error", log_config=None, lifespan="off"
    )
    config.load()
    state = ServerState()
    server = await asyncio.get_running_loop().create_server(
        lambda: Connection(config=config, server_state=state, app_state={}), "127.0.0.1", 0
    )
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(PUT + CHUNKED + b"\r\n")
        await asked.wait()
        writer.write(b"zz\r\n")
        received = await reader.read()
        await ended.wait()
        writer.close()
        return received


@pytest.mark.parametrize("start", [PUT + b"X: ", PUT + b"X: x\r\n", b"GET /"])
def test_a_head_without_end_ends_the_connection(
    url: str, start: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with connected(url) as connection:
        try:
            connection.sendall(start)
            for _ in range(40):
                connection.sendall(start[-5:] * 200_000)
        except ConnectionError:
            pass
        received = rest_of(connection)
    # What is left unread of a request can take the answer with it.
    assert not received or status_of(received) == 400
    assert status_of(exchanged_whole(url)) == 200
    assert_quiet(caplog)


def exchanged_whole(url: str) -> bytes:
    """The answer to a request as it should be."""
    with connected(url) as connection:
        connection.sendall(FINE)
        return rest_of(connection)


@pytest.mark.parametrize(
    "cut",
    [
        PUT,
        PUT + JSON + b"Content-Length: 5\r\n\r\n{",
        PUT + JSON + b"Content-Length: 5\r\nExpect: 100-continue\r\n\r\n",
        PUT + JSON + CHUNKED + b"\r\n5\r\n{",
        PUT + JSON + CHUNKED + b"\r\n2\r\n{}\r\n",
    ],
)
def test_a_client_that_leaves_in_the_middle_is_not_told_of(
    url: str, cut: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    exchanged(url, cut)
    assert status_of(exchanged_whole(url)) == 200
    assert_quiet(caplog)


@pytest.mark.slow
def test_rubbish_after_the_answer_ends_the_connection(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    with connected(url) as connection:
        connection.sendall(POST + CHUNKED + b"\r\n2\r\n{}\r\n")
        answer = connection.recv(65536)
        connection.sendall(b"zz\r\n")
        answer += rest_of(connection)
    assert status_of(answer) == 404
    assert_quiet(caplog)


def test_a_body_beyond_the_limit_is_not_kept(url: str, caplog: pytest.LogCaptureFixture) -> None:
    block = b"x" * (1 << 20)
    with connected(url) as connection:
        connection.sendall(PUT + JSON + b"Connection: close\r\n" + CHUNKED + b"\r\n")
        try:
            for _ in range(40):
                connection.sendall(b"100000\r\n" + block + b"\r\n")
        except ConnectionError:
            pass
        assert status_of(rest_of(connection)) == 413
    assert_quiet(caplog)


@pytest.mark.slow
def test_an_announced_body_beyond_the_limit_is_refused_before_it_is_sent(url: str) -> None:
    head = PUT + JSON + b"Expect: 100-continue\r\nContent-Length: 300000000\r\n"
    with connected(url) as connection:
        connection.sendall(head + b"Connection: close\r\n\r\n")
        assert status_of(rest_of(connection)) == 413


@pytest.mark.parametrize("upgrade", [b"h2c", b"websocket"])
def test_an_offer_of_another_protocol_is_passed_over(
    url: str, upgrade: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    offer = b"Connection: Upgrade\r\nUpgrade: " + upgrade
    with connected(url) as connection:
        connection.sendall(FINE.replace(b"\r\n\r\n", b"\r\n" + offer + b"\r\n\r\n"))
        assert status_of(rest_of(connection)) == 200
    assert_quiet(caplog)


@pytest.mark.slow
@pytest.mark.parametrize("sent", [b"", b"PUT /", PUT + JSON + b"Content-Length: 5\r\n\r\n{"])
def test_a_silent_client_is_left(
    tmp_path: Path, sent: bytes, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(server, "IDLE_SECONDS", 0.05)
    registry = EmbeddedRegistry("local", tmp_path / "registry.db")
    with serve_in_thread(registry) as url, connected(url) as connection:
        connection.sendall(sent)
        assert rest_of(connection) == b""
        assert status_of(exchanged_whole(url)) == 200
    registry.close()
    assert_quiet(caplog)


@pytest.mark.slow
def test_a_flood_of_connections_ends_at_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(server, "_MOST_CONNECTIONS", 3)
    registry = EmbeddedRegistry("local", tmp_path / "registry.db")
    with serve_in_thread(registry) as url:
        held = [connected(url) for _ in range(3)]
        assert exchanged_whole(url) == b""
        held[0].sendall(FINE)
        assert status_of(rest_of(held[0])) == 200
        for each in held:
            each.close()
    registry.close()
    assert_quiet(caplog)


PROGRAM = """
import sys
from pathlib import Path
from gitops.registries.embedded.registry import EmbeddedRegistry
from gitops.registries.server.server import serve

registry = EmbeddedRegistry("local", Path(sys.argv[1]))
serve(registry, "127.0.0.1", 0, lambda url: print(url, flush=True))
"""


@pytest.mark.slow
def test_clients_that_hang_neither_hold_up_the_end_nor_are_told_of(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "registry.db")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        hanging = [connected(url) for _ in range(3)]
        hanging[1].sendall(PUT)
        hanging[2].sendall(PUT + JSON + b"Content-Length: 5\r\n\r\n{")
        assert status_of(exchanged_whole(url)) == 200
        process.terminate()
        _, complaints = process.communicate(timeout=60)
        for each in hanging:
            each.close()
    assert (process.returncode, complaints) == (0, "")


HEADERS: Final = st.sampled_from(
    [
        b"Host: localhost",
        b"Host: evil.example",
        b"Host: [",
        b"Host:",
        b"Content-Type: application/json",
        b"Content-Type: \xff",
        b"Content-Length: 2",
        b"Content-Length: 7",
        b"Content-Length: 99999999999999999999999",
        b"Content-Length: x",
        b"Transfer-Encoding: chunked",
        b"Transfer-Encoding: gzip",
        b"Expect: 100-continue",
        b"Connection: close",
        b"Connection: upgrade",
        b"Upgrade: h2c",
        b"Origin: null",
        b"Accept: application/json;q=nan, \xff;q=inf",
        b"X: " + b"x" * 20_000,
        b" folded",
        b": nameless",
        b"\x00: nul",
    ]
)
TARGETS: Final = st.sampled_from(
    [
        b"/admin/v2/clusters",
        b"/admin/v2/tenants/t",
        b"/admin/v2/schemas/t/n/x/schema",
        b"/admin/v2/schemas/t/n/%ff%fe/schema?force=%ff&=&",
        b"/admin/v2/tenants/%zz",
        b"http://localhost/admin/v2/clusters",
        b"*",
        b"//",
        b"localhost:80",
        b"?",
    ]
)
METHODS: Final = st.sampled_from([b"GET", b"PUT", b"POST", b"DELETE", b"HEAD", b"CONNECT", b"X"])
VERSIONS: Final = st.sampled_from([b"HTTP/1.1", b"HTTP/1.1", b"HTTP/1.0", b"HTTP/2.0", b"HTTP/0.9"])
BODIES: Final = st.lists(
    st.sampled_from([b"{}", b"2\r\n{}\r\n", b"0\r\n\r\n", b"zz\r\n", b"\r\n", b"\x00", b"[" * 9999])
    | st.binary(max_size=9),
    max_size=4,
).map(b"".join)


@st.composite
def requests(draw: st.DrawFn) -> bytes:
    """A request, mostly broken somewhere."""
    line = b" ".join((draw(METHODS), draw(TARGETS), draw(VERSIONS)))
    headers = draw(st.lists(HEADERS, max_size=5))
    ending = draw(st.sampled_from([b"\r\n", b"\r\n", b"\n"]))
    return ending.join((line, *headers, b"", draw(BODIES)))


@pytest.mark.slow
@settings(
    deadline=None,
    max_examples=examples(80),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.binary(max_size=30) | requests() | st.tuples(requests(), requests()).map(b"".join))
def test_any_bytes_are_answered_or_the_connection_ends(
    url: str, caplog: pytest.LogCaptureFixture, data: bytes
) -> None:
    received = exchanged(url, data).removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
    if received:
        status_of(received, method="HEAD" if data.startswith(b"HEAD ") else "GET")
    assert status_of(exchanged_whole(url)) == 200
    assert_quiet(caplog)


def test_a_head_with_a_broken_body_is_answered_without_one(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    head = b"HEAD /admin/v2/clusters HTTP/1.1\r\nHost: localhost\r\n"
    received = exchanged(url, head + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n")
    assert (received[:10], received[-4:]) == (b"HTTP/1.1 4", b"\r\n\r\n")
    assert_quiet(caplog)
