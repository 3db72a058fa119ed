"""TLS against servers with certificates of a test authority."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)
from pytest_httpserver import HTTPServer

from gitops.model.config import TlsAuthentication, TlsConfig
from gitops.model.errors import OutsideError, UsageError
from gitops.registries.pulsar.settings import PulsarConfig
from gitops.registries.pulsar.tls import broker_context
from tests.support.http_server import OneTestServer
from tests.support.pulsar_client import open_test_client

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def ca_file(authority: trustme.CA, tmp_path: Path) -> str:
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    return "ca.pem"


@pytest.fixture
def client_files(authority: trustme.CA, tmp_path: Path) -> TlsAuthentication:
    leaf = authority.issue_cert("client.test")
    leaf.cert_chain_pems[0].write_to_path(tmp_path / "client.pem")
    leaf.private_key_pem.write_to_path(tmp_path / "client.key")
    return TlsAuthentication(certificate_file="client.pem", key_file="client.key")


def https_server(authority: trustme.CA, name: str, *, ask_client: bool = False) -> HTTPServer:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    if ask_client:
        authority.configure_trust(context)
        context.verify_mode = ssl.CERT_REQUIRED
    server = OneTestServer(ssl_context=context)
    server.expect_request("/admin/v2/tenants").respond_with_json([])
    return server


@pytest.fixture
def server(authority: trustme.CA) -> Iterator[HTTPServer]:
    with https_server(authority, "localhost") as running:
        yield running


def test_the_authority_of_the_configuration_is_trusted(
    server: HTTPServer, ca_file: str, tmp_path: Path
) -> None:
    admin_client = open_test_client(server.url_for(""), tmp_path, tls=TlsConfig(ca_file=ca_file))
    assert admin_client.get("tenants").status == 200


@pytest.mark.slow
def test_an_unknown_authority_is_not_trusted(server: HTTPServer, tmp_path: Path) -> None:
    with pytest.raises(OutsideError, match="certificate is not valid") as error:
        open_test_client(server.url_for(""), tmp_path).get("tenants")
    assert "tls" in error.value.hint


@pytest.mark.parametrize("verify", [True, False])
def test_the_check_of_the_host_name_can_be_off(
    authority: trustme.CA, ca_file: str, tmp_path: Path, *, verify: bool
) -> None:
    tls = TlsConfig(ca_file=ca_file, verify_hostname=verify)
    with https_server(authority, "another.test") as server:
        admin_client = open_test_client(server.url_for(""), tmp_path, tls=tls)
        if verify:
            with pytest.raises(OutsideError, match=r"(?i)hostname"):
                admin_client.get("tenants")
        else:
            assert admin_client.get("tenants").status == 200


def test_without_the_host_name_the_authority_still_counts(
    server: HTTPServer, tmp_path: Path
) -> None:
    tls = TlsConfig(verify_hostname=False)
    with pytest.raises(OutsideError, match="certificate is not valid"):
        open_test_client(server.url_for(""), tmp_path, tls=tls).get("tenants")


@pytest.mark.slow
def test_a_client_certificate_is_shown(
    authority: trustme.CA, ca_file: str, client_files: TlsAuthentication, tmp_path: Path
) -> None:
    tls = TlsConfig(ca_file=ca_file)
    with https_server(authority, "localhost", ask_client=True) as server:
        url = server.url_for("")
        known = open_test_client(url, tmp_path, tls=tls, authentication=client_files)
        assert known.get("tenants").status == 200
        with pytest.raises(OutsideError):
            open_test_client(url, tmp_path, tls=tls).get("tenants")


def test_a_redirect_to_plain_http_is_not_followed(
    server: HTTPServer, httpserver: HTTPServer, ca_file: str, tmp_path: Path
) -> None:
    server.expect_request("/admin/v2/x").respond_with_data(
        status=307, headers={"Location": httpserver.url_for("/admin/v2/x")}
    )
    admin_client = open_test_client(server.url_for(""), tmp_path, tls=TlsConfig(ca_file=ca_file))
    with pytest.raises(OutsideError, match="from https to http"):
        admin_client.get("x")
    assert httpserver.log == []


@pytest.mark.parametrize("content", [None, "", "no certificate"])
def test_a_useless_authority_file_is_named(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "ca.pem").write_text(content)
    config = PulsarConfig(url="https://b", tls=TlsConfig(ca_file="ca.pem"))
    with pytest.raises(UsageError, match=r"ca\.pem"):
        broker_context(config, tmp_path, "here")


def test_an_encrypted_key_is_refused_and_nobody_is_asked(
    client_files: TlsAuthentication, tmp_path: Path
) -> None:
    path = tmp_path / client_files.key_file
    key = load_pem_private_key(path.read_bytes(), None)
    encryption = BestAvailableEncryption(b"s3cret")
    path.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption))
    config = PulsarConfig(url="https://b", authentication=client_files)
    with pytest.raises(UsageError, match="client certificate") as error:
        broker_context(config, tmp_path, "here")
    assert "not encrypted" in error.value.hint


def test_a_missing_client_certificate_is_named(tmp_path: Path) -> None:
    ours = TlsAuthentication(certificate_file="c.pem", key_file="k.pem")
    config = PulsarConfig(url="https://b", authentication=ours)
    with pytest.raises(UsageError, match=r"c\.pem"):
        broker_context(config, tmp_path, "here")
