"""Which text Java takes for a URI or a URL: `java.net.URI` and `java.net.URL` of Java 17.

`URI` parses as its documentation says (RFC 2396 with deviations); `URL` looks at the protocol,
at the characters of a host, at a host in brackets and at the port, and at nothing else.
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
_ZEROS: Final = re.compile(r"\b0+(?=[0-9A-Fa-f])")
"""Of which Java lets a number begin with any: `URI` in a dotted part, `URL` in each."""

_SCOPE: Final = re.compile(r"[A-Za-z0-9_.]+")
_URI: Final = re.compile(r"(?:([^:/?#]*):)?([^#]*)(?:#(.*))?", re.DOTALL)
_HIERARCHY: Final = re.compile(r"(?://([^/?]*))?([^?]*)(?:\?(.*))?", re.DOTALL)

_URL: Final = re.compile(
    r"(?:url:)?(https?|ftp|file|jar|mailto|jrt|jmod):([^#]*)(?:#.*)?", re.IGNORECASE | re.DOTALL
)
_TRIMMED: Final = "".join(map(chr, range(0x21)))
_BLANK: Final = re.compile(r"[^\S\x85\xa0\u2007\u202f]*")
_AUTHORITY: Final = re.compile(r"(?!////)//([^/?]*)")
_DIGIT: Final = r"[^\D\U00010000-\U0010ffff]"
_PORT: Final = rf"([+-]?)(?={_DIGIT})0*({_DIGIT}{{0,10}})"
_HOST: Final = re.compile(rf"(\[[^\]]*\]|[^\[:][^:]*|)(?::(?:{_PORT})?)?", re.DOTALL)
_PORTS: Final = range(-1, 2**31)
_NO_HOST: Final = re.compile(
    "[\x00-\x1f\x7f\u2047-\u2049\u2100\u2101\u2105\u2106\u2a74"
    "\ufe55\ufe56\ufe5f\ufe6b\uff03\uff0f\uff1a\uff1f\uff20]"
)
"""Controls, and what stands for one of `#/:?@` where a name is normalized."""


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
    if found is None:
        return False
    address, has_scope, scope = found[1].partition("%")
    groups, colon, dotted = address.rpartition(":")
    if "." in dotted:
        address = groups + colon + _ZEROS.sub("", dotted)
    return _is_ipv6(address) and (not has_scope or _SCOPE.fullmatch(scope) is not None)


def is_url(text: str) -> bool:
    """Whether `new URL` takes it, where no protocols are registered beside Java's own."""
    found = _URL.fullmatch(text.strip(_TRIMMED))
    if found is None:
        return False
    protocol, rest = found[1].lower(), found[2]
    match protocol:
        case "mailto":
            return _BLANK.fullmatch(rest) is None
        case "jar":
            inner, within, _ = rest.rpartition("!/")
            is_outer = text[:4].lower() == "jar:" != inner[:4].lower()
            return is_outer and bool(within) and is_url(inner)
        case _:
            authority = _AUTHORITY.match(rest)
            return authority is None or _has_host(authority[1])


def _has_host(authority: str) -> bool:
    """With several @, Java does not look for a host."""
    if authority.count("@") > 1:
        return True
    found = _HOST.fullmatch(authority.rpartition("@")[2])
    if found is None or _NO_HOST.search(found[1]):
        return False
    if int((found[2] or "") + (found[3] or "0")) not in _PORTS:
        return False
    address, has_scope, scope = found[1][1:-1].partition("%")
    is_name = found[1][:1] != "["
    return is_name or (_is_ipv6(_ZEROS.sub("", address)) and bool(scope or not has_scope))


def _is_ipv6(text: str) -> bool:
    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return True
