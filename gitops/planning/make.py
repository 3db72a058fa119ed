"""From desired and observed to a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from gitops.model.config import SafetyConfig
from gitops.model.findings import Finding, Location, Severity
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import (
    Action,
    CreateNamespace,
    DeleteSchema,
    Notice,
    Plan,
    RegisterSchema,
    SetPolicy,
)
from gitops.model.policy import BrokerDefaults, NamespacePolicies, TopicPolicies, effective_strategy
from gitops.model.state import NamespaceState, RegistryState, TopicState
from gitops.planning import fingerprints
from gitops.planning.guards import guard
from gitops.planning.notice_findings import (
    of_actions,
    of_content,
    of_missing_topics,
    of_notices,
    of_tenants,
)
from gitops.planning.policies import changes, overlay
from gitops.planning.topics import TopicCase, plan_topic
from gitops.ports import Progress, no_progress

LocateIn = Callable[[TopicName, str], Location | None]
"""Where a JSON pointer of a topic's definition stands in the files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a plan is made from.

    `content` are findings about definitions by topic: they count where the topic changes. `rules`
    are the severities that differ from the table's.
    """

    registry: str
    address: str
    files: str
    desired: RegistryState
    observed: RegistryState
    defaults: BrokerDefaults
    safety: SafetyConfig
    locate: LocateIn
    content: Mapping[TopicName, tuple[Finding, ...]] = field(default_factory=dict)
    rules: Mapping[str, Severity] = field(default_factory=dict)
    prune: bool = False


def make_plan(question: Question, progress: Progress = no_progress) -> Plan:
    """Every difference as an action or a notice: namespaces first, then topics, by name.

    Topics in `observed` that `desired` does not name are deleted if the question says `prune`.
    """
    actions: list[Action] = [*_namespaces(question)]
    notices: list[Notice] = []
    unchanged = 0
    wanted = sorted(question.desired.topics.items())
    policies = {name: _policies(question, name) for name in {t.namespace for t, _ in wanted}}
    for count, (topic, desired) in enumerate(wanted):
        progress("comparing schemas", count, len(wanted))
        done, said = _topic(question, topic, desired, policies[topic.namespace])
        actions += done
        notices += said
        unchanged += not done and not said
    actions += _pruned(question)
    return Plan(
        registry=question.registry,
        address=question.address,
        files=question.files,
        prune=question.prune,
        actions=tuple(actions),
        notices=tuple(notices),
        findings=_findings(question, actions, notices),
        observed=fingerprints.of_state(question.observed),
        expected=_expected(question.observed, actions),
        namespaces=len(question.desired.namespaces),
        topics=len(question.desired.topics),
        unchanged=unchanged,
    )


def _namespaces(question: Question) -> Iterator[Action]:
    for name, desired in sorted(question.desired.namespaces.items()):
        observed = question.observed.namespaces[name]
        if not observed.exists:
            yield CreateNamespace(namespace=name)
        for change in changes(desired.policies, observed.policies):
            yield SetPolicy(subject=name, change=change)


def _topic(
    question: Question, topic: TopicName, desired: TopicState, above: NamespacePolicies
) -> tuple[list[Action], list[Notice]]:
    observed = question.observed.topics[topic]
    by_broker = question.defaults.is_schema_validation_enforced
    differing = changes(
        desired.policies,
        observed.policies,
        enforced_above=by_broker or bool(above.schema_validation_enforced),
    )
    actions: list[Action] = [SetPolicy(subject=topic, change=change) for change in differing]
    outcome = None
    if desired.history.latest:
        outcome = plan_topic(_case(question, desired, observed, above))
    if isinstance(outcome, RegisterSchema):
        return [*actions, outcome], []
    return actions, [outcome] if outcome else []


def _case(
    question: Question, desired: TopicState, observed: TopicState, above: NamespacePolicies
) -> TopicCase:
    topic, latest = desired.topic, desired.history.latest
    if latest is None:
        raise ValueError(f"{topic} has no desired schema")
    return TopicCase(
        topic=topic,
        desired=latest.info,
        history=observed.history,
        strategy=effective_strategy(
            _topic_policies(topic, desired, observed),
            above,
            question.defaults,
        ),
        locate=lambda pointer: question.locate(topic, pointer),
        content=question.content.get(topic, ()),
        rules=question.rules,
    )


def _topic_policies(topic: TopicName, desired: TopicState, observed: TopicState) -> TopicPolicies:
    """The topic's policies once the plan is carried out.

    Those of a non-persistent topic do not count: POST …/schema asks for the persistent topic's
    (Pulsar 4.0.7).
    """
    if topic.domain == "non-persistent":
        return TopicPolicies()
    return overlay(desired.policies, observed.policies)


def _policies(question: Question, name: NamespaceName) -> NamespacePolicies:
    """The namespace's policies as they are once the plan is carried out."""
    none = NamespaceState(namespace=name)
    desired = question.desired.namespaces.get(name, none)
    observed = question.observed.namespaces.get(name, none)
    return overlay(desired.policies, observed.policies)


def _pruned(question: Question) -> list[Action]:
    if not question.prune:
        return []
    return [
        DeleteSchema(topic=topic, versions=tuple(e.version for e in state.history.entries))
        for topic, state in sorted(question.observed.topics.items())
        if topic not in question.desired.topics and state.history.entries
    ]


def _findings(
    question: Question, actions: list[Action], notices: list[Notice]
) -> tuple[Finding, ...]:
    return (
        *of_notices(notices),
        *of_actions(actions),
        *of_content(question.content, actions, notices),
        *of_tenants(question.observed),
        *of_missing_topics(actions, question.observed),
        *guard(actions, question.observed, question.safety),
    )


def _expected(observed: RegistryState, actions: list[Action]) -> dict[str, tuple[str, ...]]:
    """Subject → the fingerprints after each of its actions, in order."""
    now: dict[str, fingerprints.Subject] = {}
    passed: dict[str, list[str]] = {}
    for action in actions:
        name = subject_of(action)
        key = fingerprints.subject_name(name)
        before = now.get(key) or _state(observed, name)
        now[key] = fingerprints.after(before, action)
        passed.setdefault(key, []).append(fingerprints.of_subject(now[key]))
    return {key: tuple(prints) for key, prints in sorted(passed.items())}


def subject_of(action: Action) -> NamespaceName | TopicName:
    """Whom an action is about."""
    match action:
        case CreateNamespace():
            return action.namespace
        case SetPolicy():
            return action.subject
        case RegisterSchema() | DeleteSchema():
            return action.topic


def _state(observed: RegistryState, name: NamespaceName | TopicName) -> fingerprints.Subject:
    if isinstance(name, NamespaceName):
        return observed.namespaces[name]
    return observed.topics[name]
