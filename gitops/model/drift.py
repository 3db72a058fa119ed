"""Drift: what a registry has and the files in git do not, and since when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gitops.model.clients import ObservedTopic
from gitops.model.findings import Finding
from gitops.model.names import NamespaceName, TopicName
from gitops.model.plan import SchemaChange
from gitops.model.policy import PolicyValue
from gitops.model.schema import SchemaType


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """The snapshot that a registry is compared with; what git does not know of it is empty.

    `commit` is the last one that changed it, 40 hex digits, `day` is the day of that commit.
    `taken` is when a snapshot last found a change, in UTC as RFC 3339, of clusters alone.
    """

    commit: str = ""
    day: str = ""
    taken: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionOutsideGit:
    """A version that no commit declared; `timestamp` in ms since 1970, None if not known.

    `changes` lead from the version before it, or from the files' definition where it is the first.
    `recorded`: whether the snapshot has it; None where there is no snapshot.
    """

    version: int
    timestamp: int | None = None
    changes: tuple[SchemaChange, ...] = ()
    recorded: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DefinitionAnswer:
    """What the registry would answer to the files' definition now.

    `version` is the number that it answers, `is_new` whether that would be a new one; None where
    it refuses, and `reasons` say why. `consumers` is why it refuses consumers with that
    definition, empty where it accepts them.
    """

    version: int | None
    is_new: bool = False
    reasons: tuple[str, ...] = ()
    consumers: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionDrift:
    """The latest versions of a topic, oldest first, were registered outside git.

    `limit` says in a sentence why commits may be missing; empty where git's history is whole.
    """

    topic: TopicName
    versions: tuple[VersionOutsideGit, ...]
    definition: DefinitionAnswer
    limit: str = ""

    @property
    def subject(self) -> TopicName:
        """Whom it is about."""
        return self.topic


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyDrift:
    """One key of a subject's policies: what the files, the registry and the snapshot have.

    `was_recorded` is false where no snapshot has the subject, so that `recorded` means nothing.
    `lockouts` are about clients that could connect with the value of the files, or of the snapshot
    where the files do not manage the key, and cannot with the registry's.
    """

    subject: NamespaceName | TopicName
    key: str
    files: PolicyValue
    live: PolicyValue
    recorded: PolicyValue = None
    was_recorded: bool = False
    lockouts: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionDrift:
    """A topic has another number of partitions than the files say; 0 is a topic without.

    `recorded` is the snapshot's, None where it has none.
    """

    topic: TopicName
    files: int
    live: int
    recorded: int | None = None

    @property
    def subject(self) -> TopicName:
        """Whom it is about."""
        return self.topic


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaDeletion:
    """The files have a schema, and the registry has it no more.

    `versions` are the recorded ones, empty where only a tombstone shows that there were any.
    `topic_exists` is false where a topic that had been created is gone, too: with it goes the
    number of its next version, which a tombstone keeps also of a topic that has nothing but a
    schema (Pulsar 4.0.7).
    `begins_anew`: an apply gives a number anew that recorded versions had, and that messages may
    still have. `next_version` is the number that it gives. `journal` is the one that has versions
    which the snapshot lacks, empty where none has.
    """

    topic: TopicName
    versions: tuple[int, ...] = ()
    topic_exists: bool = True
    begins_anew: bool = False
    next_version: int = 0
    journal: str = ""

    @property
    def subject(self) -> TopicName:
        """Whom it is about."""
        return self.topic


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionLoss:
    """Recorded versions that the registry has no more, or with another schema; others are there.

    `journal` is as above.
    """

    topic: TopicName
    versions: tuple[int, ...]
    journal: str = ""

    @property
    def subject(self) -> TopicName:
        """Whom it is about."""
        return self.topic


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceDeletion:
    """The files have a namespace that was recorded, and the registry has it no more."""

    namespace: NamespaceName

    @property
    def subject(self) -> NamespaceName:
        """Whom it is about."""
        return self.namespace


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmanagedTopic:
    """A topic with a schema or policies of its own, and no manifest.

    `versions` are the numbers of its versions, `since` the time of the first one in ms since 1970.
    """

    topic: TopicName
    type: SchemaType | None = None
    versions: tuple[int, ...] = ()
    since: int | None = None
    policies: Mapping[str, PolicyValue] = field(default_factory=dict)

    @property
    def subject(self) -> TopicName:
        """Whom it is about."""
        return self.topic


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmanagedNamespace:
    """A namespace that earlier files managed."""

    namespace: NamespaceName

    @property
    def subject(self) -> NamespaceName:
        """Whom it is about."""
        return self.namespace


Drift = (
    VersionDrift
    | PolicyDrift
    | PartitionDrift
    | SchemaDeletion
    | VersionLoss
    | NamespaceDeletion
    | UnmanagedTopic
    | UnmanagedNamespace
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftReport:
    """All drift of one registry, namespaces first, then topics by name.

    `recording` is None where there is no snapshot. `pending` is the number of namespaces and
    topics of which the files have changes that are not applied: no drift. `without_schema` topics
    are in no manifest and have no schema: no drift either. `unread` are topics that the registry
    cannot show, with its answers; `unlisted` are namespaces whose topics cannot be listed.
    `other_namespaces` are in the tenants of the files and were never in the files: another
    repository may manage them, so that they are no drift. Where the files manage nothing they are
    all namespaces, with `other_topics` topics. `limits` are whole sentences on what may
    be missing. `recorded_losses` are versions whose loss somebody accepted, so that they are no
    drift. `new_clients` are connected clients that neither a manifest nor the recorded
    observations have, None where nobody asked for them.
    """

    registry: str
    address: str
    drifts: tuple[Drift, ...] = ()
    recording: Recording | None = None
    namespaces: int = 0
    topics: int = 0
    pending: int = 0
    without_schema: int = 0
    unread: Mapping[TopicName, str] = field(default_factory=dict)
    unlisted: tuple[NamespaceName, ...] = ()
    other_namespaces: tuple[NamespaceName, ...] = ()
    other_topics: int = 0
    limits: tuple[str, ...] = ()
    recorded_losses: Mapping[TopicName, tuple[int, ...]] = field(default_factory=dict)
    new_clients: Mapping[TopicName, ObservedTopic] | None = None
