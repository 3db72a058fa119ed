"""The address of an admin REST endpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult

from gitops.model.errors import UsageError
from gitops.repository.admin_url import admin_url_hint, split_url

_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Origin:
    """Scheme, host and port: what a connection is made to."""

    scheme: str
    host: str
    port: int

    @property
    def is_secure(self) -> bool:
        """Whether the connection is TLS."""
        return self.scheme == "https"

    @property
    def authority(self) -> str:
        """The host as it is written in a URL."""
        return f"[{self.host}]" if ":" in self.host else self.host

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminAddress:
    """An origin and the path under which `/admin/v2` stands there (mostly empty)."""

    origin: Origin
    path: str = ""

    def __str__(self) -> str:
        return f"{self.origin}{self.path}"


def parse_address(text: str, where: str) -> AdminAddress:
    """Read the URL of an admin endpoint.

    Raises UsageError for anything but a plain http(s) URL. The text is not repeated in it as a
    whole: it may hold a password.
    """
    split = split_url(text)
    origin = None if split is None else origin_of(split)
    if split is None or origin is None:
        raise UsageError(
            "the registry's url is not an http or https URL",
            where=where,
            hint=admin_url_hint(text),
        )
    if split.username or split.password or split.query or split.fragment:
        raise UsageError(
            "the registry's url holds more than scheme, host, port and path",
            where=where,
            hint="credentials belong under `authentication`, from ${ENV_VAR} or a file",
        )
    return AdminAddress(origin=origin, path=split.path.rstrip("/").removesuffix("/admin/v2"))


def origin_of(split: SplitResult) -> Origin | None:
    """Where a URL leads, None where it is not an http(s) URL with a host."""
    try:
        port = split.port
    except ValueError:
        return None
    if split.scheme not in _PORTS or not split.hostname:
        return None
    return Origin(split.scheme, split.hostname, port or _PORTS[split.scheme])
