"""A token that GitHub signs for a run, from a stand-in of the runner's address and of an issuer."""

from __future__ import annotations

import json
import traceback
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import pytest
from werkzeug import Request, Response

from gitops.model.config import OidcAuthentication
from gitops.model.errors import OutsideError, UsageError
from gitops.registries.pulsar.credentials import Credentials, open_credentials
from gitops.registries.pulsar.settings import PulsarConfig
from tests.support.pulsar_client import unhurried

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_httpserver import HTTPServer

CANARY = "canary-of-the-runner"
SIGNED = "header.signed-by-github.signature"


class _Runner:
    """The address that signs tokens, and an issuer that exchanges them."""

    def __init__(self, server: HTTPServer) -> None:
        self.asked: list[Request] = []
        self.forms: list[dict[str, list[str]]] = []
        self.refusal = 0
        self.issuer = server.url_for("/issuer")
        server.expect_request("/sign").respond_with_handler(self._sign)
        server.expect_request("/issuer/.well-known/openid-configuration").respond_with_json(
            {"token_endpoint": server.url_for("/exchange")}
        )
        server.expect_request("/exchange", method="POST").respond_with_handler(self._exchange)

    def _sign(self, request: Request) -> Response:
        self.asked.append(request)
        return Response(json.dumps({"count": 1, "value": SIGNED}), content_type="application/json")

    def _exchange(self, request: Request) -> Response:
        self.forms.append(parse_qs(request.get_data(as_text=True)))
        if self.refusal:
            return Response(f"no: {SIGNED} {CANARY}", status=self.refusal)
        body = {"access_token": f"of-the-issuer-{len(self.forms)}", "expires_in": 600}
        return Response(json.dumps(body), content_type="application/json")


@pytest.fixture
def runner(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> _Runner:
    monkeypatch.setenv("ACTIONS_ID_TOKEN_REQUEST_URL", httpserver.url_for("/sign?api-version=2"))
    monkeypatch.setenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN", CANARY)
    return _Runner(httpserver)


def _opened(root: Path, authentication: OidcAuthentication) -> Credentials:
    config = PulsarConfig(url="http://broker", authentication=authentication, read_timeout=5)
    return open_credentials(config, root, "here")


@pytest.mark.slow
def test_githubs_own_token_is_the_bearer(runner: _Runner, tmp_path: Path) -> None:
    ours = _opened(tmp_path, OidcAuthentication(audience="pulsar&more"))

    assert ours.authorization(unhurried()) == f"Bearer {SIGNED}"
    assert ours.authorization(unhurried()) == f"Bearer {SIGNED}"
    (asked,) = runner.asked
    assert dict(asked.args) == {"api-version": "2", "audience": "pulsar&more"}
    assert asked.headers["Authorization"] == f"Bearer {CANARY}"


@pytest.mark.slow
def test_it_is_exchanged_for_a_token_of_the_issuer(runner: _Runner, tmp_path: Path) -> None:
    authentication = OidcAuthentication(
        audience="urn:pulsar", issuer_url=runner.issuer, client_id="schemas", scope="admin"
    )
    ours = _opened(tmp_path, authentication)

    assert ours.authorization(unhurried()) == "Bearer of-the-issuer-1"
    assert runner.forms == [
        {
            "grant_type": ["urn:ietf:params:oauth:grant-type:token-exchange"],
            "subject_token": [SIGNED],
            "subject_token_type": ["urn:ietf:params:oauth:token-type:jwt"],
            "audience": ["urn:pulsar"],
            "client_id": ["schemas"],
            "scope": ["admin"],
        }
    ]
    assert ours.renew("Bearer of-the-issuer-1", unhurried())
    assert ours.authorization(unhurried()) == "Bearer of-the-issuer-2"
    assert len(runner.asked) == 2, "an issuer gets a new token of GitHub's"


@pytest.mark.slow
def test_a_refused_exchange_shows_no_token(runner: _Runner, tmp_path: Path) -> None:
    runner.refusal = 403
    ours = _opened(tmp_path, OidcAuthentication(audience="a", issuer_url=runner.issuer))

    with pytest.raises(OutsideError, match="the OAuth2 issuer answered 403") as caught:
        ours.authorization(unhurried())

    shown = "".join(traceback.format_exception(caught.value)) + repr(ours)
    assert CANARY not in shown
    assert SIGNED not in shown


@pytest.mark.parametrize("missing", ["_URL", "_TOKEN"])
def test_elsewhere_than_in_a_job_that_may_have_a_token_it_is_refused(
    runner: _Runner, missing: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(f"ACTIONS_ID_TOKEN_REQUEST{missing}")

    with pytest.raises(UsageError, match=f"ACTIONS_ID_TOKEN_REQUEST{missing} is not") as caught:
        _opened(tmp_path, OidcAuthentication(audience="a", issuer_url=runner.issuer))

    assert "id-token: write" in caught.value.hint


@pytest.mark.parametrize("url", ["ftp://runner/sign", "runner"])
def test_an_address_that_is_none_is_refused(
    url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ACTIONS_ID_TOKEN_REQUEST_URL", url)
    monkeypatch.setenv("ACTIONS_ID_TOKEN_REQUEST_TOKEN", CANARY)

    with pytest.raises(UsageError, match="is not an http or https URL"):
        _opened(tmp_path, OidcAuthentication(audience="a"))
