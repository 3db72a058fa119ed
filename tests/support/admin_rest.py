"""Plain requests to admin REST, made without the code under test."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Mapping


def admin_request(
    method: str, url: str, body: object = None, headers: Mapping[str, str] | None = None
) -> bytes:
    """The body of the answer; `body` is sent as JSON. Raises HTTPError for a refusal."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", **(headers or {})}
    request = urllib.request.Request(url, data=data, headers=headers, method=method)  # noqa: S310
    with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310
        content: bytes = response.read()
    return content
