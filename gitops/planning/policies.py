"""Policies: what differs, and whether a difference lets more through than before."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Final, TypeVar

from gitops.model.policy import (
    NamespacePolicies,
    PolicyChange,
    PolicyValue,
    SchemaAutoUpdateCompatibilityStrategy,
    TopicPolicies,
    camel_case,
    is_same_value,
    managed_items,
)
from gitops.model.policy import SchemaCompatibilityStrategy as Strategy

_P = TypeVar("_P", NamespacePolicies, TopicPolicies)

_BACKWARD: Final = frozenset({"backward"})
_FORWARD: Final = frozenset({"forward"})
_GUARANTEES: Final = {
    Strategy.ALWAYS_COMPATIBLE: frozenset[str](),
    Strategy.BACKWARD: _BACKWARD,
    Strategy.FORWARD: _FORWARD,
    Strategy.FULL: _BACKWARD | _FORWARD,
    Strategy.BACKWARD_TRANSITIVE: _BACKWARD | {"backward transitive"},
    Strategy.FORWARD_TRANSITIVE: _FORWARD | {"forward transitive"},
    Strategy.FULL_TRANSITIVE: _BACKWARD | _FORWARD | {"backward transitive", "forward transitive"},
    Strategy.ALWAYS_INCOMPATIBLE: _BACKWARD
    | _FORWARD
    | {"backward transitive", "forward transitive", "no change"},
}


def changes(desired: _P, observed: _P, *, enforced_above: bool = False) -> tuple[PolicyChange, ...]:
    """The managed keys whose value differs; a key that is not managed never does.

    A topic's `schemaValidationEnforced: false` says something only where its namespace or the
    broker enforces validation (`enforced_above`); elsewhere it is the same as not set.
    """
    differences = []
    for field in fields(desired):
        key = camel_case(field.name)
        want, have = getattr(desired, field.name), getattr(observed, field.name)
        if want is None or want == have:
            continue
        same = is_same_value(key, want, have)
        if not same or (enforced_above and want is False):
            differences.append(PolicyChange(key=key, before=have, after=want))
    return tuple(differences)


def overlay(over: _P, under: _P) -> _P:
    """The keys of `over` where they are set, those of `under` elsewhere."""
    given = {f.name: v for f in fields(over) if (v := getattr(over, f.name)) is not None}
    return replace(under, **given) if given else under


def direction(change: PolicyChange) -> str:
    """`loosened`, `tightened`, or `changed` where neither lets through all that the other does."""
    before, after = _guarantees(change, change.before), _guarantees(change, change.after)
    if before is None or after is None:
        return "set" if change.before is None else "changed"
    if after < before:
        return "loosened"
    return "tightened" if before < after else "changed"


def _guarantees(change: PolicyChange, value: PolicyValue) -> frozenset[str] | None:
    if isinstance(value, SchemaAutoUpdateCompatibilityStrategy):
        value = value.strategy
    if isinstance(value, Strategy):
        return _GUARANTEES.get(value)
    if isinstance(value, bool):
        strict = value if change.key == "schemaValidationEnforced" else not value
        return frozenset({change.key}) if strict else frozenset()
    return None


def describe(policies: NamespacePolicies | TopicPolicies) -> str:
    """`schemaCompatibilityStrategy FULL, …`, for a line of text."""
    return ", ".join(f"{key} {policy_text(value)}" for key, value in managed_items(policies))


def policy_text(value: PolicyValue) -> str:
    """A value as YAML has it; a dash where it is not set."""
    if value is None:
        return "–"
    return str(value).lower() if isinstance(value, bool) else value.value
