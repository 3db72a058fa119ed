"""A reviewed plan as it comes from its file, compared with the plan as it is now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from gitops.model.errors import InvalidNameError, StalePlanError, UsageError
from gitops.model.names import NamespaceName, TenantName, TopicName
from gitops.model.plan import Plan
from gitops.model.policy import SettingSource
from gitops.model.state import Scope
from gitops.planning.broker_document import ASSUMED, changed_settings
from gitops.planning.fingerprints import PARTITIONS
from gitops.planning.plan_document import Document, action_document, canonical, digest

REPLAN: Final = "make a new plan and have it reviewed"

_KINDS: Final[Mapping[str, Callable[[str], object]]] = {
    "tenant": TenantName.parse,
    "namespace": NamespaceName.parse,
    PARTITIONS: TopicName.parse,
    "topic": TopicName.parse,
}
"""How the name is read that follows the kind of a subject."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumption:
    """What is left of a reviewed plan, and how many of its actions are done already."""

    plan: Plan
    done: int = 0


def check_digest(document: Mapping[str, Any]) -> None:
    """Raise UsageError for a plan that is not as it was written."""
    if document["digest"] != digest(document):
        raise UsageError("the plan file was changed after it was written", hint=REPLAN)


def scope_of(document: Mapping[str, Any]) -> Scope:
    """The subjects that the reviewed plan looked at; raises UsageError for a name that is none.

    An apply looks at these again and at no others. A topic that the plan deletes is among them
    when it is gone from every list, and one that came later is not, so it is left alone.
    """
    grouped: dict[str, set[Any]] = {kind: set() for kind in _KINDS}
    for subject in document["observed"]:
        kind, _, name = subject.partition(" ")
        try:
            grouped[kind].add(_KINDS[kind](name))
        except (KeyError, InvalidNameError) as error:
            raise UsageError(
                f"the plan file contains the subject '{subject}'", hint=REPLAN
            ) from error
    return Scope(
        tenants=frozenset(grouped["tenant"]),
        namespaces=frozenset(grouped["namespace"]),
        partitions=frozenset(grouped[PARTITIONS]),
        topics=frozenset(grouped["topic"]),
    )


def release_of(document: Mapping[str, Any]) -> str | None:
    """The release that `--as-if-broker` named when the plan was made, None where nobody did."""
    broker = document.get("broker")
    if not broker or broker["sources"]["release"] != SettingSource.OPTION.value:
        return None
    return str(broker["release"])


def resume(document: Mapping[str, Any], now: Plan) -> Resumption:
    """What is left to do; raises StalePlanError unless `now` is what is left of the reviewed plan.

    Each subject must be as the plan saw it, or as one of the plan's own actions leaves it: so a
    plan that was carried out in part can be taken up again, and nothing else can.
    """
    address = document["registry"]["address"]
    if address != now.address:
        raise StalePlanError(
            f"the plan was made for {address}, and {now.registry} is {now.address}", hint=REPLAN
        )
    if document["files"] != now.files:
        raise StalePlanError("the files have changed since the plan was made", hint=REPLAN)
    if changed := changed_settings(document.get("broker"), now.broker):
        raise StalePlanError(
            f"the broker has changed since the plan was made: {'; '.join(changed)}",
            hint=_LEARN if any(ASSUMED in text for text in changed) else REPLAN,
        )
    observed, expected = document["observed"], document["expected"]
    if set(observed) != set(now.observed):
        raise StalePlanError(f"the plan covers other subjects than {now.registry}", hint=REPLAN)
    moved = [
        name
        for name, seen in now.observed.items()
        if seen != observed[name] and seen not in expected.get(name, ())
    ]
    if moved:
        raise StalePlanError(f"{subject_list(moved)} changed since the plan was made", hint=REPLAN)
    reviewed = [_effect(action) for action in document["actions"]]
    left = [_effect(action_document(action)) for action in now.actions]
    if not set(left) <= set(reviewed):
        raise StalePlanError("a plan made now would have other actions", hint=REPLAN)
    done = len(reviewed) - len(left)
    return Resumption(plan=_judged_whole(document, now) if done else now, done=done)


def _effect(action: Document) -> bytes:
    """What an action does.

    A policy's value before it is the subject's fingerprint's concern: a namespace that the plan
    has created spells out what was not there before. Why it is done is no effect: what closes a
    topic that a waiver has opened may be what the files ask for.
    """
    return canonical({k: v for k, v in action.items() if k not in _NO_EFFECT})


def _judged_whole(document: Mapping[str, Any], now: Plan) -> Plan:
    """Without the limits of one apply that the whole plan kept.

    What is left can be a larger share of the topics: first versions that are done make a registry
    large enough for the limit to hold.
    """
    broken = any(value.get("rule") == _SHARE for value in document["findings"])
    kept = (finding for finding in now.findings if finding.rule != _SHARE or broken)
    return replace(now, findings=tuple(kept))


def subject_list(names: list[str]) -> str:
    """The first few, and how many more there are."""
    shown, left = ", ".join(names[:_SHOWN]), len(names) - _SHOWN
    return f"{shown} and {left} more" if left > 0 else shown


_NO_EFFECT: Final = ("before", "direction", "waiver")
_SHARE: Final = "PLAN-R004"
_SHOWN: Final = 3
_LEARN: Final = (
    "plan and apply with roles that may read the broker's configuration, or set `brokerDefaults` "
    f"in gitops.yaml to what it has; then {REPLAN}"
)
