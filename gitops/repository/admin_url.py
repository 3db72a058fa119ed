"""URLs of an admin service, and what to write in place of a text that is none."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import SplitResult, urlsplit

_EXAMPLE: Final = "write the cluster's web service URL, as http://broker.example:8080 or ${ENV_VAR}"
_BINARY: Final = {"pulsar": "http://{}:8080", "pulsar+ssl": "https://{}:8443"}
"""The schemes of Pulsar's binary protocol, and where such a broker serves admin REST."""

_HOST: Final = r"(?:[\w.-]+|\[[0-9A-Fa-f:.]+\])"
_HOST_AND_PORT: Final = re.compile(rf"({_HOST}:\d{{1,5}})/?", re.ASCII)


def split_url(text: str) -> SplitResult | None:
    """The parts of a URL; None where a part is none: a port beyond 65535, a blank in a name."""
    try:
        split = urlsplit(text)
        port = split.port
    except ValueError:
        return None
    return split if port != 0 and text.isprintable() and " " not in text else None


def admin_url_hint(text: str) -> str:
    """What to write instead; nothing is repeated of a text that could hold a secret."""
    if "@" in text:
        return _EXAMPLE
    if found := _HOST_AND_PORT.fullmatch(text):
        return f"write the scheme as well: http://{found[1]}"
    if "," in text:
        return "write the web service URL of one broker: each of them answers for the cluster"
    scheme, _, rest = text.partition("://")
    host = re.match(_HOST, rest, re.ASCII)
    if scheme in _BINARY and host:
        meant = _BINARY[scheme].format(host[0])
        return f"{scheme}:// is Pulsar's binary protocol; write the web service URL: {meant}"
    return _EXAMPLE
