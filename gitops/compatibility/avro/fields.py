"""Fields of a record: order, default, aliases; and the members that other nodes share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gitops.compatibility.avro.defaults import IncompleteRecordError, is_valid_default
from gitops.compatibility.avro.errors import JavaError
from gitops.compatibility.avro.json_text import Json
from gitops.compatibility.avro.names import check_name, problem
from gitops.compatibility.avro.numbers import java_double
from gitops.compatibility.avro.schema import MISSING, NO_PROPS, Field, Missing, Schema, describe

_RESERVED: Final = frozenset(("default", "doc", "name", "order", "type", "aliases"))
_ORDERS: Final = frozenset(("ASCENDING", "DESCENDING", "IGNORE"))


def read(node: dict[str, Json], name: str, kind: Schema, at: str, *, validate: bool) -> Field:
    """A field whose name and type are known already."""
    order = _order(node, at) if "order" in node else "ASCENDING"
    default = default_of(node["default"], kind, at) if "default" in node else MISSING
    check_name(name, at, "name")
    if validate:
        check_default(name, kind, default, at)
    return Field(
        name,
        kind,
        default,
        text(node, "doc"),
        order,
        aliases(node, at) if "aliases" in node else (),
        props(node, _RESERVED) or None,
    )


def props(node: dict[str, Json], reserved: frozenset[str]) -> Mapping[str, Json]:
    """The members that Avro has no meaning for; most nodes have none."""
    if reserved.issuperset(node):
        return NO_PROPS
    return {key: value for key, value in node.items() if key not in reserved}


def check_default(name: str, kind: Schema, default: Json | Missing, at: str) -> None:
    """Refuse a default that its type does not allow (Avro 1.11.4: a union's first branch)."""
    if isinstance(default, Missing):
        return
    where = f"{at}/default"
    try:
        valid = is_valid_default(kind, default)
    except IncompleteRecordError:
        message = f"the default of '{name}' is of the record that is being defined"
        raise problem("invalid-default", message, where, java=JavaError.RUNTIME) from None
    if not valid:
        message = f"the default of '{name}' is no {describe(kind)}"
        raise problem("invalid-default", message, where, java=JavaError.RUNTIME)


def has_valid_default(field: Field) -> bool:
    """Whether `check_default` would let it pass."""
    try:
        return is_valid_default(field.type, field.default)
    except IncompleteRecordError:
        return False


def text(node: dict[str, Json], key: str) -> str | None:
    """A member that counts only if it is text."""
    value = node.get(key)
    return value if isinstance(value, str) else None


def aliases(node: dict[str, Json], at: str) -> tuple[str, ...]:
    """The member `aliases` as it stands: a list of text."""
    given = node["aliases"]
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise problem("bad-aliases", "'aliases' must be a list of text", f"{at}/aliases")
    return tuple(dict.fromkeys(given))


def _order(node: dict[str, Json], at: str) -> str:
    order = text(node, "order")
    if order is None or order.upper() not in _ORDERS:
        message = "'order' is one of ascending, descending, ignore"
        raise problem("bad-order", message, f"{at}/order", java=JavaError.RUNTIME)
    return order.upper()


def default_of(default: Json, kind: Schema, at: str) -> Json:
    """The default of the field `at`; text in the place of a number is read as one, as Java does."""
    if isinstance(default, str) and kind.kind in ("float", "double"):
        number = java_double(default)
        if number is None:
            message = f"the default '{default}' is not a number"
            raise problem("invalid-default", message, f"{at}/default", java=JavaError.RUNTIME)
        return number
    return default
