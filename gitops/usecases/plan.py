"""Desired against live."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from gitops.model.config import RegistryConfig
from gitops.model.errors import GitopsError, OutsideError
from gitops.model.findings import Finding, Severity
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import Plan
from gitops.model.repository import Repository
from gitops.model.state import RegistryState, Scope
from gitops.planning.make import LocateIn, Question, make_plan
from gitops.planning.waiver_findings import expiries
from gitops.ports import Progress, Registry, no_progress
from gitops.usecases.desired import desired_of
from gitops.usecases.severities import graded, worst


class UnplannableError(GitopsError):
    """The files have errors, so what they want is not known."""

    exit_code = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Planning:
    """What a plan is made from: the files, the registry, and how places are found.

    `recorded` are topics that a snapshot names; a cluster may hold them without listing them.
    `reviewed` are the subjects that a reviewed plan looked at: no others are looked at then.
    `today` is the day in UTC, for waivers.
    """

    repository: Repository
    registry: Registry
    config: RegistryConfig
    locate: LocateIn
    today: datetime.date
    recorded: frozenset[TopicName] = frozenset()
    prune: bool = False
    reviewed: Scope | None = None


def blocks(findings: Iterable[Finding]) -> bool:
    """Whether findings about the files leave open what they want."""
    return worst(findings) is Severity.ERROR


def plan(planning: Planning, progress: Progress = no_progress) -> Plan:
    """Read the registry and compare; raises UnplannableError, OutsideError."""
    return plan_of(planning, ask(planning, progress), progress)


def ask(planning: Planning, progress: Progress = no_progress) -> Question:
    """What the plan is made from; raises UnplannableError, OutsideError."""
    repository, registry = planning.repository, planning.registry
    rules = repository.config.rules
    if blocks(_findings(planning)):
        raise UnplannableError("the files have errors", hint="see `pulsar-gitops validate`")
    desired = desired_of(repository, planning.config)
    return Question(
        registry=registry.name,
        address=registry.address,
        files=repository.digest,
        desired=desired,
        observed=_observe(planning, desired, progress),
        defaults=registry.defaults,
        safety=repository.config.safety,
        locate=planning.locate,
        today=planning.today,
        content={
            topic: graded(source.findings, rules)
            for topic, source in repository.topics.items()
            if source.findings
        },
        rules=rules,
        waivers=repository.waivers,
        prune=planning.prune,
    )


def plan_of(planning: Planning, question: Question, progress: Progress = no_progress) -> Plan:
    """The plan for what was asked, with the findings about the files."""
    made = make_plan(question, progress)
    topics = frozenset(question.desired.topics)
    unmanaged, unlisted = _left_alone(planning, question.observed, topics)
    findings = (*_findings(planning), *made.findings)
    return replace(
        made,
        findings=tuple(sorted(findings, key=lambda one: one.sort_key)),
        unmanaged=unmanaged,
        unlisted=unlisted,
    )


def _findings(planning: Planning) -> tuple[Finding, ...]:
    """About the files, rated."""
    repository = planning.repository
    of_waivers = expiries(repository.waivers, planning.today)
    return graded((*repository.findings, *of_waivers), repository.config.rules)


def _observe(planning: Planning, desired: RegistryState, progress: Progress) -> RegistryState:
    if planning.reviewed:
        return planning.registry.observe(_reviewed(planning.reviewed, desired), progress)
    topics = frozenset(desired.topics)
    if planning.prune:
        topics |= _by_history(_candidates(planning, desired))
    scope = Scope(namespaces=frozenset(desired.namespaces), topics=topics)
    return _without_idle(planning.registry.observe(scope, progress), desired)


def _candidates(planning: Planning, desired: RegistryState) -> Iterator[TopicName]:
    """The topics without a manifest that the registry or a snapshot names."""
    managed = frozenset(desired.topics)
    exist = planning.registry.observe(Scope(namespaces=frozenset(desired.namespaces)))
    for name in _existing(exist):
        yield from _unmanaged(planning.registry.list_topics(name), [name], managed)
    yield from _unmanaged(planning.recorded, desired.namespaces, managed)


def _by_history(topics: Iterable[TopicName]) -> frozenset[TopicName]:
    """One name for each history, which a persistent and a non-persistent topic share."""
    return frozenset({topic.keeper: topic for topic in sorted(topics)}.values())


def _reviewed(scope: Scope, desired: RegistryState) -> Scope:
    """What a reviewed plan looked at, and what the files name in any case."""
    managed = frozenset(desired.topics)
    others = _unmanaged(scope.topics, {topic.namespace for topic in scope.topics}, managed)
    return Scope(namespaces=scope.namespaces | set(desired.namespaces), topics=managed | others)


def _without_idle(observed: RegistryState, desired: RegistryState) -> RegistryState:
    """Without the topics that have neither a manifest nor a schema: a plan does nothing to them."""
    topics = {
        topic: state
        for topic, state in observed.topics.items()
        if topic in desired.topics or state.history.entries
    }
    return replace(observed, topics=topics)


def _left_alone(
    planning: Planning, observed: RegistryState, managed: frozenset[TopicName]
) -> tuple[tuple[TopicName, ...], tuple[NamespaceName, ...]]:
    """The topics that have no manifest, and the namespaces whose topics cannot be listed.

    They are only told, so a registry that does not list them stands in nobody's way. A plan that
    prunes deals with them itself, and who applies a reviewed plan was told before.
    """
    if planning.prune or planning.reviewed:
        return (), ()
    topics: set[TopicName] = set()
    unlisted: list[NamespaceName] = []
    for name in _existing(observed):
        try:
            topics |= _unmanaged(planning.registry.list_topics(name), [name], managed)
        except OutsideError:
            unlisted.append(name)
    return tuple(sorted(topics)), tuple(unlisted)


def _existing(observed: RegistryState) -> list[NamespaceName]:
    return sorted(name for name, state in observed.namespaces.items() if state.exists)


def _unmanaged(
    topics: Iterable[TopicName],
    namespaces: Iterable[NamespaceName],
    managed: frozenset[TopicName],
) -> frozenset[TopicName]:
    """Those in these namespaces whose history no managed topic has, whatever its domain."""
    taken = {(topic.namespace, topic.local_name) for topic in managed}
    inside = set(namespaces)
    return frozenset(
        topic
        for topic in topics
        if topic.namespace in inside and (topic.namespace, topic.local_name) not in taken
    )
