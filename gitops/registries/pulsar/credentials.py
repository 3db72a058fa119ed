"""Who we are to the broker: the headers of a request, and how they are renewed."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Protocol, final

from gitops.model.config import (
    BasicAuthentication,
    OAuth2Authentication,
    OidcAuthentication,
    TlsAuthentication,
    TokenAuthentication,
)
from gitops.registries.pulsar.oauth2 import IssuedCredentials, read_client
from gitops.registries.pulsar.oidc import read_run
from gitops.registries.pulsar.secrets import read_secret, redact

if TYPE_CHECKING:
    from pathlib import Path

    from gitops.registries.pulsar.connections import Deadline
    from gitops.registries.pulsar.settings import PulsarConfig


class Credentials(Protocol):
    """What a request says about its sender.

    No implementation shows a secret in its repr.
    """

    def authorization(self, deadline: Deadline) -> str:
        """The header `Authorization`, empty where there is none. May ask an issuer."""
        ...

    def renew(self, refused: str, deadline: Deadline) -> bool:
        """After a 401 to `refused`: whether there is another header to try."""
        ...

    def redact(self, text: str) -> str:
        """The text with every secret of ours blotted out, should somebody repeat one."""
        ...

    def close(self) -> None:
        """Give back connections."""
        ...


@final
class FixedCredentials:
    """A header that never changes, or none."""

    def __init__(self, authorization: str = "", *secrets: str) -> None:
        self._authorization = authorization
        self._secrets = tuple(filter(None, secrets))

    def __repr__(self) -> str:
        return "FixedCredentials(…)"

    def authorization(self, deadline: Deadline) -> str:  # noqa: ARG002 - the Protocol's signature
        """The header as it was when the registry was opened."""
        return self._authorization

    def renew(self, refused: str, deadline: Deadline) -> bool:  # noqa: ARG002 - as above
        """Never: what was refused once is refused again."""
        return False

    def redact(self, text: str) -> str:
        """Replace the secret, however it was written in the header."""
        return redact(text, self._secrets)

    def close(self) -> None:
        """Nothing is open."""


def open_credentials(config: PulsarConfig, root: Path, where: str) -> Credentials:
    """Resolve the secrets that the configuration names; raises UsageError where one is missing."""
    match config.authentication:
        case None | TlsAuthentication():
            return FixedCredentials()
        case TokenAuthentication(token=ref):
            token = read_secret(ref, root, where)
            return token_credentials(token)
        case BasicAuthentication(username=username, password=ref):
            return basic_credentials(username, read_secret(ref, root, where))
        case OAuth2Authentication() as oauth2:
            return IssuedCredentials(read_client(oauth2, root, where), config, root)
        case OidcAuthentication() as oidc:
            return IssuedCredentials(read_run(oidc, where), config, root)


def token_credentials(token: str) -> Credentials:
    """A bearer token."""
    return FixedCredentials(f"Bearer {token}", token)


def basic_credentials(username: str, password: str) -> Credentials:
    """HTTP basic authentication."""
    encoded = base64.b64encode(f"{username}:{password}".encode()).decode()
    return FixedCredentials(f"Basic {encoded}", password, encoded)
