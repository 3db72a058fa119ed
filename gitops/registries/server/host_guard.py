"""Which requests are meant for this server: its names, and no page of another site.

A browser sends requests to 127.0.0.1 for any page. What keeps a page from writing is the name that
it has to ask for: DNS can lead the page's own name here (rebinding), but not change it.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from http import HTTPStatus
from typing import Final, final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from gitops.registries.server import responses

_LOCALHOST: Final = "localhost"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server on that host."""
    address = _ip_address(host)
    return host == _LOCALHOST if address is None else address.is_loopback


@final
class HostNames:
    """The names in `Host` for which a server answers.

    `listening` is the host on which it listens, `others` are names that lead to it as well. An IP
    address of other machines is right where they can reach it: no DNS can make it another's.
    """

    def __init__(self, listening: str, others: Iterable[str] = ()) -> None:
        self._names = {_LOCALHOST, *map(_normal, (listening, *others))}
        self._any_address = not is_loopback(listening)

    def accept(self, authority: str) -> bool:
        """Whether `HOST` or `HOST:PORT` names this server."""
        host = _host_of(authority)
        if host in self._names:
            return True
        address = _ip_address(host)
        return address is not None and (address.is_loopback or self._any_address)


@final
class HostGuard:
    """Refuses requests for other names, and those of pages that are not the server's own.

    HTTP/1.0 allows a request without `Host`; no browser sends one.
    """

    def __init__(self, app: ASGIApp, *, names: HostNames) -> None:
        self._app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, or refuse it."""
        refused = self._refusal(scope) if scope["type"] == "http" else None
        await (refused or self._app)(scope, receive, send)

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        """The error page for a request that is not for this server, None for one that is."""
        headers = Headers(scope=scope)
        host, origin = headers.get("host"), headers.get("origin")
        if host is not None and not self._names.accept(host):
            status = HTTPStatus.MISDIRECTED_REQUEST
            why = f"this server does not answer for {host!r}: start it with --allow-host HOST"
        elif origin is not None and origin.partition("://")[2] != host:
            status = HTTPStatus.FORBIDDEN
            why = f"this server does not answer to pages of {origin!r}"
        else:
            return None
        return responses.page(why, status, scope["path"], headers.get("accept", ""))


def _host_of(authority: str) -> str:
    """The host of `HOST` or `HOST:PORT` as DNS compares it; empty where it is none."""
    try:
        split = urlsplit(f"//{authority}")
        plain = not (split.path or split.query or split.fragment or "@" in authority)
        return _normal(split.hostname or "") if plain and split.port != 0 else ""
    except ValueError:
        return ""


def _normal(host: str) -> str:
    """A host name as DNS compares it."""
    return host.lower().removesuffix(".")


def _ip_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
