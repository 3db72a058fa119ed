"""Plain requests to admin REST, made without the code under test."""

from __future__ import annotations

import json
import ssl
import urllib.request
from collections.abc import Mapping
from pathlib import Path


def admin_request(
    method: str,
    url: str,
    body: object = None,
    headers: Mapping[str, str] | None = None,
    *,
    ca_file: Path | None = None,
) -> bytes:
    """The body of the answer; `body` is sent as JSON. Raises HTTPError for a refusal.

    `ca_file`: the certificates to trust, in PEM; None: those of the machine.
    """
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", **(headers or {})}
    request = urllib.request.Request(url, data=data, headers=headers, method=method)  # noqa: S310
    trusted = ssl.create_default_context(cafile=str(ca_file)) if ca_file else None
    with urllib.request.urlopen(request, timeout=60, context=trusted) as response:  # noqa: S310
        content: bytes = response.read()
    return content
