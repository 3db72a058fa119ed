"""The settings of a registry of kind `pulsar`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from gitops.model.broker_settings import assumed_settings
from gitops.model.config import (
    PulsarAuthentication,
    RegistryConfig,
    TlsConfig,
    files_of_authentication,
)
from gitops.model.policy import BrokerSettings, SettingSource
from gitops.repository.documents.authentication import (
    AuthenticationDocument,
    ServiceUrl,
    TlsDocument,
    Url,
)
from gitops.repository.documents.base import Document, Number
from gitops.repository.documents.registry_settings import RegistryDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class PulsarConfig(RegistryConfig):
    """A cluster behind admin REST; timeouts in seconds.

    `connect` is for one connection, `read` for the silence of a server, `request` for a request
    with all its tries, and `run` for a command from its first request on. `url` and `service_url`
    may be `${ENV_VAR}` as a whole; `service_url` is where clients connect to, None where the
    cluster is asked.
    """

    kind: str = "pulsar"
    broker: BrokerSettings = field(default_factory=assumed_settings)
    url: str
    service_url: str | None = None
    authentication: PulsarAuthentication | None = None
    tls: TlsConfig = field(default_factory=TlsConfig)
    connect_timeout: float = 5.0
    read_timeout: float = 30.0
    request_timeout: float = 60.0
    run_timeout: float = 3600.0
    concurrency: int = 8

    @property
    def address(self) -> str:
        """The URL, as gitops.yaml names it."""
        return self.url

    @property
    def files(self) -> tuple[str, ...]:
        """The authorities' certificates, and the files that have the secrets."""
        texts = (self.tls.ca_file, *files_of_authentication(self.authentication))
        return tuple(name.removeprefix("file://") for name in texts if name)


Seconds = Annotated[Number, Field(gt=0, le=3600)]


class TimeoutsDocument(Document):
    """In seconds."""

    connect: Seconds = Field(default=5, description="For one connection, with TLS.")
    read: Seconds = Field(default=30, description="Of silence while an answer is waited for.")
    request: Seconds | None = Field(
        default=None,
        description="For one request with all its bytes, tries and redirects; absent: twice read.",
    )
    run: Annotated[Number, Field(gt=0, le=86_400)] = Field(
        default=3600, description="For one command, from its first request to the last."
    )


class PulsarDocument(RegistryDocument):
    """A Pulsar cluster, by its admin REST service."""

    _unsaid = SettingSource.ASSUMED

    url: Url = Field(description="The admin service's address, or ${ENV_VAR}.")
    service_url: ServiceUrl | None = Field(
        default=None,
        description="Where clients connect to, pulsar:// or pulsar+ssl://; absent: asked for.",
    )
    authentication: AuthenticationDocument | None = None
    tls: TlsDocument = Field(default_factory=TlsDocument)
    timeouts: TimeoutsDocument = Field(default_factory=TimeoutsDocument)
    concurrency: Annotated[int, Field(ge=1, le=64)] = Field(
        default=8, description="Requests at the same time."
    )

    def model(self) -> PulsarConfig:
        """The same as a value of the model."""
        return PulsarConfig(
            url=self.url,
            service_url=self.service_url,
            authentication=self.authentication.model() if self.authentication else None,
            tls=self.tls.model(),
            connect_timeout=float(self.timeouts.connect),
            read_timeout=float(self.timeouts.read),
            request_timeout=float(self.timeouts.request or 2 * self.timeouts.read),
            run_timeout=float(self.timeouts.run),
            concurrency=self.concurrency,
            **self.common(),
        )
