"""Raw admin REST requests, and the words that lists of them are written in.

`{t}` in a path stands for a tenant that exists, `{t}/n` for an empty namespace of it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Final

JSON: Final = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class RawRequest:
    """A request below /admin/v2."""

    method: str
    path: str
    body: bytes | None = None
    content_type: str | None = None
    accept: str | None = None


def get(path: str) -> RawRequest:
    return RawRequest(method="GET", path=path)


def delete(path: str) -> RawRequest:
    return RawRequest(method="DELETE", path=path)


def put(path: str, body: object = None) -> RawRequest:
    """A body of text or bytes is sent as it is, anything else as JSON; None is no body."""
    request = RawRequest(method="PUT", path=path)
    if body is None:
        return request
    if isinstance(body, str):
        body = body.encode()
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return replace(request, body=raw, content_type=JSON)


def post(path: str, body: object = None) -> RawRequest:
    return replace(put(path, body), method="POST")


def untyped(request: RawRequest, content_type: str | None = None) -> RawRequest:
    """The request with another Content-Type, or with none."""
    return replace(request, content_type=content_type)


def accepting(request: RawRequest, accept: str) -> RawRequest:
    """The request with that Accept header."""
    return replace(request, accept=accept)


def schema(
    type_: object, text: object = "", properties: object = None, **more: object
) -> dict[str, object]:
    """The body of POST schema."""
    return {"type": type_, "schema": text, "properties": properties or {}, **more}


def record(*fields: dict[str, object], name: str = "R", **more: object) -> str:
    return json.dumps({"type": "record", "name": name, "fields": fields, **more})


A: Final[dict[str, object]] = {"name": "a", "type": "int"}
B: Final[dict[str, object]] = {"name": "b", "type": "int"}
B_DEFAULT: Final[dict[str, object]] = {"name": "b", "type": "int", "default": 1}
CLUSTERS: Final = {"adminRoles": [], "allowedClusters": ["standalone"]}

N: Final = "/namespaces/{t}/n"
S: Final = "/schemas/{t}/n/topic"


# What differs by nature: a broker's ledgers and the time.
_IGNORED = frozenset({"timestamp", "ledgerId", "entryId"})
_UNEXPECTED = "\n --- An unexpected error occurred in the server ---\n\nMessage: "


def compared(value: object) -> object:
    """A JSON value without what differs by nature, and without Java's own words for a failure."""
    if isinstance(value, dict):
        return {key: compared(each) for key, each in value.items() if key not in _IGNORED}
    if isinstance(value, list):
        return [compared(each) for each in value]
    if isinstance(value, str) and value.startswith(_UNEXPECTED):
        return _UNEXPECTED
    return value
