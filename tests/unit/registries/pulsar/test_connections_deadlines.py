"""Requests end at their deadline, whatever the server does."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from typing import TYPE_CHECKING

import pytest
import trustme
from pytest_httpserver import HTTPServer

from gitops.model.config import OAuth2Authentication, SecretRef, TlsConfig
from gitops.model.errors import OutsideError, UnknownOutcomeError
from gitops.registries.pulsar import connections
from gitops.registries.pulsar.connections import Deadlines
from tests.support.pulsar_client import open_test_client, open_test_registry
from tests.support.scripted_server import scripted_server
from tests.support.slow_server import DRIPS, HEAD, dripping, silent, slow_server

pytestmark = pytest.mark.slow


if TYPE_CHECKING:
    from pathlib import Path

LIMIT = 0.3
SOON = {"connect_timeout": 20, "read_timeout": 20, "request_timeout": LIMIT}
"""A short request among long steps: only the deadline can end it."""


def failure(url: str, root: Path, method: str = "GET", **config: object) -> OutsideError:
    admin_client = open_test_client(url, root, **{**SOON, **config})
    with pytest.raises(OutsideError) as error:
        admin_client.get("x") if method == "GET" else admin_client.send(method, "x", b"{}")
    return error.value


@pytest.mark.parametrize("drip", DRIPS)
def test_an_answer_that_comes_little_by_little_ends_at_the_deadline(
    drip: str, tmp_path: Path
) -> None:
    with slow_server(DRIPS[drip]) as url:
        error = failure(url, tmp_path)
    assert f"{LIMIT} s (`timeouts.request`)" in error.what
    assert error.where == f"GET {url}/admin/v2/x"
    assert "timeouts: {request: " in error.hint


def test_a_broker_that_is_stopped_ends_at_the_deadline(tmp_path: Path) -> None:
    with slow_server(silent) as url:
        assert "0.3 s (`timeouts.request`)" in failure(url, tmp_path).what


def test_a_handshake_that_never_ends_is_given_up(tmp_path: Path) -> None:
    with slow_server(silent) as url:
        error = failure(url.replace("http:", "https:"), tmp_path, "POST")
    assert "no connection within 0.3 s" in error.what
    assert not isinstance(error, UnknownOutcomeError)


def test_a_handshake_has_the_time_of_a_connection(tmp_path: Path) -> None:
    with slow_server(silent) as url:
        secure = url.replace("http:", "https:")
        error = failure(secure, tmp_path, connect_timeout=0.05, request_timeout=60)
    assert error.what == "no answer from the registry: no connection within 0.05 s"


def test_the_outcome_of_a_write_that_was_sent_is_not_known(tmp_path: Path) -> None:
    with slow_server(dripping(HEAD, b"x")) as url:
        error = failure(url, tmp_path, "POST", request_timeout=1)
    assert isinstance(error, UnknownOutcomeError)
    assert "after 1 s (`timeouts.request`) only" in error.what


def test_a_large_body_that_nobody_reads_ends_at_the_deadline(tmp_path: Path) -> None:
    with slow_server(silent) as url:
        admin_client = open_test_client(url, tmp_path, **{**SOON, "request_timeout": 1})
        with pytest.raises(UnknownOutcomeError, match="silent after"):
            admin_client.send("POST", "x", b"x" * (32 << 20))


def test_slow_redirects_have_one_deadline_together(tmp_path: Path) -> None:
    to_itself = b"HTTP/1.1 307 Elsewhere\r\nContent-Length: 0\r\nLocation: /admin/v2/x\r\n"

    def redirect(connection: socket.socket, over: threading.Event) -> None:
        while connection.recv(65536) and not over.wait(LIMIT / 3):
            connection.sendall(to_itself + b"\r\n")

    with slow_server(redirect) as url:
        assert "0.3 s (`timeouts.request`)" in failure(url, tmp_path).what


def test_tries_have_one_deadline_together(tmp_path: Path) -> None:
    with slow_server(silent) as url:
        error = failure(url, tmp_path, read_timeout=LIMIT * 0.6)
    assert "0.3 s (`timeouts.request`)" in error.what


def test_a_pause_beyond_the_deadline_is_not_begun(tmp_path: Path) -> None:
    busy = b"HTTP/1.1 503 Busy\r\nRetry-After: 9\r\nContent-Length: 4\r\n\r\nbusy"
    with scripted_server([busy] * 5) as server:
        answer = open_test_client(server.url, tmp_path, request_timeout=5).get("x")
        assert len(server.requests) == 1
    assert (answer.status, answer.body) == (503, b"busy")


def test_a_name_whose_resolver_hangs_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()
    ask = socket.getaddrinfo

    def hang(host: str, port: int, **options: int) -> object:
        if options.get("flags") == socket.AI_NUMERICHOST:
            return ask(host, port, **options)
        over.wait()
        raise socket.gaierror(socket.EAI_AGAIN, "asked in vain")

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    error = failure("http://broker.invalid:8080", tmp_path, "POST")
    over.set()
    assert "no connection within 0.3 s" in error.what
    assert not isinstance(error, UnknownOutcomeError)


def test_all_addresses_of_a_name_have_one_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []

    class Unreachable(socket.socket):
        def connect(self, address: object) -> None:
            tried.append(address)
            limit = self.gettimeout()
            assert limit is not None
            assert limit <= LIMIT
            threading.Event().wait(LIMIT * 0.6)
            raise TimeoutError

    addresses = [(socket.AF_INET, (f"192.0.2.{n}", 8080)) for n in range(9)]
    monkeypatch.setattr(connections, "resolve", lambda *_: addresses)
    monkeypatch.setattr(connections, "_Socket", Unreachable)
    assert "no connection within 0.3 s" in failure("http://broker:8080", tmp_path).what
    assert 1 <= len(tried) < 9


def test_a_later_address_is_tried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with scripted_server([b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]"]) as server:
        port = int(server.url.rpartition(":")[2])
        addresses = [(socket.AF_INET, ("127.0.0.1", each)) for each in (1, port)]
        monkeypatch.setattr(connections, "resolve", lambda *_: addresses)
        assert open_test_client(f"http://broker:{port}", tmp_path).get("x").body == b"[]"


# ---------------------------------------------------------------------------- tokens


def oauth2(issuer: str) -> OAuth2Authentication:
    secret = SecretRef(kind="env", name="TEST_SECRET")
    return OAuth2Authentication(issuer_url=issuer, client_id="me", client_secret=secret)


@pytest.mark.parametrize("drip", ["body", "headers"])
def test_the_token_is_a_part_of_the_request(
    drip: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_SECRET", "s3cret")
    with slow_server(DRIPS[drip]) as issuer:
        error = failure("http://127.0.0.1:1", tmp_path, "POST", authentication=oauth2(issuer))
    assert error.what.startswith("no answer from the OAuth2 issuer: ")
    assert "0.3 s (`timeouts.request`)" in error.what
    assert not isinstance(error, UnknownOutcomeError)


def test_all_threads_that_want_a_token_end_at_the_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_SECRET", "s3cret")
    failures: list[OutsideError] = []
    with slow_server(DRIPS["body"]) as issuer:
        admin_client = open_test_client(
            "http://127.0.0.1:1", tmp_path, authentication=oauth2(issuer), **SOON
        )

        def ask() -> None:
            with pytest.raises(OutsideError) as error:
                admin_client.get("x")
            failures.append(error.value)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    assert len(failures) == 4
    assert all("0.3 s" in each.what for each in failures)


# ---------------------------------------------------------------------------- the whole command


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


def test_the_time_of_the_command_begins_with_its_first_request() -> None:
    clock = Clock()
    deadlines = Deadlines(request=60, run=100, now=clock)
    clock.seconds += 10_000
    assert deadlines.begin().left == 60
    clock.seconds += 70
    deadline = deadlines.begin()
    assert deadline.left == 30
    assert deadline.limit == "100 s (`timeouts.run`)"
    clock.seconds += 40
    assert deadline.left == 0
    with pytest.raises(TimeoutError):
        deadline.within(5)
    assert deadlines.begin().left == 0


def test_slow_but_living_answers_end_with_the_time_of_the_command(tmp_path: Path) -> None:
    tenants = json.dumps([f"t{n}" for n in range(500)]).encode()

    def answer(connection: socket.socket, over: threading.Event) -> None:
        while (asked := connection.recv(65536)) and not over.wait(0.02):
            body = tenants if b"/tenants HTTP" in asked else b"[]"
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    with slow_server(answer) as url:
        registry = open_test_registry(url, tmp_path, run_timeout=LIMIT, concurrency=4)
        with pytest.raises(OutsideError, match=r"0\.3 s \(`timeouts\.run`\)"):
            registry.list_namespaces()
        registry.close()


def test_a_write_after_the_time_of_the_command_is_not_sent(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/admin/v2/x").respond_with_data("", status=204)
    admin_client = open_test_client(httpserver.url_for(""), run_timeout=1e-9)
    with pytest.raises(OutsideError) as error:
        admin_client.send("PUT", "x", b"{}")
    assert not isinstance(error.value, UnknownOutcomeError)
    assert "timeouts: {run: " in error.value.hint
    assert not httpserver.log


# ---------------------------------------------------------------------------- TLS


def test_a_trickle_within_tls_ends_at_the_deadline(tmp_path: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)

    def drip(connection: socket.socket, over: threading.Event) -> None:
        with context.wrap_socket(connection, server_side=True) as secure:
            dripping(HEAD, b"x")(secure, over)

    with slow_server(drip) as url:
        tls = TlsConfig(ca_file="ca.pem")
        error = failure(url.replace("http:", "https:"), tmp_path, tls=tls)
    assert "0.3 s (`timeouts.request`)" in error.what
