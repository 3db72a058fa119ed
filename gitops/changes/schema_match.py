"""A schema that comes from elsewhere against a topic: whether it is the file's, or registered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from gitops.broker.lines.line import BrokerLine
from gitops.broker.lines.table import line_of
from gitops.broker.registration import register
from gitops.changes.registries import desired_state, topic_policies
from gitops.model.config import RegistryConfig
from gitops.model.decision import Decision, StoredHistory
from gitops.model.errors import NotThereError, OutsideError
from gitops.model.findings import Finding, Location
from gitops.model.names import TopicName
from gitops.model.plan import SchemaChange
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.schema import SchemaHistory, SchemaInfo
from gitops.model.state import RegistryState, Repository, Scope
from gitops.planning.refusals import DefinitionLocations, findings_of, version_location
from gitops.ports import FileTree, Registry
from gitops.repository.definitions.locations import Locator
from gitops.schemas.diff import schema_changes
from gitops.schemas.payload import PayloadError, stored_history, to_stored, to_stored_type


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicPlace:
    """A topic of a repository and of a registry; the repository may be an empty one."""

    topic: TopicName
    repository: Repository
    tree: FileTree
    registry: Registry
    config: RegistryConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaMatch:
    """What a topic has of a schema.

    `registered` is the latest version of the registry. `file` has the topic's definition, None
    where the repository has no such topic, and `file_version` the version that its definition is,
    or becomes; None where it is refused itself. `decision` is about the schema, as the next
    version after both; `changes` are those to the latest of them, without properties.
    `clients_register`: clients may register schemas.
    """

    topic: TopicName
    line: BrokerLine
    strategy: SchemaCompatibilityStrategy
    decision: Decision
    registered: int | None
    file: str | None
    file_version: int | None
    changes: tuple[SchemaChange, ...]
    findings: tuple[Finding, ...]
    clients_register: bool = True

    @property
    def is_kept_out(self) -> bool:
        """Whether a client with it is refused, though Pulsar would accept the schema itself."""
        return self.decision.accepted and not self.is_registered and not self.clients_register

    @property
    def is_new(self) -> bool:
        """Whether neither the file nor the registry has it, and Pulsar would accept it."""
        return self.decision.accepted and not self.decision.known

    @property
    def is_registered(self) -> bool:
        """Whether the registry has it: the file's version may be one that `apply` registers."""
        latest = -1 if self.registered is None else self.registered
        return self.decision.known and (self.decision.version or 0) <= latest


def match_schema(
    info: SchemaInfo, locate: Callable[[str], Location], place: TopicPlace
) -> SchemaMatch:
    """Compare; raises NotThereError for an unknown topic, OutsideError.

    The file's definition counts as the next version where the registry has not got it yet.
    """
    topic = place.topic
    scope = Scope(namespaces=frozenset({topic.namespace}), topics=frozenset({topic}))
    observed = place.registry.observe(scope)
    wanted = desired_state(place.repository, place.config)
    history = observed.topics[topic].history
    file = _file_schema(place, wanted)
    if file is None and history.latest is None:
        raise NotThereError(
            f"{topic} has no schema, neither in the files nor in {place.registry.name}",
            where=place.registry.address,
            hint="--topic is tenant/namespace/topic",
        )
    line = line_of(place.registry.broker)
    policies = topic_policies(topic, observed, wanted, place.registry.broker)
    strategy = policies.strategy
    stored = _stored(history, place)
    known, file_version = _with_file(stored, file, strategy, line)
    decision = register(known, info, strategy, line)
    return SchemaMatch(
        topic=topic,
        line=line,
        strategy=strategy,
        decision=decision,
        registered=history.latest.version if history.latest else None,
        file=_file_name(place) if file else None,
        file_version=file_version,
        changes=() if decision.known else _changes(_latest(history, file), info),
        findings=_findings(decision, locate, place, file_version),
        clients_register=policies.allows_auto_update,
    )


def _file_schema(place: TopicPlace, wanted: RegistryState) -> SchemaInfo | None:
    declared = wanted.topics.get(place.topic)
    entry = declared.history.latest if declared else None
    return entry.info if entry else None


def _file_name(place: TopicPlace) -> str:
    source = place.repository.topics[place.topic]
    return next(iter(source.definitions), source.manifest.file)


def _latest(history: SchemaHistory, file: SchemaInfo | None) -> SchemaInfo | None:
    return file or (history.latest.info if history.latest else None)


def _changes(before: SchemaInfo | None, info: SchemaInfo) -> tuple[SchemaChange, ...]:
    if before is None:
        return ()
    return schema_changes(before, replace(info, properties=before.properties))


def _stored(history: SchemaHistory, place: TopicPlace) -> StoredHistory:
    try:
        return stored_history(history)
    except PayloadError as error:
        raise OutsideError(
            f"the registry contains a schema that cannot be read: {error}",
            where=place.registry.address,
        ) from None


def _with_file(
    stored: StoredHistory,
    file: SchemaInfo | None,
    strategy: SchemaCompatibilityStrategy,
    line: BrokerLine,
) -> tuple[StoredHistory, int | None]:
    """The history once the file is registered, and the file's version; None if it is refused."""
    if file is None:
        return stored, None
    decision = register(stored, file, strategy, line)
    version = decision.version
    if not decision.accepted or decision.known or version is None:
        return stored, version
    entry = version, to_stored_type(to_stored(file))
    after = replace(stored, entries=(*stored.entries, entry), next_version=version + 1)
    return after, version


def _findings(
    decision: Decision,
    locate: Callable[[str], Location],
    place: TopicPlace,
    file_version: int | None,
) -> tuple[Finding, ...]:
    if decision.accepted:
        return ()
    in_file = partial(Locator(place.tree, place.repository.topics).locate, place.topic)

    def old(version: str, pointer: str) -> Location | None:
        return (
            in_file(pointer)
            if version == f"v{file_version}"
            else version_location(version, pointer)
        )

    return findings_of(str(place.topic), decision, DefinitionLocations(new=locate, old=old))
