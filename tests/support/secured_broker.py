"""A broker that asks for a token or a client certificate, with authorization and TLS on."""

from __future__ import annotations

import base64
import secrets
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import jwt
import trustme
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from tests.support.pulsar_broker import BrokerSettings, RunningBroker, pulsar_broker
from tests.support.pulsar_class_path import RELEASE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

SUPERUSER: Final = "admin"
STRANGER: Final = "stranger"
_AUTHENTICATION: Final = "org.apache.pulsar.broker.authentication.AuthenticationProvider"


@dataclass(frozen=True, slots=True, kw_only=True)
class SecuredBroker:
    """A running broker and what its clients need; all certificates are files in PEM.

    The client's certificate has the superuser's name.
    """

    broker: RunningBroker
    ca_file: Path
    client_certificate: Path
    client_key: Path
    key: bytes

    def token(self, role: str) -> str:
        """A token for that role, as the broker's own key signs it."""
        return sign(self.key, role)


def sign(key: bytes, role: str) -> str:
    """A JSON Web Token for a role."""
    return jwt.encode({"sub": role}, key, algorithm="HS256")


@contextmanager
def secured_broker(
    folder: Path, config: Mapping[str, str] | None = None, *, release: str = RELEASE
) -> Iterator[SecuredBroker]:
    """A secured broker while the block runs; `config` is more of its broker.conf.

    Raises as `pulsar_broker` does.
    """
    key = secrets.token_bytes(32)
    authority = trustme.CA()
    ca_file = folder / "ca.pem"
    authority.cert_pem.write_to_path(ca_file)
    server = _write(authority.issue_cert("localhost", "127.0.0.1"), folder / "server")
    client = _write(authority.issue_cert("client.test", common_name=SUPERUSER), folder / "client")
    token = sign(key, SUPERUSER)
    settings = BrokerSettings(
        release=release,
        tls=True,
        headers={"Authorization": f"Bearer {token}"},
        config={
            "authenticationEnabled": "true",
            "authorizationEnabled": "true",
            "authenticationProviders": f"{_AUTHENTICATION}Token,{_AUTHENTICATION}Tls",
            "superUserRoles": SUPERUSER,
            "tokenSecretKey": f"data:;base64,{base64.b64encode(key).decode()}",
            "brokerClientAuthenticationPlugin": (
                "org.apache.pulsar.client.impl.auth.AuthenticationToken"
            ),
            "brokerClientAuthenticationParameters": f"token:{token}",
            "tlsCertificateFilePath": str(server[0]),
            "tlsKeyFilePath": str(server[1]),
            "tlsTrustCertsFilePath": str(ca_file),
            **(config or {}),
        },
    )
    with pulsar_broker(settings) as broker:
        yield SecuredBroker(
            broker=broker,
            ca_file=ca_file,
            client_certificate=client[0],
            client_key=client[1],
            key=key,
        )


def _write(leaf: trustme.LeafCert, stem: Path) -> tuple[Path, Path]:
    """Certificate and key as files; Pulsar reads keys in PKCS #8 only."""
    certificate, key = stem.with_suffix(".pem"), stem.with_suffix(".key")
    certificate.write_bytes(b"".join(blob.bytes() for blob in leaf.cert_chain_pems))
    private = load_pem_private_key(leaf.private_key_pem.bytes(), password=None)
    key.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return certificate, key
