"""An audit of a registry: namespace by namespace, in chunks of topics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from gitops.audit.audit import Audit, AuditSettings
from gitops.broker.lines.table import line_of
from gitops.model.audit import AuditReport
from gitops.model.broker_settings import named_broker
from gitops.model.errors import RegistryRefusedError
from gitops.model.findings import Severity
from gitops.model.names import NamespaceName, TopicName
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.rules import apply_severities
from gitops.model.state import Scope
from gitops.planning.broker_document import conflict_findings, doubt_findings
from gitops.ports import Progress, Registry, no_progress

_CHUNK: Final = 200
"""How many topics are in memory at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """Releases and a strategy to judge by; empty or None where nobody asks.

    `broker` takes the place of the registry's own release. `topics` are looked at as well: a broker
    does not list a topic that has a schema and was never created (Pulsar 4.0.7).
    """

    broker: str = ""
    as_if_broker: str = ""
    as_if_strategy: SchemaCompatibilityStrategy | None = None
    severities: Mapping[str, Severity] = field(default_factory=dict)
    topics: frozenset[TopicName] = frozenset()


def audit(
    registry: Registry, request: AuditRequest, progress: Progress = no_progress
) -> AuditReport:
    """Judge all that a registry contains; raises UnknownBrokerError and OutsideError."""
    settings = _settings(registry, request)
    found = Audit(settings)
    namespaces = registry.list_namespaces()
    for count, name in enumerate(namespaces):
        progress("auditing namespaces", count, len(namespaces))
        _audit_namespace(registry, found, name, request.topics)
    report = found.report()
    doubts = (*conflict_findings(settings.broker), *doubt_findings(settings.broker))
    findings = apply_severities((*report.findings, *doubts), request.severities)
    return replace(report, findings=findings)


def _settings(registry: Registry, request: AuditRequest) -> AuditSettings:
    broker = registry.broker
    if request.broker:
        broker = named_broker(broker, request.broker)
    wanted = request.as_if_broker
    return AuditSettings(
        registry=registry.name,
        address=registry.address,
        broker=broker,
        line=line_of(broker, "--broker"),
        # The settings of broker.conf stay as they are on the target line.
        target=line_of(replace(broker, release=wanted)) if wanted else None,
        strategy=request.as_if_strategy,
    )


def _audit_namespace(
    registry: Registry, found: Audit, name: NamespaceName, known: frozenset[TopicName]
) -> None:
    state = registry.observe(Scope(namespaces=frozenset({name}))).namespaces[name]
    its = found.namespace(state)
    try:
        listed = frozenset(registry.list_topics(name))
    except RegistryRefusedError as error:
        found.skip(f"{name}: its topics could not be listed: {error.what}")
        return
    known = frozenset(topic for topic in known if topic.namespace == name)
    for chunk in _chunks(sorted(listed | known)):
        observed = registry.observe(Scope(topics=frozenset(chunk)))
        states = (observed.topics[topic] for topic in chunk)
        found.add(its, (one for one in states if one.topic in listed or one.history.entries))
    found.end(its)


def _chunks(topics: Sequence[TopicName]) -> Iterator[Sequence[TopicName]]:
    for start in range(0, len(topics), _CHUNK):
        yield topics[start : start + _CHUNK]
