"""An audit of a registry: namespace by namespace, in chunks of topics."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Final

from gitops.audit.audit import Audit, AuditSettings
from gitops.audit.health import inactive_topic_findings
from gitops.audit.namespace import NamespaceAudit
from gitops.audit.steps import releases_hint
from gitops.broker.lines.line import BrokerLine
from gitops.broker.lines.table import line_of
from gitops.changes.short_lived_topics import short_lived_topics
from gitops.interrupts import read_ahead
from gitops.model.audit import AuditReport
from gitops.model.broker_settings import as_if_broker, named_broker
from gitops.model.errors import NotThereError, OutsideError, RegistryRefusedError, UsageError
from gitops.model.findings import Severity
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import BrokerSettings, SchemaCompatibilityStrategy
from gitops.model.rules import apply_severities
from gitops.model.state import NamespaceState, Scope, TopicState
from gitops.planning.broker_document import conflict_findings, doubt_findings
from gitops.planning.rolling_upgrade import other_answers
from gitops.ports import Progress, Registry, UnreadableTopicsError, no_progress

MEASURES: Final = tuple(
    strategy
    for strategy in SchemaCompatibilityStrategy
    if strategy is not SchemaCompatibilityStrategy.UNDEFINED
)
"""The strategies by which something can be judged."""
_CHUNK: Final = 200
"""How many topics are in memory at a time."""
_RIGHTS: Final = "give the role the administration of the tenant, see docs/reference/rights.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """Releases and a strategy to judge by; None where nobody asks.

    `broker` takes the place of the registry's own release. `topics` are looked at as well: a broker
    does not list a topic that has a schema and was never created (Pulsar 4.0.7). `unlisted` says
    so where it is the case. Without `namespaces` all are looked at, which needs a superuser role.
    """

    broker: str | None = None
    as_if_broker: str | None = None
    as_if_strategy: SchemaCompatibilityStrategy | None = None
    severities: Mapping[str, Severity] = field(default_factory=dict)
    topics: frozenset[TopicName] = frozenset()
    namespaces: tuple[NamespaceName, ...] = ()
    unlisted: str = ""


def audit(
    registry: Registry, request: AuditRequest, progress: Progress = no_progress
) -> AuditReport:
    """Judge all that a registry contains.

    Raises UnknownBrokerError, UsageError for a strategy by which nothing can be judged,
    NotThereError and OutsideError.
    """
    if request.as_if_strategy and request.as_if_strategy not in MEASURES:
        raise UsageError(
            "UNDEFINED is no strategy to judge by: where it is set, the next level decides",
            hint="name another one; without --as-if-strategy the strategy in force is the measure",
        )
    namespaces = tuple(sorted(set(request.namespaces))) or registry.list_namespaces()
    audit_result = Audit(_settings(registry, request))
    parts = (
        (count, part)
        for count, name in enumerate(namespaces)
        for part in _parts(registry, name, request)
    )
    namespace_audit: NamespaceAudit | None = None
    looked_at, refused = False, ""
    registered: list[TopicName] = []
    for count, part in read_ahead(parts):
        progress("auditing namespaces", count, len(namespaces))
        looked_at = looked_at or part.namespace is not None
        for limit in part.limits:
            refused = refused or limit
            audit_result.skip(limit)
        audit_result.add_unread(part.unread)
        if part.namespace is None:
            continue
        namespace_audit = namespace_audit or audit_result.namespace(*part.namespace)
        audit_result.add(namespace_audit, _in_turn(part.topics))
        registered += (state.topic for state in part.topics if state.history.entries)
        if part.last:
            audit_result.end(namespace_audit)
            namespace_audit = None
    if refused and not looked_at:  # no answer about anything is no good answer
        raise OutsideError(f"nothing can be read: {refused}", where=registry.address, hint=_RIGHTS)
    report = audit_result.report(request.severities)
    hints = {"release": releases_hint(report)}
    of_brokers = (
        *conflict_findings(report.broker),
        *doubt_findings(report.broker, hints),
        *inactive_topic_findings(report.broker, short_lived_topics(registry, registered)),
    )
    findings = (*report.findings, *apply_severities(of_brokers, request.severities))
    return replace(report, findings=findings, unlisted=request.unlisted)


def _in_turn(topics: Iterable[TopicState]) -> Iterator[TopicState]:
    """The topics, with a turn for the threads that read between two of them.

    Without it each of them waits 5 ms for every part of an answer: so long Python lets one thread
    compute.
    """
    for topic in topics:
        time.sleep(0)
        yield topic


def _settings(registry: Registry, request: AuditRequest) -> AuditSettings:
    broker = registry.broker
    if request.broker is not None:
        broker = named_broker(broker, request.broker)
    line = line_of(broker, "--broker")
    other_broker_lines = () if request.broker is not None else _other_lines(broker, line)
    return AuditSettings(
        registry=registry.name,
        address=registry.address,
        broker=broker,
        line=line,
        target=_target(broker, other_broker_lines, request),
        strategy=request.as_if_strategy,
        others=other_broker_lines,
    )


def _other_lines(broker: BrokerSettings, present: BrokerLine) -> tuple[BrokerLine, ...]:
    """The lines of the cluster's other brokers that answer otherwise, each once."""
    lines = {line.name: line for _, line in other_answers(broker, line_of)}
    return tuple(line for line in lines.values() if line.rules != present.rules)


def _target(
    broker: BrokerSettings, other_broker_lines: Sequence[BrokerLine], request: AuditRequest
) -> BrokerLine | None:
    """What is asked for, else the newest line in the cluster where nobody names the present one.

    The settings of broker.conf stay as they are on the target line.
    """
    if request.as_if_broker is not None:
        return line_of(as_if_broker(broker, request.as_if_broker))
    return other_broker_lines[-1] if other_broker_lines else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Topics of one namespace; it is the namespace's `last` part, or more follow.

    The settings are those that are known once the namespace was asked: one that leaves a value to
    the broker shows it itself.
    """

    namespace: tuple[NamespaceState, AuditSettings] | None = None
    topics: Sequence[TopicState] = ()
    last: bool = True
    limits: tuple[str, ...] = ()
    unread: Mapping[TopicName, str] = field(default_factory=dict)


def _parts(registry: Registry, name: NamespaceName, request: AuditRequest) -> Iterator[_Part]:
    """What the role may not read is a limit, and the audit goes on without it."""
    try:
        state = registry.observe(Scope(namespaces=frozenset({name}))).namespaces[name]
        listed = frozenset(registry.list_topics(name)) if state.exists else frozenset()
    except RegistryRefusedError as error:
        yield _Part(limits=(f"{name}: its policies or its list of topics: {_refused(error)}",))
        return
    if not state.exists:
        if name in request.namespaces:
            raise NotThereError(f"there is no namespace '{name}'", where=registry.address)
        return  # deleted since all were listed
    namespace = (state, _settings(registry, request))
    known = frozenset(topic for topic in request.topics if topic.namespace == name)
    topics = sorted(listed | known)
    refused: list[str] = []
    unread: dict[TopicName, str] = {}
    for start in range(0, len(topics), _CHUNK):
        read = _readable(registry, topics[start : start + _CHUNK], refused, unread)
        states = tuple(item for item in read if item.topic in listed or item.history.entries)
        yield _Part(namespace=namespace, topics=states, last=False)
    count = f"{len(refused):,} of {len(topics):,} topics"
    limits = (f"{name}: {count}: {refused[0]}",) if refused else ()
    yield _Part(namespace=namespace, limits=limits, unread=unread)


def _readable(
    registry: Registry,
    topics: Sequence[TopicName],
    refused: list[str],
    unread: dict[TopicName, str],
) -> Iterator[TopicState]:
    """The topics that the role may read; for each other one its reason in `refused`.

    The broker's answers for those on which it fails are in `unread`.
    """
    try:
        observed = registry.observe(Scope(topics=frozenset(topics)))
    except UnreadableTopicsError as error:
        observed = error.state
        unread |= error.reasons
    except RegistryRefusedError as error:
        reason = _refused(error)
        half = len(topics) // 2
        if half:
            for part in (topics[:half], topics[half:]):
                yield from _readable(registry, part, refused, unread)
        else:
            refused.append(reason)
        return
    yield from (observed.topics[topic] for topic in topics if topic in observed.topics)


def _refused(error: RegistryRefusedError) -> str:
    """Why; raises it again where nothing else will be answered either."""
    if error.status == HTTPStatus.UNAUTHORIZED:
        raise error
    return error.what
