"""Request bodies, read as leniently and as strictly as a broker's Jackson reads them.

Unknown members are ignored, numbers and booleans stand in for text, the last of two equal keys
wins; anything else that does not fit is a BadBodyError, which answers 400 (Pulsar 4.0.7).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn, TypeVar

from gitops.model.policy import (
    NamespacePolicies,
    SchemaAutoUpdateCompatibilityStrategy,
    SchemaCompatibilityStrategy,
)

E = TypeVar("E", SchemaCompatibilityStrategy, SchemaAutoUpdateCompatibilityStrategy)

_TRUE: Final = frozenset({"true", "True", "TRUE"})
_FALSE: Final = frozenset({"false", "False", "FALSE", "", "null"})


class BadBodyError(ValueError):
    """The body is not JSON, or not of the shape that belongs there."""


class _Number(str):
    """A number as it was written: Jackson keeps its text where text is wanted."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PostSchemaPayload:
    """The body of POST schema, compatibility and version; a null property's value is None."""

    type: str | None = None
    schema: str | None = None
    properties: dict[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantPayload:
    """The body of PUT and POST tenants; None where the member is missing."""

    admin_roles: tuple[str, ...] = ()
    allowed_clusters: tuple[str, ...] | None = None


def parse(body: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """The JSON value of a body, None for an empty one; raises BadBodyError."""
    if not body.strip():
        return None
    try:
        return json.loads(
            body.decode("utf-8-sig"),
            parse_int=_Number,
            parse_float=_Number,
            parse_constant=_no_constant,
        )
    except (ValueError, RecursionError) as cause:
        raise BadBodyError(f"not JSON: {cause}") from cause


def schema_payload(body: bytes) -> PostSchemaPayload | None:
    """The payload of a schema endpoint, None for an empty body or `null`; raises BadBodyError."""
    given = _object(parse(body), "a schema payload")
    if given is None:
        return None
    properties = _object(given.get("properties"), "properties") or {}
    return PostSchemaPayload(
        type=_text(given.get("type"), "type"),
        schema=_text(given.get("schema"), "schema"),
        properties={_java(key): _text(value, key) for key, value in properties.items()},
    )


def tenant_payload(body: bytes) -> TenantPayload | None:
    """The payload of a tenant, None for an empty body or `null`; raises BadBodyError."""
    given = _object(parse(body), "a tenant")
    if given is None:
        return None
    return TenantPayload(
        admin_roles=_texts(given.get("adminRoles"), "adminRoles") or (),
        allowed_clusters=_texts(given.get("allowedClusters"), "allowedClusters"),
    )


def namespace_payload(body: bytes) -> tuple[NamespacePolicies, tuple[str, ...]]:
    """A new namespace's schema policies and replication clusters; raises BadBodyError.

    The other members of Pulsar's policies are ignored.
    """
    given = _object(parse(body), "policies") or {}
    legacy = given.get("schema_auto_update_compatibility_strategy")
    policies = NamespacePolicies(
        schema_compatibility_strategy=strategy(given.get("schema_compatibility_strategy")),
        is_allow_auto_update_schema=_flag(given.get("is_allow_auto_update_schema")),
        schema_validation_enforced=_flag(given.get("schema_validation_enforced")),
        schema_auto_update_compatibility_strategy=legacy_strategy(legacy),
    )
    return policies, _texts(given.get("replication_clusters"), "replication_clusters") or ()


def strategy(given: object) -> SchemaCompatibilityStrategy | None:
    """A strategy by name or number; None for null and for what is not known.

    Raises BadBodyError.
    """
    return _constant(SchemaCompatibilityStrategy, given)


def legacy_strategy(given: object) -> SchemaAutoUpdateCompatibilityStrategy | None:
    """The legacy strategy, as `strategy`."""
    return _constant(SchemaAutoUpdateCompatibilityStrategy, given)


def flag(given: object) -> bool:
    """A Java boolean: null and the empty text are false; raises BadBodyError."""
    return _flag(given) or False


def required_flag(body: bytes) -> bool:
    """The body as a Java boolean, which an empty one is not; raises BadBodyError."""
    if not body.strip():
        raise BadBodyError("The request entity cannot be empty.")
    return flag(parse(body))


def number(given: object) -> int:
    """A Java int; raises BadBodyError."""
    try:
        if isinstance(given, str):
            return int(given)
    except ValueError as cause:
        raise BadBodyError(f"not a whole number: {given!r}") from cause
    raise BadBodyError("not a whole number")


def _constant(kind: type[E], given: object) -> E | None:
    """An enum's constant from its name or its ordinal, in Pulsar's order."""
    if given is None:
        return None
    if not isinstance(given, str) or (isinstance(given, _Number) and not given.isdecimal()):
        raise BadBodyError(f"not a {kind.__name__}")
    members = list(kind)
    if given.isascii() and given.isdecimal():
        ordinal = int(given[:9])
        return members[ordinal] if ordinal < len(members) else None
    return next((member for member in members if member.value == given), None)


def _flag(given: object) -> bool | None:
    """A Java Boolean; None for null."""
    if given is None or isinstance(given, bool):
        return given
    if isinstance(given, _Number) and given.lstrip("-").isdecimal():
        return given.strip("-0") != ""
    if isinstance(given, str) and not isinstance(given, _Number):
        text = given.strip()
        if text in _TRUE or text in _FALSE:
            return text in _TRUE
    raise BadBodyError("not a boolean: only true and false are")


def _object(given: object, what: str) -> dict[str, Any] | None:
    """A JSON object; None for null."""
    if given is None or isinstance(given, dict):
        return given
    raise BadBodyError(f"{what} must be a JSON object")


def _texts(given: object, what: str) -> tuple[str, ...] | None:
    """A JSON array of text, without repeats, in order; None for null."""
    if given is None:
        return None
    if not isinstance(given, list):
        raise BadBodyError(f"{what} must be an array of text")
    return tuple(dict.fromkeys(_text(value, what) or "" for value in given))


def _text(given: object, what: str) -> str | None:
    """Text, from a number or a boolean too; None for null."""
    if given is None:
        return None
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, str):
        return _java(given)
    raise BadBodyError(f"{what} must be text")


def _java(text: str) -> str:
    """Text as Java writes it out in UTF-8: half of a surrogate pair becomes `?`."""
    return str(text).encode("utf-8", "replace").decode()


def _no_constant(name: str) -> NoReturn:
    """Python's json knows NaN and infinities, JSON does not."""
    raise BadBodyError(f"{name} is not JSON")
