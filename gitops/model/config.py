"""What `gitops.yaml` says, as values: registries, safety limits, severities of rules."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from gitops.model.findings import Severity
from gitops.model.names import NamespaceName
from gitops.model.policy import BrokerSettings, NamespacePolicies


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretRef:
    """Where a secret is, never the secret: an environment variable, or a file.

    A file's path is relative to the repository's root unless absolute.
    """

    kind: Literal["env", "file"]
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenAuthentication:
    """A JSON Web Token, sent as a bearer token."""

    token: SecretRef


@dataclass(frozen=True, slots=True, kw_only=True)
class BasicAuthentication:
    """HTTP basic authentication."""

    username: str
    password: SecretRef


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuth2Authentication:
    """OAuth2 client credentials; the issuer's token endpoint is found by OpenID discovery.

    `credentials_file` is Pulsar's own JSON key file (`client_id`, `client_secret`, `issuer_url`);
    without it the three are given one by one.
    """

    issuer_url: str | None = None
    client_id: str | None = None
    client_secret: SecretRef | None = None
    credentials_file: str | None = None
    audience: str | None = None
    scope: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OidcAuthentication:
    """The token that GitHub signs for a run of a workflow, with this audience.

    With `issuer_url` it is exchanged there for a token of that issuer (RFC 8693).
    """

    audience: str
    issuer_url: str | None = None
    client_id: str | None = None
    scope: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsAuthentication:
    """A client certificate, both as PEM files."""

    certificate_file: str
    key_file: str


def files_of_authentication(
    authentication: PulsarAuthentication | None,
) -> tuple[str | None, ...]:
    """The files that a way to authenticate names, None for one that it leaves out."""
    match authentication:
        case TokenAuthentication():
            return (_file(authentication.token),)
        case BasicAuthentication():
            return (_file(authentication.password),)
        case OAuth2Authentication():
            return authentication.credentials_file, _file(authentication.client_secret)
        case OidcAuthentication():
            return ()
        case TlsAuthentication():
            return authentication.certificate_file, authentication.key_file
        case None:
            return ()


def _file(secret: SecretRef | None) -> str | None:
    return secret.name if secret and secret.kind == "file" else None


PulsarAuthentication = (
    TokenAuthentication
    | BasicAuthentication
    | OAuth2Authentication
    | OidcAuthentication
    | TlsAuthentication
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsConfig:
    """How the server's certificate is checked; `ca_file` is PEM, None means the system's."""

    ca_file: str | None = None
    verify_hostname: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryConfig(ABC):
    """Settings of one registry; a kind of registry adds its own in a subclass.

    `kind` is the name of the kind in gitops.yaml. `after` is the registry that is applied before
    this one, empty where none is. `namespaces` overrides the policies that the
    files give to a namespace, for this registry only.
    """

    kind: str
    broker: BrokerSettings = field(default_factory=BrokerSettings)
    namespaces: Mapping[NamespaceName, NamespacePolicies] = field(default_factory=dict)
    after: str = ""

    @property
    @abstractmethod
    def address(self) -> str:
        """Where it is: two names of one kind and one address mean one registry."""

    @property
    def local_path(self) -> str | None:
        """The file or folder that holds all of it, relative to the root; None: it is elsewhere.

        Until it exists there is nothing to ask. While git tracks it, a change could bring its own
        history along, so `check` does not use it.
        """
        return None

    @property
    def files(self) -> tuple[str, ...]:
        """The files that are read to connect to it, relative to the root or absolute.

        A change that brings one of them along could choose whom the secrets are sent to.
        """
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SafetyConfig:
    """Limits of one apply: the share of topics (0 to 1) that it may change, and deletions.

    The share counts only once `min_topics` topics are managed.
    """

    max_changed_share: float = 0.3
    min_topics: int = 10
    allow_deletions: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The whole of `gitops.yaml`; `groups` are names for several registries."""

    registries: Mapping[str, RegistryConfig]
    default_registry: str
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    safety: SafetyConfig = field(default_factory=SafetyConfig)
    rules: Mapping[str, Severity] = field(default_factory=dict)
