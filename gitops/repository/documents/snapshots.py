"""The kinds of file under `snapshots/`: a registry's topics, namespaces and brokers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gitops.model.schema import AcceptedLoss, SchemaEntry, SchemaHistory, SchemaInfo, SchemaType
from gitops.repository.documents.base import (
    ApiVersion,
    Document,
    NamespaceText,
    Strategy,
    TopicText,
)
from gitops.repository.documents.manifests import (
    NamespacePoliciesDocument,
    StorableType,
    TopicPoliciesDocument,
)


class SnapshotVersion(Document):
    """One stored version; `timestamp` in ms since 1970."""

    version: int = Field(ge=0)
    type: SchemaType = Field(strict=False)
    timestamp: int | None = None
    schema_: str = Field(alias="schema")
    properties: dict[str, str] = Field(default_factory=dict)

    def entry(self) -> SchemaEntry:
        """The version as a value of the model."""
        info = SchemaInfo(type=self.type, schema=self.schema_, properties=self.properties)
        return SchemaEntry(version=self.version, info=info, timestamp=self.timestamp)


class AcceptedLossDocument(Document):
    """Versions that the registry lost, written by `snapshot --accept-loss`."""

    accepted: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")]
    versions: tuple[SnapshotVersion, ...] = Field(strict=False)

    def loss(self) -> AcceptedLoss:
        """The loss as a value of the model."""
        versions = tuple(version.entry() for version in self.versions)
        return AcceptedLoss(accepted=self.accepted, versions=versions)


class TopicSnapshot(Document):
    """All live versions of a topic, and the number that the next one gets.

    `partitions` is 0 for a topic that has none, and absent where no such topic existed.
    """

    api_version: ApiVersion
    kind: Literal["TopicSnapshot"]
    topic: TopicText
    partitions: Annotated[int, Field(ge=0)] | None = None
    next_version: int = Field(ge=0)
    policies: TopicPoliciesDocument | None = None
    versions: tuple[SnapshotVersion, ...] = Field(strict=False)
    accepted_loss: AcceptedLossDocument | None = None

    def history(self) -> SchemaHistory:
        """The versions as a value of the model."""
        entries = tuple(version.entry() for version in self.versions)
        return SchemaHistory(entries=entries, next_version=self.next_version)


class NamespaceSnapshot(Document):
    """The policies of a namespace."""

    api_version: ApiVersion
    kind: Literal["NamespaceSnapshot"]
    namespace: NamespaceText
    policies: NamespacePoliciesDocument


Release = Annotated[str, Field(pattern=r"^\d{1,9}\.\d{1,9}[\w.+-]{0,60}$")]


Moment = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]


class BrokerSnapshot(Document):
    """The release of a cluster's brokers and what their broker.conf says; absent: not known.

    `release_at_least` is what a test showed of a release that was hidden.
    `recorded` is when a snapshot last found anything in the cluster that was not recorded, in UTC.
    """

    api_version: ApiVersion
    kind: Literal["BrokerSnapshot"]
    recorded: Moment | None = None
    release: Release | None = None
    release_at_least: Release | None = None
    schema_compatibility_strategy: Strategy | None = None
    is_allow_auto_update_schema_enabled: bool | None = None
    is_schema_validation_enforced: bool | None = None
    schema_json_allow_legacy_jackson_format: bool | None = None
    system_topic_schema_compatibility_strategy: Strategy | None = None
    types_without_checker: tuple[StorableType, ...] = ()
    other_releases: tuple[Release, ...] = ()


ClientText = Annotated[str, Field(max_length=200)]
"""What a client calls itself, and what it is called: others choose both."""


class ProducerSnapshot(Document):
    """A connected producer; no name where the broker made it."""

    name: ClientText = ""
    client: ClientText = ""


class SubscriptionSnapshot(Document):
    """A subscription, and the libraries of its connected consumers."""

    name: ClientText
    type: Literal["", "Exclusive", "Shared", "Failover", "Key_Shared"] = ""
    durable: bool = True
    clients: tuple[ClientText, ...] = Field(default=(), strict=False)
    backlog_at_least: Literal[0, 1, 1_000, 1_000_000] = 0


class CapturedMessagesSnapshot(Document):
    """How many messages of a schema version a capture had."""

    version: int = Field(ge=0)
    messages: int = Field(ge=1)


class TopicClientsSnapshot(Document):
    """The clients of a topic; `left_out` counts those that were too many or named too long."""

    topic: TopicText
    producers: tuple[ProducerSnapshot, ...] = Field(default=(), strict=False)
    subscriptions: tuple[SubscriptionSnapshot, ...] = Field(default=(), strict=False)
    left_out: int = Field(default=0, ge=0)
    captured: tuple[CapturedMessagesSnapshot, ...] = Field(default=(), strict=False)


class ClientsSnapshot(Document):
    """Who was connected to a registry's topics; `unread` are those that show no statistics."""

    api_version: ApiVersion
    kind: Literal["ClientsSnapshot"]
    topics: tuple[TopicClientsSnapshot, ...] = Field(strict=False)
    unread: tuple[TopicText, ...] = Field(default=(), strict=False)
