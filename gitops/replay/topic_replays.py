"""What is replayed of a topic: its live versions, the proposed schema, and who reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from gitops.model.clients import Client, VersionPin
from gitops.model.findings import Finding, Severity
from gitops.model.names import TopicName
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.replay import Direction, ReaderSchema, Sample, TopicReplay
from gitops.model.schema import SchemaHistory, SchemaInfo
from gitops.model.state import Repository
from gitops.planning.fingerprints import is_same
from gitops.planning.plan import PlanInput, strategy_of
from gitops.planning.severities import rate_findings
from gitops.replay.gates import Gate, Gates, Versions, gates_of
from gitops.replay.withheld_samples import known_samples
from gitops.rollout.readers import kind_of

PROPOSED = "proposed"
"""How the schema under review is called as a reader."""

_RESERVED_NAMES: Final = re.compile(rf"{PROPOSED}|v\d+")
"""Readers that are no clients."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A topic with all that is known of it.

    `proposed` is what the files say, None where they do not manage the schema. `captured` are
    versions as a capture of its messages has them, which may be of another registry. `clients` are
    all that the files declare; those of them that are pinned to a version count only where
    `knows_pins`, which is at the default registry.
    """

    topic: TopicName
    history: SchemaHistory
    proposed: SchemaInfo | None
    samples: tuple[Sample, ...]
    strategy: SchemaCompatibilityStrategy
    captured: Mapping[int, SchemaInfo] = field(default_factory=dict)
    clients: tuple[Client, ...] = ()
    knows_pins: bool = True


def subjects_of(
    plan_input: PlanInput,
    repository: Repository,
    topics: Iterable[TopicName],
    base: Repository | None = None,
) -> Iterator[Subject]:
    """What is known of each; `plan_input` says what the registry holds and what the files want.

    One whose definition no registry would take is left out, and so are samples that a change
    against `base` may not name yet.
    """
    for topic in topics:
        desired = plan_input.desired.topics.get(topic)
        latest = desired.history.latest if desired else None
        observed = plan_input.observed.topics.get(topic)
        if observed is not None and not definition_errors(topic, repository):
            yield Subject(
                topic=topic,
                history=observed.history,
                proposed=latest.info if latest else None,
                samples=known_samples(topic, repository, base or repository),
                strategy=strategy_of(plan_input, topic),
                clients=repository.clients,
                knows_pins=plan_input.registry == repository.config.default_registry,
            )


def definition_errors(topic: TopicName, repository: Repository) -> tuple[Finding, ...]:
    """Why a definition is none."""
    findings = rate_findings(repository.topics[topic].findings, repository.config.rules)
    return tuple(finding for finding in findings if finding.severity is Severity.ERROR)


def topic_replay(subject: Subject, gate: Gate = Gate.STRATEGY) -> TopicReplay | None:
    """What is replayed; None where there is neither a sample nor a schema.

    A topic that the registry does not hold yet has the proposed schema as its only version, under
    the number that it would get. Messages of a capture are read with the schemas beside them.
    """
    history = subject.history
    latest = history.latest
    newest = subject.captured[max(subject.captured)] if subject.captured else None
    proposed = subject.proposed or (latest.info if latest else newest)
    if proposed is None or not subject.samples:
        return None
    live = {entry.version: entry.info for entry in history.entries} or dict(subject.captured)
    gates = gates_of(subject.strategy, gate)
    return TopicReplay(
        topic=subject.topic,
        versions={**live, **subject.captured} or {history.next_version: proposed},
        proposed=proposed,
        readers=tuple(_readers(subject, live, proposed, gates)),
        samples=subject.samples,
        strategy=subject.strategy,
    )


def _readers(
    subject: Subject, live: Mapping[int, SchemaInfo], proposed: SchemaInfo, gates: Gates
) -> Iterator[ReaderSchema]:
    yield ReaderSchema(
        name=PROPOSED, direction=Direction.BACKWARD, schema=proposed, gates=gates.backward
    )
    older = {number: info for number, info in live.items() if not is_same(info, proposed)}
    for number, info in sorted(older.items()):
        counts = gates.forward is Versions.ALL or (
            gates.forward is Versions.LATEST and number == max(older)
        )
        yield ReaderSchema(
            name=f"v{number}", direction=Direction.FORWARD, schema=info, gates=counts
        )
    counts = gates.forward is not Versions.NONE
    for name, info in _clients(subject, live, proposed):
        yield ReaderSchema(name=name, direction=Direction.FORWARD, schema=info, gates=counts)


def _clients(
    subject: Subject, live: Mapping[int, SchemaInfo], proposed: SchemaInfo
) -> Iterator[tuple[str, SchemaInfo]]:
    """Each declared consumer with the schemas that it would read such messages with."""
    for client in sorted(subject.clients, key=lambda item: item.name):
        schemas = [info for info in _schemas(client, subject, live) if not is_same(info, proposed)]
        of_kind = [info for info in schemas if kind_of(info) == kind_of(proposed)]
        for number, info in enumerate(_unique(of_kind or schemas), 1):
            name = (
                f"{client.name} (client)" if _RESERVED_NAMES.fullmatch(client.name) else client.name
            )
            yield (name if number == 1 else f"{name} #{number}"), info


def _schemas(
    client: Client, subject: Subject, live: Mapping[int, SchemaInfo]
) -> Iterator[SchemaInfo]:
    for use in client.consumes:
        if use.topic != subject.topic:
            continue
        for schema in use.schemas:
            if isinstance(schema, SchemaInfo):
                yield schema
            elif isinstance(schema, VersionPin) and subject.knows_pins and schema.version in live:
                yield live[schema.version]


def _unique(schemas: Iterable[SchemaInfo]) -> list[SchemaInfo]:
    items: list[SchemaInfo] = []
    for info in schemas:
        if not any(is_same(info, schema) for schema in items):
            items.append(info)
    return items
