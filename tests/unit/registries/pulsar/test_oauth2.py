"""OAuth2 client credentials against an issuer on this machine."""

from __future__ import annotations

import json
import traceback
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import pytest
from werkzeug import Request, Response

from gitops.model.config import OAuth2Authentication, SecretRef
from gitops.model.errors import OutsideError, UsageError
from gitops.registries.pulsar.oauth2 import IssuedCredentials, read_client
from gitops.registries.pulsar.settings import PulsarConfig
from tests.support.pulsar_client import open_test_client, unhurried

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_httpserver import HTTPServer

SECRET = "s3cret-of-the-client"
REF = SecretRef(kind="env", name="TEST_SECRET")


class Clock:
    """Seconds, as the test wants them."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


class Issuer:
    """An OAuth2 issuer: `/issuer` with discovery, and a token endpoint that counts."""

    def __init__(self, server: HTTPServer) -> None:
        self.url = server.url_for("/issuer")
        self.forms: list[dict[str, list[str]]] = []
        self.answer: dict[str, object] = {"token_type": "Bearer", "expires_in": 600}
        server.expect_request("/issuer/.well-known/openid-configuration").respond_with_json(
            {"issuer": self.url, "token_endpoint": server.url_for("/token")}
        )
        server.expect_request("/token", method="POST").respond_with_handler(self._token)

    def _token(self, request: Request) -> Response:
        self.forms.append(parse_qs(request.get_data(as_text=True)))
        body = {"access_token": f"token-{len(self.forms)}", **self.answer}
        return Response(json.dumps(body), content_type="application/json")


@pytest.fixture
def issuer(httpserver: HTTPServer) -> Issuer:
    return Issuer(httpserver)


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_SECRET", SECRET)


def authentication(issuer_url: str) -> OAuth2Authentication:
    return OAuth2Authentication(
        issuer_url=issuer_url,
        client_id="me",
        client_secret=REF,
        audience="urn:pulsar",
        scope="admin read",
    )


def credentials(issuer_url: str, root: Path, clock: Clock | None = None) -> IssuedCredentials:
    oauth2 = authentication(issuer_url)
    config = PulsarConfig(url="http://broker", authentication=oauth2, read_timeout=5)
    return IssuedCredentials(read_client(oauth2, root, "here"), config, root, clock or Clock())


@pytest.mark.slow
def test_the_token_is_asked_for_as_a_form(issuer: Issuer, tmp_path: Path) -> None:
    assert credentials(issuer.url, tmp_path).authorization(unhurried()) == "Bearer token-1"
    assert issuer.forms == [
        {
            "grant_type": ["client_credentials"],
            "client_id": ["me"],
            "client_secret": [SECRET],
            "audience": ["urn:pulsar"],
            "scope": ["admin read"],
        }
    ]


def test_a_token_is_kept_until_shortly_before_it_expires(issuer: Issuer, tmp_path: Path) -> None:
    clock = Clock()
    ours = credentials(issuer.url, tmp_path, clock)
    seen = []
    for seconds in (0, 539, 541, 1080):
        clock.seconds = 1000.0 + seconds
        seen.append(ours.authorization(unhurried()))
    assert seen == ["Bearer token-1", "Bearer token-1", "Bearer token-2", "Bearer token-2"]


def test_a_short_lived_token_is_kept_for_half_its_life(issuer: Issuer, tmp_path: Path) -> None:
    issuer.answer["expires_in"] = 20
    clock = Clock()
    ours = credentials(issuer.url, tmp_path, clock)
    seen = []
    for seconds in (0, 9, 11):
        clock.seconds = 1000.0 + seconds
        seen.append(ours.authorization(unhurried()))
    assert seen == ["Bearer token-1", "Bearer token-1", "Bearer token-2"]


@pytest.mark.slow
def test_a_refused_token_is_renewed_once_for_all_threads(issuer: Issuer, tmp_path: Path) -> None:
    ours = credentials(issuer.url, tmp_path)
    refused = ours.authorization(unhurried())
    assert ours.renew(refused, unhurried())
    assert ours.renew(refused, unhurried())
    assert ours.authorization(unhurried()) == "Bearer token-2"
    assert len(issuer.forms) == 2


def test_pulsars_key_file_has_everything(issuer: Issuer, tmp_path: Path) -> None:
    key = {
        "type": "client_credentials",
        "client_id": "me",
        "client_secret": SECRET,
        "issuer_url": issuer.url,
    }
    (tmp_path / "key.json").write_text(json.dumps(key))
    client = read_client(OAuth2Authentication(credentials_file="key.json"), tmp_path, "here")
    assert (client.client_id, client.client_secret) == ("me", SECRET)
    assert client.issuer_url == issuer.url
    assert SECRET not in repr(client)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        f'{{"client_secret":"{SECRET}"}}',
        f'{{"client_id":1,"client_secret":"{SECRET}"}}',
        f'"{SECRET}"',
    ],
)
def test_a_bad_key_file_is_named_and_not_shown(tmp_path: Path, text: str) -> None:
    (tmp_path / "key.json").write_text(text)
    config = OAuth2Authentication(issuer_url="http://issuer", credentials_file="key.json")
    with pytest.raises(UsageError, match=r"key\.json") as error:
        read_client(config, tmp_path, "here")
    shown = "".join(traceback.format_exception(error.value))
    assert SECRET not in shown


@pytest.mark.parametrize(
    "config",
    [
        OAuth2Authentication(issuer_url="http://issuer"),
        OAuth2Authentication(client_id="me", client_secret=REF),
        OAuth2Authentication(issuer_url="issuer", client_id="me", client_secret=REF),
        OAuth2Authentication(issuer_url="http://issuer", client_secret=REF),
    ],
)
def test_an_incomplete_configuration_is_refused(
    config: OAuth2Authentication, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="OAuth2"):
        read_client(config, tmp_path, "here")


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (401, json.dumps({"error": "invalid_client", "error_description": f"not {SECRET}"})),
        (500, f"<html><title>{SECRET}</title>"),
        (200, f"<html>{SECRET}"),
        (200, json.dumps({"token": SECRET})),
        (200, json.dumps({"access_token": f"{SECRET}\r\nX: y"})),
        (200, json.dumps({"access_token": ""})),
    ],
)
def test_an_issuer_that_gives_no_token_ends_it_without_a_secret(
    httpserver: HTTPServer, tmp_path: Path, status: int, body: str
) -> None:
    httpserver.expect_request("/i/.well-known/openid-configuration").respond_with_json(
        {"token_endpoint": httpserver.url_for("/token")}
    )
    httpserver.expect_request("/token").respond_with_data(body, status=status)
    with pytest.raises(OutsideError, match="issuer") as error:
        credentials(httpserver.url_for("/i"), tmp_path).authorization(unhurried())
    shown = "".join(traceback.format_exception(error.value)) + error.value.where + error.value.hint
    assert SECRET not in shown


def test_an_issuer_without_discovery_is_named(httpserver: HTTPServer, tmp_path: Path) -> None:
    httpserver.expect_request("/i/.well-known/openid-configuration").respond_with_json({})
    with pytest.raises(OutsideError, match="token_endpoint") as error:
        credentials(httpserver.url_for("/i"), tmp_path).authorization(unhurried())
    assert "openid-configuration" in error.value.where


def test_a_token_endpoint_that_is_no_url_is_not_asked(
    httpserver: HTTPServer, tmp_path: Path
) -> None:
    httpserver.expect_request("/i/.well-known/openid-configuration").respond_with_json(
        {"token_endpoint": "file:///etc/passwd"}
    )
    with pytest.raises(OutsideError, match="unsafe token endpoint"):
        credentials(httpserver.url_for("/i"), tmp_path).authorization(unhurried())


def test_a_redirect_of_the_issuer_is_not_followed_with_the_secret(
    httpserver: HTTPServer, tmp_path: Path
) -> None:
    httpserver.expect_request("/i/.well-known/openid-configuration").respond_with_json(
        {"token_endpoint": httpserver.url_for("/token")}
    )
    httpserver.expect_request("/token").respond_with_data(
        status=307, headers={"Location": httpserver.url_for("/elsewhere")}
    )
    with pytest.raises(OutsideError, match="307"):
        credentials(httpserver.url_for("/i"), tmp_path).authorization(unhurried())
    assert not [request for request, _ in httpserver.log if request.path == "/elsewhere"]


@pytest.mark.slow
def test_a_401_of_the_broker_is_answered_with_a_new_token(
    issuer: Issuer, httpserver: HTTPServer, tmp_path: Path
) -> None:
    def broker(request: Request) -> Response:
        good = request.headers["Authorization"] == "Bearer token-2"
        return Response("[]" if good else "Authentication required", status=200 if good else 401)

    httpserver.expect_request("/admin/v2/tenants").respond_with_handler(broker)
    admin_client = open_test_client(
        httpserver.url_for(""), tmp_path, authentication=authentication(issuer.url)
    )
    assert admin_client.get("tenants").status == 200
    assert len(issuer.forms) == 2


@pytest.mark.slow
def test_a_missing_permission_is_no_reason_for_a_new_token(
    issuer: Issuer, httpserver: HTTPServer, tmp_path: Path
) -> None:
    httpserver.expect_request("/admin/v2/tenants").respond_with_json(
        {"reason": "Unauthorized to validateTenantOperation for …"}, status=401
    )
    admin_client = open_test_client(
        httpserver.url_for(""), tmp_path, authentication=authentication(issuer.url)
    )
    assert admin_client.get("tenants").lacks_permission
    assert len(issuer.forms) == 1
