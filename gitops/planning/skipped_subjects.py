"""What an apply that keeps going leaves out: subjects with errors, and what depends on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from gitops.model.errors import InvalidNameError
from gitops.model.findings import Severity
from gitops.model.names import NamespaceName, TenantName, TopicName
from gitops.model.plan import CreateNamespace, Plan, SetPolicy
from gitops.planning.plan import subject_of

Subject = TenantName | NamespaceName | TopicName
_ORDER: Final[tuple[type, ...]] = (TenantName, NamespaceName, TopicName)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedSubject:
    """A tenant, namespace or topic that is left as it is; `actions` would have changed it.

    `rule` is that of the finding that is in the way, empty where that is another subject.
    """

    subject: str
    reason: str
    rule: str = ""
    actions: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RemainingPlan:
    """What can be applied of a plan, and what is skipped.

    `is_blocked`: a finding is about no subject of the plan, such as the limit on changed topics,
    so nothing can be applied.
    """

    plan: Plan
    skipped: tuple[SkippedSubject, ...] = ()
    is_blocked: bool = False


def skip_blocked_subjects(plan: Plan, threshold: Severity) -> RemainingPlan:
    """The plan without the subjects of findings at or above `threshold`.

    A namespace whose policies would change goes with each of its topics that is skipped, since the
    finding may be about that change; so do all topics of a skipped namespace, which were decided
    by its new policies, and all namespaces of a skipped tenant.
    """
    blocking = [item for item in plan.findings if item.severity >= threshold]
    if not blocking:
        return RemainingPlan(plan=plan)
    known = _subjects(plan)
    reasons: dict[Subject, tuple[str, str]] = {}
    for finding in blocking:
        for member in finding.members:
            subject = known.get(member.subject) or _unread_topic(member.subject, known)
            if subject is None:
                return RemainingPlan(plan=plan, is_blocked=True)
            reasons.setdefault(subject, (finding.rule, member.message))
    created = {action.namespace for action in plan.actions if isinstance(action, CreateNamespace)}
    changed = {
        action.subject
        for action in plan.actions
        if isinstance(action, SetPolicy) and isinstance(action.subject, NamespaceName)
    }
    for topic in sorted(reason for reason in reasons if isinstance(reason, TopicName)):
        namespace = topic.namespace
        if namespace in changed - created:
            why = f"{topic} is skipped, and the policies of its namespace decide about it"
            reasons.setdefault(namespace, ("", why))
    for subject in sorted(known.values(), key=lambda item: _ORDER.index(type(item))):
        if subject in reasons:
            continue
        if isinstance(subject, NamespaceName) and TenantName(subject.tenant) in reasons:
            reasons[subject] = ("", f"its tenant {subject.tenant} is skipped")
        if isinstance(subject, TopicName) and subject.namespace in reasons:
            reasons[subject] = ("", f"its namespace {subject.namespace} is skipped")
    acted = {subject_of(action) for action in plan.actions}
    skipped = [
        SkippedSubject(
            subject=str(subject),
            rule=rule,
            reason=reason,
            actions=sum(subject_of(action) == subject for action in plan.actions),
        )
        for subject, (rule, reason) in sorted(reasons.items(), key=lambda item: str(item[0]))
        if rule or subject in acted
    ]
    left = tuple(action for action in plan.actions if subject_of(action) not in reasons)
    return RemainingPlan(plan=replace(plan, actions=left), skipped=tuple(skipped))


def _subjects(plan: Plan) -> dict[str, Subject]:
    """All that the plan looked at or acts on, by the name that findings have for it."""
    parsers: dict[str, Callable[[str], Subject]] = {
        "tenant": TenantName,
        "namespace": NamespaceName.parse,
        "topic": TopicName.parse,
    }
    grouped: dict[str, Subject] = {str(item): item for item in map(subject_of, plan.actions)}
    for name in plan.observed:
        kind, _, text = name.partition(" ")
        if parse := parsers.get(kind):
            grouped[text] = parse(text)
    return grouped


def _unread_topic(name: str, known: Mapping[str, Subject]) -> TopicName | None:
    """A topic that the registry cannot show: only its namespace is among what was looked at."""
    with suppress(InvalidNameError):
        topic = TopicName.parse(name)
        return topic if str(topic.namespace) in known else None
    return None
