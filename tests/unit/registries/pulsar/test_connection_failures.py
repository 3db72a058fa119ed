"""What is told of servers that are not what the URL says, on real sockets."""

from __future__ import annotations

import datetime
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import pytest
import trustme

from gitops.model.config import TlsConfig
from gitops.model.errors import OutsideError
from gitops.registries.pulsar import connection_failures
from tests.support.pulsar_client import open_test_client
from tests.support.scripted_server import scripted_server

if TYPE_CHECKING:
    from pathlib import Path

TRUSTED = TlsConfig(ca_file="ca.pem")
REDIRECT = b"HTTP/1.1 307 Elsewhere\r\nContent-Length: 0\r\nLocation: %s\r\n\r\n"


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def root(authority: trustme.CA, tmp_path: Path) -> Path:
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    return tmp_path


@contextmanager
def tls_port(
    authority: trustme.CA, name: str, *, ask: bool = False, days: int = 1
) -> Iterator[int]:
    """A port that shakes hands and reads, and answers nothing."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    now = datetime.datetime.now(datetime.UTC)
    start, end = now - datetime.timedelta(days=9), now + datetime.timedelta(days=days)
    authority.issue_cert(name, not_before=start, not_after=end).configure_cert(context)
    if ask:
        authority.configure_trust(context)
        context.verify_mode = ssl.CERT_REQUIRED
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                plain, _ = listener.accept()
            except OSError:
                return
            with plain, suppress(OSError), context.wrap_socket(plain, server_side=True) as secure:
                secure.recv(65536)  # and no answer

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
        listener.close()


def failure(
    url: str, root: Path, tls: TlsConfig | None = None, *, write: bool = False
) -> OutsideError:
    """Why a request to that URL has no answer."""
    admin_client = open_test_client(url, root, tls=tls or TlsConfig())
    with pytest.raises(OutsideError) as error:
        admin_client.send("POST", "x", b"{}") if write else admin_client.get("x")
    told = f"{error.value.what} {error.value.hint}"
    assert not any(word in told for word in ("('", "Error(", "[SSL", "_ssl.c", "HTTPConnection")), (
        told
    )
    return error.value


@pytest.mark.slow
@pytest.mark.parametrize("write", [False, True])
def test_http_to_a_tls_port(authority: trustme.CA, root: Path, *, write: bool) -> None:
    with tls_port(authority, "localhost") as port:
        error = failure(f"http://localhost:{port}", root, write=write)
    assert error.what == f"no answer from the registry: port {port} of localhost accepts TLS only"
    assert f"https://localhost:{port}" in error.hint


@pytest.mark.slow
@pytest.mark.parametrize("write", [False, True])
def test_https_to_a_plain_port(root: Path, *, write: bool) -> None:
    with scripted_server([b"HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n\r\n\r\n"]) as server:
        error = failure(server.url.replace("http:", "https:"), root, write=write)
    assert "does not use TLS" in error.what
    assert f"`url`: {server.url}" in error.hint


@pytest.mark.slow
@pytest.mark.parametrize(
    ("default", "scheme", "meant"),
    [(6650, "http", "http://127.0.0.1:8080"), (6651, "https", "https://127.0.0.1:8443")],
)
def test_the_port_of_the_binary_protocol(
    root: Path, monkeypatch: pytest.MonkeyPatch, default: int, scheme: str, meant: str
) -> None:
    # Pulsar 4.0.7 closes a connection whose first frame is too large, as text is.
    with scripted_server([]) as server:
        port = int(server.url.rpartition(":")[2])
        monkeypatch.setattr(
            connection_failures, "BINARY_PORTS", {port: connection_failures.BINARY_PORTS[default]}
        )
        url = f"{scheme}://127.0.0.1:{port}"
        for error in (failure(url, root), failure(url, root, write=True)):
            assert f"{port} is the port of Pulsar's binary protocol" in error.what
            assert error.hint.endswith(meant)


@pytest.mark.slow
@pytest.mark.parametrize("ended", [ssl.SSLEOFError, ssl.SSLZeroReturnError])
def test_a_tls_connection_that_the_server_ended_is_cut_off(
    root: Path, monkeypatch: pytest.MonkeyPatch, ended: type[ssl.SSLError]
) -> None:
    """With TLS's own goodbye or without: which of them is met is a matter of moments."""

    def handshake(*_args: object) -> None:
        error = ended(ssl.SSL_ERROR_EOF, "TLS/SSL connection has been closed (EOF)")
        error.reason = ""  # as OpenSSL's own has it
        raise error

    monkeypatch.setattr(ssl.SSLSocket, "do_handshake", handshake)
    with scripted_server([]) as server:
        error = failure(server.url.replace("http:", "https:"), root)
    assert error.what.endswith("the server ended the TLS connection")
    assert "6651" in error.hint


@pytest.mark.slow
def test_a_port_that_closes_could_be_that_of_the_binary_protocol(root: Path) -> None:
    with scripted_server([]) as server:
        error = failure(server.url, root)
    assert "closed the connection without an answer" in error.what
    assert "6650" in error.hint


@pytest.mark.slow
def test_another_protocol_is_named(root: Path) -> None:
    with scripted_server([b"SSH-2.0-OpenSSH_9.2\r\n"] * 5) as server:
        error = failure(server.url, root)
    assert error.what.endswith("the answer is not HTTP: SSH-2.0-OpenSSH_9.2")


@pytest.mark.slow
@pytest.mark.parametrize(
    "rest", [b"Content-Length: 100\r\n\r\n[1]", b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"]
)
def test_an_answer_that_breaks_off_is_incomplete(root: Path, rest: bytes) -> None:
    with scripted_server([b"HTTP/1.1 200 OK\r\n" + rest] * 5) as server:
        assert "the answer is incomplete" in failure(server.url, root).what


@pytest.mark.slow
def test_a_certificate_of_an_unknown_authority(authority: trustme.CA, root: Path) -> None:
    with tls_port(authority, "localhost") as port:
        error = failure(f"https://localhost:{port}", root)
    assert "the server's certificate is not valid" in error.what
    assert "tls: {caFile: " in error.hint


def test_a_certificate_for_another_name(authority: trustme.CA, root: Path) -> None:
    with tls_port(authority, "other.test") as port:
        by_name = failure(f"https://localhost:{port}", root, TRUSTED)
        by_address = failure(f"https://127.0.0.1:{port}", root, TRUSTED)
    assert "localhost" in by_name.what
    assert "127.0.0.1" in by_address.what
    assert "verifyHostname" in by_name.hint
    assert by_address.hint == by_name.hint


def test_an_expired_certificate(authority: trustme.CA, root: Path) -> None:
    with tls_port(authority, "localhost", days=-1) as port:
        error = failure(f"https://localhost:{port}", root, TRUSTED)
    assert "expired" in error.what
    assert "renewed" in error.hint


def test_a_client_certificate_that_is_missing(authority: trustme.CA, root: Path) -> None:
    with tls_port(authority, "localhost", ask=True) as port:
        error = failure(f"https://localhost:{port}", root, TRUSTED)
    assert "authentication: {tls: {certificateFile: " in error.hint


@pytest.mark.slow
@pytest.mark.parametrize("host", ["no-such-host.invalid", f"{'a' * 70}.invalid"])
@pytest.mark.parametrize("write", [False, True])
def test_a_name_that_nobody_has(root: Path, host: str, *, write: bool) -> None:
    error = failure(f"http://{host}:8080", root, write=write)
    assert "no answer from the registry: the name of the host cannot be resolved" in error.what


@pytest.mark.slow
def test_a_broker_that_advertises_an_address_out_of_reach(root: Path) -> None:
    with scripted_server([REDIRECT % b"http://broker-0.invalid:8080/admin/v2/x"]) as server:
        error = failure(server.url, root)
    assert "cannot be resolved" in error.what
    assert "every broker by the address that it advertises" in error.hint
