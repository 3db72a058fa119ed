"""Policies as the JSON text that a row keeps: Pulsar's camelCase keys, only those that are set."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import fields
from enum import Enum
from typing import Any, Final, TypeVar

from gitops.model.errors import UsageError
from gitops.model.policy import (
    NamespacePolicies,
    Policies,
    PolicyChange,
    SchemaAutoUpdateCompatibilityStrategy,
    SchemaCompatibilityStrategy,
    TopicPolicies,
    camel_case,
    managed_items,
)

P = TypeVar("P", NamespacePolicies, TopicPolicies)

_ENUMS: Final[dict[str, type[Enum]]] = {
    "schemaCompatibilityStrategy": SchemaCompatibilityStrategy,
    "schemaAutoUpdateCompatibilityStrategy": SchemaAutoUpdateCompatibilityStrategy,
}


def to_json(policies: Policies) -> str:
    """The text of a row."""
    values = {
        key: value.value if isinstance(value, Enum) else value
        for key, value in managed_items(policies)
    }
    return json.dumps(values, sort_keys=True)


def from_json(kind: type[P], text: str) -> P:
    """The policies of a row; raises sqlite3.DatabaseError for what `to_json` did not write."""
    try:
        stored = dict(json.loads(text))
        values: dict[str, Any] = {}
        for field in fields(kind):
            key = camel_case(field.name)
            if key in stored:
                value = stored[key]
                values[field.name] = _ENUMS[key](value) if key in _ENUMS else bool(value)
    except (TypeError, ValueError, RecursionError) as cause:
        raise sqlite3.DatabaseError(f"stored policies make no sense: {cause}") from cause
    return kind(**values)


def changed(policies: P, changes: Iterable[PolicyChange]) -> P:
    """`policies` with each key set to its `after`; raises UsageError for a key that it lacks."""
    names = {camel_case(field.name): field.name for field in fields(policies)}
    values: dict[str, Any] = {name: getattr(policies, name) for name in names.values()}
    for change in changes:
        if change.key not in names:
            raise UsageError(
                f"'{change.key}' is not a policy here", hint=f"known: {', '.join(sorted(names))}"
            )
        values[names[change.key]] = change.after
    return type(policies)(**values)
