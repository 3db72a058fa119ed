"""A plan: what would be done to a registry, in order, and everything it was decided from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from gitops.model.findings import Finding
from gitops.model.names import NamespaceName, TenantName, TopicName
from gitops.model.policy import BrokerSettings, PolicyChange, SchemaCompatibilityStrategy
from gitops.model.schema import SchemaEntry, SchemaInfo
from gitops.model.state import TenantState
from gitops.model.waivers import WaiverProposal


class ChangeKind(Enum):
    """What happened to a place in a schema; the value is the sign that people read."""

    ADDED = "+"
    REMOVED = "-"
    CHANGED = "~"


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaChange:
    """One difference between two schemas, as a person would say it.

    `path` is dotted field names, `[]` for items, `{}` for values. `ignored`: Pulsar takes both
    for the same schema and stores nothing.
    """

    kind: ChangeKind
    path: str
    before: str = ""
    after: str = ""
    note: str = ""
    ignored: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTenant:
    """The files declare a tenant that the registry has not."""

    state: TenantState

    @property
    def tenant(self) -> TenantName:
        """Its name."""
        return self.state.tenant


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateNamespace:
    """The files have a namespace that the registry has not."""

    namespace: NamespaceName


class Hold(Enum):
    """What an action does to a policy that has another value while a restore goes on."""

    BEGIN = "begin"
    END = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateTopic:
    """The files declare a topic that the registry has not; 0: it has no partitions."""

    topic: TopicName
    partitions: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPolicy:
    """One key of a namespace's or a topic's policies.

    With the name of a `waiver` it loosens a topic for the one schema that the waiver lets in, or
    sets it back after that. With a `hold` it does the same for a restore.
    """

    subject: NamespaceName | TopicName
    change: PolicyChange
    waiver: str = ""
    hold: Hold | None = None

    @property
    def loosens(self) -> bool:
        """Whether its value is for the time of the apply, and is set back after that."""
        strategy = SchemaCompatibilityStrategy.ALWAYS_COMPATIBLE
        opens = bool(self.waiver) and self.change.after is strategy
        return opens or self.hold is Hold.BEGIN

    @property
    def sets_back(self) -> bool:
        """Whether it ends that."""
        return not self.loosens and (bool(self.waiver) or self.hold is Hold.END)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterSchema:
    """A new version: it gets `version`, after `latest_version` (None: the first).

    `findings` are what our own rules say about a change that Pulsar takes, or what the named
    `waiver` lets pass. `accepted` is false where Pulsar would refuse it under `strategy`, so that
    the topic is loosened for it.
    """

    topic: TopicName
    info: SchemaInfo
    version: int
    latest_version: int | None
    strategy: SchemaCompatibilityStrategy
    changes: tuple[SchemaChange, ...] = ()
    findings: tuple[Finding, ...] = ()
    waiver: str = ""
    accepted: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSchema:
    """A topic that the files do not name loses these versions.

    In a restore there are none to lose: the deletion makes the `tombstone` of that number.
    """

    topic: TopicName
    versions: tuple[int, ...]
    tombstone: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedSchema:
    """A schema that is not let in; `findings` say why.

    `accepted`: Pulsar would accept it, and a rule of ours holds it back. `fingerprint` is the one
    that a waiver for it names, `waiver` such a file; None where no waiver can let it pass.
    """

    topic: TopicName
    info: SchemaInfo
    latest_version: int | None
    strategy: SchemaCompatibilityStrategy
    findings: tuple[Finding, ...]
    changes: tuple[SchemaChange, ...] = ()
    accepted: bool = False
    fingerprint: str = ""
    waiver: WaiverProposal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaWithoutEffect:
    """A schema that equals an older version: the broker answers that one and keeps the latest.

    The latest is one that the files had before: they were reverted.
    """

    topic: TopicName
    equal_version: int
    latest_version: int
    changes: tuple[SchemaChange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownVersion:
    """A version of a registry that is in no file of git's history.

    `timestamp` is when the registry stored it, in ms since 1970, None if not known. Who registered
    it is not known: admin REST does not answer that (Pulsar 4.0.7).
    """

    version: int
    timestamp: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaDrift:
    """The files have an older version, and the latest ones are not in git.

    `unknown` are these, the latest last; `changes` lead from the files' schema to the latest.
    `limit` says in a sentence why git's history is not known in full, empty where it is: then
    somebody registered them past git.
    """

    topic: TopicName
    equal_version: int
    unknown: tuple[UnknownVersion, ...]
    changes: tuple[SchemaChange, ...] = ()
    limit: str = ""

    @property
    def latest_version(self) -> int:
        """The number of the latest version."""
        return self.unknown[-1].version


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaSwallowed:
    """Differences from the latest version that Pulsar takes for no difference.

    `findings` are what our own rules say about them, or what the named `waiver` lets pass.
    """

    topic: TopicName
    version: int
    changes: tuple[SchemaChange, ...]
    findings: tuple[Finding, ...] = ()
    waiver: str = ""


Action = CreateTenant | CreateNamespace | CreateTopic | SetPolicy | RegisterSchema | DeleteSchema
"""What is carried out."""

Notice = RefusedSchema | SchemaWithoutEffect | SchemaDrift | SchemaSwallowed
"""What is said and not carried out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Actions in the order in which they are carried out, and notices by topic.

    `files` is the digest of the repository, `observed` the fingerprint of each subject in the
    registry when the plan was made, `expected` the fingerprints that a subject passes through
    while the plan is carried out. Nothing in it depends on the time or on the order of files.

    What is in the registry and not in the files decides nothing: `unmanaged` are topics with a
    schema or policies of their own and no manifest, `without_schema` is the number of other topics
    without one, `unmanaged_namespaces` are those that earlier files managed, and `unlisted` those
    whose topics cannot be listed or read. `limits` are whole sentences on what may be missing.
    `proposals` are waivers that approve more than one refused schema, or a change of many topics.
    `broker` is what the plan was decided by, `latest` the latest version that the registry has of
    each topic of the files. `scope` are the namespaces and topics that it was asked for, empty for
    everything. With `keep_going` an apply skips what has errors.
    """

    registry: str
    address: str
    files: str
    broker: BrokerSettings = field(default_factory=BrokerSettings)
    prune: bool = False
    actions: tuple[Action, ...] = ()
    notices: tuple[Notice, ...] = ()
    findings: tuple[Finding, ...] = ()
    observed: Mapping[str, str] = field(default_factory=dict)
    expected: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    namespaces: int = 0
    topics: int = 0
    unchanged: int = 0
    unmanaged: tuple[TopicName, ...] = ()
    unmanaged_namespaces: tuple[NamespaceName, ...] = ()
    without_schema: int = 0
    unlisted: tuple[NamespaceName, ...] = ()
    limits: tuple[str, ...] = ()
    proposals: tuple[WaiverProposal, ...] = ()
    latest: Mapping[TopicName, SchemaEntry] = field(default_factory=dict)
    scope: tuple[str, ...] = ()
    keep_going: bool = False

    def with_findings(self, of: Callable[[Iterable[Finding]], tuple[Finding, ...]]) -> Plan:
        """The plan with other findings, in its actions and notices too."""
        return replace(
            self,
            actions=tuple(
                replace(action, findings=of(action.findings))
                if isinstance(action, RegisterSchema)
                else action
                for action in self.actions
            ),
            notices=tuple(
                replace(notice, findings=of(notice.findings))
                if isinstance(notice, RefusedSchema | SchemaSwallowed)
                else notice
                for notice in self.notices
            ),
            findings=of(self.findings),
        )
