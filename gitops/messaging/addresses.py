"""Service URLs: `pulsar://host:port`, and `pulsar+ssl://…` for TLS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from gitops.model.errors import UsageError

_PORTS: Final = {"pulsar": 6650, "pulsar+ssl": 6651}
_LARGEST_PORT: Final = 65535


@dataclass(frozen=True, slots=True)
class ServiceAddress:
    """Where a broker or a proxy listens."""

    is_secure: bool
    host: str
    port: int

    @property
    def authority(self) -> str:
        """`host:port`, as a proxy wants to be told a broker."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{'pulsar+ssl' if self.is_secure else 'pulsar'}://{self.authority}"


def parse_service_url(text: str) -> tuple[ServiceAddress, ...]:
    """The addresses of a service URL, of which it may list several hosts, separated by commas.

    Raises UsageError. A URL is not repeated in the error: it may contain a password.
    """
    scheme, mark, rest = text.partition("://")
    if not mark or scheme not in _PORTS:
        raise _not_a_service_url()
    return tuple(_address(scheme, word) for word in rest.rstrip("/").split(","))


def _address(scheme: str, authority: str) -> ServiceAddress:
    try:
        split = urlsplit(f"//{authority}")
        host, port = split.hostname, split.port
    except ValueError:
        raise _not_a_service_url() from None
    if not host or split.path or split.query or "@" in authority:
        raise _not_a_service_url()
    number = _PORTS[scheme] if port is None else port
    if not 0 < number <= _LARGEST_PORT:
        raise _not_a_service_url()
    return ServiceAddress(scheme == "pulsar+ssl", host, number)


def _not_a_service_url() -> UsageError:
    return UsageError(
        "not the service URL of a Pulsar cluster",
        hint="write pulsar://host:6650 or pulsar+ssl://host:6651, several hosts as host:6650,…",
    )
