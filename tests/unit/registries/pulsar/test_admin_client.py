"""Retries, redirects, limits: against servers that behave and servers that do not."""

from __future__ import annotations

import gzip
import socket
import time
import traceback
from typing import TYPE_CHECKING

import pytest
import urllib3
from werkzeug import Request, Response

from gitops import __version__
from gitops.model.config import SecretRef, TlsAuthentication, TokenAuthentication
from gitops.model.errors import OutsideError, UnknownOutcomeError, UsageError
from gitops.registries.pulsar import http_client
from gitops.registries.pulsar.admin_client import READ_RETRY
from gitops.registries.pulsar.http_client import LONGEST_WAIT
from tests.support.pulsar_client import open_test_client
from tests.support.scripted_server import HANG, scripted_server

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_httpserver import HTTPServer

TOKEN = TokenAuthentication(token=SecretRef(kind="env", name="TEST_SECRET"))
SECRET = "s3cret-token"
FINE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]"


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_SECRET", SECRET)


def statuses(*codes: int) -> tuple[list[str], Callable[[Request], Response]]:
    """A handler that answers one status after the other, and the requests that it saw."""
    seen: list[str] = []

    def handler(request: Request) -> Response:
        seen.append(request.method)
        return Response("[]", status=codes[min(len(seen), len(codes)) - 1])

    return seen, handler


def test_a_request_says_who_asks_and_for_what(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/base/admin/v2/tenants").respond_with_data('["a"]')
    admin_client = open_test_client(httpserver.url_for("/base"), authentication=TOKEN)
    answer = admin_client.get("tenants")
    assert answer.body == b'["a"]'
    headers = httpserver.log[0][0].headers
    assert headers["User-Agent"] == f"pulsar-schema-gitops/{__version__}"
    assert headers["Accept"] == "application/json"
    assert headers["Accept-Encoding"] == "identity"
    assert headers["Authorization"] == f"Bearer {SECRET}"


def test_a_path_is_sent_as_it_is_encoded(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/admin/v2/schemas/a/b/c+d e").respond_with_json([])
    assert open_test_client(httpserver.url_for("")).get("schemas/a/b/c%2Bd%20e").status == 200


@pytest.mark.slow
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_connection_that_the_server_has_ended_is_made_anew(method: str) -> None:
    with scripted_server([FINE, FINE]) as server:
        admin_client = open_test_client(server.url)
        for _ in range(2):
            answer = admin_client.get("x") if method == "GET" else admin_client.send(method, "x")
            assert answer.body == b"[]"
            time.sleep(0.1)  # until its end has come


# ---------------------------------------------------------------------------- retries


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_read_is_repeated_after_a_busy_answer(httpserver: HTTPServer, status: int) -> None:
    seen, handler = statuses(status, status, 200)
    httpserver.expect_request("/admin/v2/tenants").respond_with_handler(handler)
    assert open_test_client(httpserver.url_for("")).get("tenants").status == 200
    assert len(seen) == 3


@pytest.mark.slow
def test_a_read_is_not_repeated_for_ever(httpserver: HTTPServer) -> None:
    seen, handler = statuses(503)
    httpserver.expect_request("/admin/v2/tenants").respond_with_handler(handler)
    assert open_test_client(httpserver.url_for("")).get("tenants").status == 503
    assert len(seen) == 5


@pytest.mark.parametrize("status", [400, 401, 404, 409, 500])
def test_a_read_is_not_repeated_after_a_clear_answer(httpserver: HTTPServer, status: int) -> None:
    seen, handler = statuses(status, 200)
    httpserver.expect_request("/admin/v2/tenants").respond_with_handler(handler)
    assert open_test_client(httpserver.url_for("")).get("tenants").status == status
    assert len(seen) == 1


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_a_write_is_not_repeated_after_a_busy_answer(httpserver: HTTPServer, method: str) -> None:
    seen, handler = statuses(503, 200)
    httpserver.expect_request("/admin/v2/x").respond_with_handler(handler)
    assert open_test_client(httpserver.url_for("")).send(method, "x", b"1").status == 503
    assert seen == [method]


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n[]",
        b"HTTP/1.1 200 " + b"x" * 70_000 + b"\r\n\r\n",
    ],
    ids=["closed", "no http", "cut", "bad chunk", "endless status line"],
)
def test_a_read_is_repeated_after_a_broken_answer(broken: bytes) -> None:
    with scripted_server([broken or b"\r\n", FINE]) as server:
        assert open_test_client(server.url).get("tenants").body == b"[]"
        assert len(server.requests) == 2


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
@pytest.mark.parametrize(
    "broken", [b"\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n["], ids=["closed", "cut"]
)
def test_a_write_is_not_repeated_and_its_outcome_is_not_known(method: str, broken: bytes) -> None:
    with scripted_server([broken, FINE]) as server:
        with pytest.raises(OutsideError) as error:
            open_test_client(server.url).send(method, "schemas/a/b/c/schema", b"{}")
        assert len(server.requests) == 1
    assert error.value.where == f"{method} {server.url}/admin/v2/schemas/a/b/c/schema"
    assert isinstance(error.value, UnknownOutcomeError)
    assert "whether the request was carried out is not known" in error.value.what
    assert error.value.hint == "check what the registry contains before you repeat it"


@pytest.mark.slow
def test_a_write_that_times_out_is_not_repeated() -> None:
    with scripted_server([HANG, FINE]) as server:
        with pytest.raises(UnknownOutcomeError):
            open_test_client(server.url, read_timeout=0.5).send("POST", "x", b"{}")
        assert len(server.requests) == 1


@pytest.mark.slow
def test_a_read_that_times_out_is_repeated() -> None:
    with scripted_server([HANG, FINE]) as server:
        assert open_test_client(server.url, read_timeout=0.05).get("x").body == b"[]"


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_port_where_nobody_listens_is_named(method: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    admin_client = open_test_client(f"http://127.0.0.1:{port}")
    with pytest.raises(OutsideError, match="no answer from the registry") as error:
        admin_client.get("x") if method == "GET" else admin_client.send(method, "x")
    assert f"127.0.0.1:{port}" in error.value.where
    assert "not known" not in error.value.hint


@pytest.mark.parametrize(
    ("asked", "waited"), [("3", 3), ("86400", LONGEST_WAIT), ("soon", None), (None, None)]
)
def test_a_server_may_ask_for_a_bounded_wait(asked: str | None, waited: float | None) -> None:
    response = urllib3.HTTPResponse(headers={"Retry-After": asked} if asked else {})
    assert READ_RETRY.get_retry_after(response) == waited


# ---------------------------------------------------------------------------- redirects


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
@pytest.mark.parametrize("status", [307, 308])
def test_the_owner_of_a_bundle_is_asked_with_the_same_request(
    httpserver: HTTPServer, method: str, status: int
) -> None:
    with scripted_server([FINE]) as owner:
        httpserver.expect_request("/admin/v2/x").respond_with_data(
            status=status, headers={"Location": f"{owner.url}/admin/v2/x?authoritative=true"}
        )
        admin_client = open_test_client(httpserver.url_for(""), authentication=TOKEN)
        answer = admin_client.get("x") if method == "GET" else admin_client.send(method, "x", b"{}")
        (request,) = owner.requests
    assert answer.status == 200
    assert answer.url == f"{owner.url}/admin/v2/x?authoritative=true"
    assert request.startswith(f"{method} /admin/v2/x?authoritative=true ".encode())
    assert f"Authorization: Bearer {SECRET}".encode() in request


@pytest.mark.parametrize("status", [301, 302, 303])
def test_a_redirect_that_is_no_brokers_gets_no_credentials(
    httpserver: HTTPServer, status: int
) -> None:
    httpserver.expect_request("/admin/v2/x").respond_with_data(
        status=status, headers={"Location": "https://login.example/start?state=abc"}
    )
    admin_client = open_test_client(httpserver.url_for(""), authentication=TOKEN)
    with pytest.raises(OutsideError, match=r"to https://login\.example:443 ") as error:
        admin_client.get("x")
    assert "url" in error.value.hint
    assert len(httpserver.log) == 1


def test_a_path_that_a_redirect_leads_to_is_encoded() -> None:
    moved = b"HTTP/1.1 307 Elsewhere\r\nContent-Length: 0\r\nLocation: /t\xe4 b/%2B?c=d e\r\n\r\n"
    with scripted_server([moved, FINE]) as server:
        assert open_test_client(server.url).get("x").status == 200
    assert server.requests[1].startswith(b"GET /t%C3%A4%20b/%2B?c=d%20e HTTP/1.1\r\n")


@pytest.mark.slow
def test_redirects_in_a_circle_end(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/admin/v2/x").respond_with_data(
        status=307, headers={"Location": "/admin/v2/x"}
    )
    with pytest.raises(OutsideError, match="more than 5 redirects") as error:
        open_test_client(httpserver.url_for("")).get("x")
    assert len(httpserver.log) == 6
    assert error.value.where == f"GET {httpserver.url_for('/admin/v2/x')}"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[", "the connection broke"),
        (b"HTTP/1.1 302 Elsewhere\r\nContent-Length: 0\r\nLocation: /x?t=2\r\n\r\n", "redirects"),
        (b"HTTP/1.1 307 Elsewhere\r\nContent-Length: 0\r\nLocation: ftp://x\r\n\r\n", "no http"),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 2000, "larger than"),
    ],
)
def test_of_a_redirects_target_only_host_and_path_are_told(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch, answer: bytes, said: str
) -> None:
    monkeypatch.setattr(http_client, "LARGEST_ANSWER", 1000)
    with scripted_server([answer]) as owner:
        there = owner.url.replace("http://", f"http://{SECRET}:{SECRET}@")
        httpserver.expect_request("/admin/v2/x").respond_with_data(
            status=307, headers={"Location": f"{there}/admin/v2/x?token={SECRET}#{SECRET}"}
        )
        with pytest.raises(OutsideError, match=said) as error:
            open_test_client(httpserver.url_for("")).send("POST", "x", b"{}")
    assert error.value.where == f"POST {owner.url}/admin/v2/x"
    assert SECRET not in error.value.what + error.value.hint


def test_an_answer_names_its_request_without_the_query(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/admin/v2/x").respond_with_data(
        status=307, headers={"Location": f"/admin/v2/y?token={SECRET}"}
    )
    httpserver.expect_request("/admin/v2/y").respond_with_data(status=500)
    answer = open_test_client(httpserver.url_for("")).get("x")
    assert answer.where == f"GET {httpserver.url_for('/admin/v2/y')}"


@pytest.mark.slow
@pytest.mark.parametrize("location", ["", "file:///etc/passwd", "http://[", "//:0"])
def test_a_redirect_to_nowhere_ends_it(location: str) -> None:
    answer = f"HTTP/1.1 307 Elsewhere\r\nContent-Length: 0\r\nLocation: {location}\r\n\r\n"
    with (
        scripted_server([answer.encode()]) as server,
        pytest.raises(OutsideError, match="no http"),
    ):
        open_test_client(server.url).get("x")


# ---------------------------------------------------------------------------- limits, secrets


@pytest.mark.parametrize(
    "head", [b"Content-Length: 2000\r\n\r\n", b"\r\n"], ids=["announced", "until the end"]
)
def test_an_answer_beyond_the_limit_is_refused(
    monkeypatch: pytest.MonkeyPatch, head: bytes
) -> None:
    monkeypatch.setattr(http_client, "LARGEST_ANSWER", 1000)
    answer = b"HTTP/1.1 200 OK\r\n" + head + b"x" * 2000
    with (
        scripted_server([answer]) as server,
        pytest.raises(OutsideError, match="larger than"),
    ):
        open_test_client(server.url).get("x")


@pytest.mark.slow
def test_an_answer_whose_objects_would_fill_the_memory_is_refused(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_client, "MOST_CONTAINERS", 10)
    httpserver.expect_request("/admin/v2/good").respond_with_data(f"[{', '.join(['{}'] * 9)}]")
    httpserver.expect_request("/admin/v2/bad").respond_with_data(f"[{', '.join(['[]'] * 10)}]")
    client = open_test_client(httpserver.url_for(""))

    assert client.get("good").status == 200
    with pytest.raises(OutsideError, match="more than 10 objects and arrays"):
        client.get("bad")


def test_a_small_answer_that_unzips_beyond_the_limit_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http_client, "LARGEST_UNPACKED", 1000)
    body = gzip.compress(b"x" * 2000)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n"
    with (
        scripted_server([head.encode() + body]) as server,
        pytest.raises(OutsideError, match="larger than"),
    ):
        open_test_client(server.url).get("x")


def test_no_secret_is_in_an_error_or_a_repr() -> None:
    admin_client = open_test_client("http://127.0.0.1:1", authentication=TOKEN)
    with pytest.raises(OutsideError) as error:
        admin_client.get("x")
    shown = "".join(traceback.format_exception(error.value)) + error.value.where + error.value.hint
    assert SECRET not in shown + repr(admin_client)


def test_a_client_certificate_over_plain_http_is_refused() -> None:
    with pytest.raises(UsageError, match="https"):
        open_test_client(
            "http://broker",
            authentication=TlsAuthentication(certificate_file="c", key_file="k"),
        )
