"""A cluster that no gitops.yaml names, and the credentials of Pulsar's own tools."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from gitops.model.config import OAuth2Authentication, TlsAuthentication
from gitops.model.errors import OutsideError, UsageError
from gitops.model.names import NamespaceName
from gitops.registries.pulsar import cluster
from gitops.registries.pulsar.cluster import cluster_of_environment, open_cluster
from tests.support.scripted_server import scripted_server

SECRET = "s3cret"
_JAVA = "org.apache.pulsar.client.impl.auth."
_EMPTY = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n[]"

Conf = Callable[..., Path]


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (cluster.URL, cluster.TOKEN, cluster.CLIENT_CONF):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def conf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Conf:
    """Writes a client.conf that the environment names."""

    def write(**values: str) -> Path:
        path = tmp_path / "client.conf"
        lines = ["# of a test", "", *(f"{key}={value}" for key, value in values.items())]
        path.write_text("\n".join(lines), "utf-8")
        monkeypatch.setenv(cluster.CLIENT_CONF, str(path))
        return path

    return write


def _sent() -> bytes:
    """The header that a request carries; empty without one."""
    with scripted_server([_EMPTY] * 9) as server:
        registry, _ = open_cluster(server.url, "--url")
        registry.list_topics(NamespaceName("shop", "orders"))
        registry.close()
    lines = server.requests[0].split(b"\r\n")
    found = [line for line in lines if line.lower().startswith(b"authorization:")]
    return found[0].partition(b": ")[2] if found else b""


def test_nobody_is_named_without_a_variable() -> None:
    assert _sent() == b""
    assert cluster_of_environment()[0] == ""


@pytest.mark.slow
def test_the_registry_is_called_by_its_address() -> None:
    registry, config = open_cluster("http://broker.example:8080/admin/v2/", "--url")
    assert registry.name == registry.address == "http://broker.example:8080"
    assert config.broker == registry.broker


@pytest.mark.slow
@pytest.mark.parametrize("plugin", [f"{_JAVA}AuthenticationToken", "token"])
@pytest.mark.parametrize("form", ["token:{}", "data:{}", "{}", "file:{path}", "file://{path}"])
def test_a_token_of_client_conf(plugin: str, form: str, conf: Conf, tmp_path: Path) -> None:
    (tmp_path / "a token").write_text(f"{SECRET}\n")
    path = str(tmp_path / "a%20token")
    conf(authPlugin=plugin, authParams=form.format(SECRET, path=path))
    assert _sent() == f"Bearer {SECRET}".encode()


@pytest.mark.slow
def test_a_token_of_another_variable(conf: Conf, monkeypatch: pytest.MonkeyPatch) -> None:
    conf(authPlugin="token", authParams="env:MY_TOKEN")
    monkeypatch.setenv("MY_TOKEN", SECRET)
    assert _sent() == f"Bearer {SECRET}".encode()


@pytest.mark.slow
def test_the_token_of_the_environment_comes_first(
    conf: Conf, monkeypatch: pytest.MonkeyPatch
) -> None:
    conf(authPlugin="token", authParams="token:other")
    monkeypatch.setenv(cluster.TOKEN, SECRET)
    assert _sent() == f"Bearer {SECRET}".encode()


@pytest.mark.slow
def test_basic(conf: Conf) -> None:
    params = json.dumps({"userId": "me", "password": SECRET})
    conf(authPlugin=f"{_JAVA}AuthenticationBasic", authParams=params)
    kind, encoded = _sent().split()
    assert (kind, base64.b64decode(encoded)) == (b"Basic", f"me:{SECRET}".encode())


@pytest.mark.slow
def test_oauth2(conf: Conf, tmp_path: Path) -> None:
    key = {"client_id": "me", "client_secret": SECRET}
    (tmp_path / "key.json").write_text(json.dumps(key))
    params = {
        "privateKey": f"file://{tmp_path}/key.json",
        "issuerUrl": "https://issuer.example",
        "audience": "urn:a",
    }
    conf(authPlugin=f"{_JAVA}oauth2.AuthenticationOAuth2", authParams=json.dumps(params))
    _, config = open_cluster("http://broker", "--url")
    assert config.authentication == OAuth2Authentication(
        issuer_url="https://issuer.example",
        credentials_file=f"{tmp_path}/key.json",
        audience="urn:a",
    )


@pytest.mark.parametrize(
    "values",
    [
        {"authPlugin": f"{_JAVA}AuthenticationTls", "authParams": "tlsCertFile:{c},tlsKeyFile:{k}"},
        {"tlsCertificateFilePath": "{c}", "tlsKeyFilePath": "{k}"},
    ],
)
def test_a_client_certificate(
    values: dict[str, str], conf: Conf, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {key: value.format(c="cert.pem", k="key.pem") for key, value in values.items()}
    conf(**names, tlsTrustCertsFilePath="ca.pem")
    seen = []
    monkeypatch.setattr(
        cluster, "open_admin_client", lambda _n, config, *_, **__: seen.append(config)
    )
    open_cluster("https://broker", "--url")
    assert seen[0].authentication == TlsAuthentication(
        certificate_file="cert.pem", key_file="key.pem"
    )
    assert (seen[0].tls.ca_file, seen[0].tls.verify_hostname) == ("ca.pem", True)


@pytest.mark.slow
def test_a_certificate_is_no_reason_against_a_plain_url(conf: Conf) -> None:
    conf(tlsCertificateFilePath="cert.pem", tlsKeyFilePath="key.pem")
    assert _sent() == b""


def test_the_url_of_the_environment(conf: Conf, monkeypatch: pytest.MonkeyPatch) -> None:
    path = conf(webServiceUrl="http://one.example:8080/")
    assert cluster_of_environment() == (
        "http://one.example:8080/",
        f"PULSAR_CLIENT_CONF ({path}), webServiceUrl",
    )
    monkeypatch.setenv(cluster.URL, "http://two.example")
    assert cluster_of_environment() == ("http://two.example", cluster.URL)


@pytest.mark.parametrize(
    ("values", "what"),
    [
        (
            {"authPlugin": "com.example.Own", "authParams": SECRET},
            "com.example.Own is not supported",
        ),
        ({"authPlugin": "token", "authParams": "token:"}, "the token of authParams is empty"),
        ({"authPlugin": "token", "authParams": f"{SECRET}ü"}, "an HTTP header cannot contain"),
        ({"authPlugin": "token", "authParams": "file:/no/such"}, "cannot read /no/such"),
        ({"authPlugin": "token", "authParams": "env:NO_SUCH"}, "NO_SUCH is not set"),
        ({"authPlugin": "basic", "authParams": SECRET}, "is not a JSON object"),
        ({"authPlugin": "basic", "authParams": f'{{"userId": "{SECRET}"}}'}, "lacks password"),
        ({"authPlugin": "oauth2", "authParams": "{}"}, "lacks privateKey"),
        (
            {"authPlugin": "oauth2", "authParams": f'{{"privateKey": "data:{SECRET}"}}'},
            "privateKey of authParams is no file",
        ),
        ({"authPlugin": "tls", "authParams": f"tlsKeyFile:{SECRET}"}, "lacks tlsCertFile"),
        ({"tlsTrustCertsFilePath": "/no/such.pem"}, "as a certificate authority"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_cannot_be_used_is_told_without_a_secret(
    values: dict[str, str], what: str, conf: Conf
) -> None:
    path = conf(**values)
    with pytest.raises(UsageError, match=what) as raised:
        open_cluster("http://broker", "--url")
    error = raised.value
    assert str(path) in error.where
    assert SECRET not in f"{error} {error.hint} {error.__cause__}"


@pytest.mark.parametrize("content", ["[[\n", "\0", "=", "a\n  b\n", "authParams"])
def test_odd_files_make_no_traceback(
    content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "client.conf"
    path.write_text(content)
    monkeypatch.setenv(cluster.CLIENT_CONF, str(path))
    with suppress(UsageError):
        assert cluster_of_environment()[0] == ""


def test_a_file_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(cluster.CLIENT_CONF, str(tmp_path / "none"))
    with pytest.raises(UsageError, match="cannot read"):
        open_cluster("http://broker", "--url")


def test_a_refusal_says_where_the_credentials_come_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cluster.TOKEN, SECRET)
    refused = b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    with scripted_server([refused] * 4) as server:
        registry, _ = open_cluster(server.url, "--url")
        with pytest.raises(OutsideError) as raised:
            registry.list_topics(NamespaceName("shop", "orders"))
        registry.close()
    assert "PULSAR_TOKEN" in raised.value.hint
