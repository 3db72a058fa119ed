"""Which text Java takes for a URI or a URL: `java.net.URI` and `java.net.URL` of Java 17.

`URI` parses as its documentation says (RFC 2396 with deviations); `URL` looks at the protocol,
at a host in brackets and at the port, and at nothing else.
"""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv6Address
from typing import Final

_PLAIN: Final = r"0-9A-Za-z\-_.!~*'()"
_BEYOND: Final = r"%[0-9A-Fa-f]{2}|[^\x00-\xa0\s]"
"""What is escaped, and visible characters beyond ASCII."""

_ANY: Final = re.compile(rf"(?:[{_PLAIN};/?:@&=+$,\[\]]|{_BEYOND})*")
_PATH: Final = re.compile(rf"(?:[{_PLAIN}:@&=+$,;/]|{_BEYOND})*")
_NAME: Final = re.compile(rf"(?:[{_PLAIN}$,;:@&=+]|{_BEYOND})+")
_SERVER: Final = re.compile(rf"(?:(?:[{_PLAIN};:&=+$,]|{_BEYOND})*@)?\[([^\]]*)\](?::[0-9]*)?")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*")
_SCOPE: Final = re.compile(r"[A-Za-z0-9_.]+")
_URI: Final = re.compile(r"(?:([^:/?#]*):)?([^#]*)(?:#(.*))?", re.DOTALL)
_HIERARCHY: Final = re.compile(r"(?://([^/?]*))?([^?]*)(?:\?(.*))?", re.DOTALL)

_URL: Final = re.compile(
    r"(https?|ftp|file|jar|mailto|jrt|jmod):([^#]*)(?:#.*)?", re.IGNORECASE | re.DOTALL
)
_AUTHORITY: Final = re.compile(r"(?!////)//([^/?]*)")
_HOST: Final = re.compile(r"(?:\[([^\]]*)\]|[^\[:][^:]*|)(?::([0-9]*))?", re.DOTALL)
_MOST_PORT: Final = 2**31 - 1


def is_uri(text: str) -> bool:
    """Whether `URI.create` takes it."""
    found = _URI.fullmatch(text)
    if found is None:
        return False
    scheme, rest, fragment = found.groups()
    if not _ANY.fullmatch(fragment or ""):
        return False
    if scheme is not None and (not _SCHEME.fullmatch(scheme) or not rest):
        return False
    if scheme is not None and rest[0] != "/":
        return _ANY.fullmatch(rest) is not None
    return _is_hierarchy(rest, is_last=fragment is None)


def _is_hierarchy(text: str, *, is_last: bool) -> bool:
    found = _HIERARCHY.fullmatch(text)
    if found is None:
        return False
    authority, path, query = found.groups()
    if authority == "" and is_last and not path and query is None:
        return False
    if authority and not (_NAME.fullmatch(authority) or _is_server(authority)):
        return False
    return None not in (_PATH.fullmatch(path), _ANY.fullmatch(query or ""))


def _is_server(text: str) -> bool:
    found = _SERVER.fullmatch(text)
    return found is not None and _is_ipv6(found[1])


def is_url(text: str) -> bool:
    """Whether `new URL` takes it, where no protocols are registered beside Java's own."""
    found = _URL.fullmatch(text)
    if found is None:
        return False
    protocol, rest = found[1].lower(), found[2]
    match protocol:
        case "mailto":
            return bool(rest.strip(" \t"))
        case "jar":
            inner, within, _ = rest.rpartition("!/")
            return bool(within) and inner[:4].lower() != "jar:" and is_url(inner)
        case _:
            authority = _AUTHORITY.match(rest)
            return authority is None or _has_host(authority[1])


def _has_host(authority: str) -> bool:
    """With several @, Java does not look for a host."""
    if authority.count("@") > 1:
        return True
    found = _HOST.fullmatch(authority.rpartition("@")[2])
    if found is None or int(found[2] or 0) > _MOST_PORT:
        return False
    return found[1] is None or _is_ipv6(found[1])


def _is_ipv6(text: str) -> bool:
    address, has_scope, scope = text.partition("%")
    try:
        IPv6Address(address)
    except AddressValueError:
        return False
    return not has_scope or _SCOPE.fullmatch(scope) is not None
