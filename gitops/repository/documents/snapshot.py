"""Files under `snapshots/`: what a registry held of one topic or namespace."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from gitops.model.schema import SchemaEntry, SchemaHistory, SchemaInfo, SchemaType
from gitops.repository.documents.base import ApiVersion, Document, NamespaceText, TopicText
from gitops.repository.documents.namespace import NamespacePoliciesDocument
from gitops.repository.documents.topic import TopicPoliciesDocument


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


class TopicSnapshot(Document):
    """All live versions of a topic, and the number that the next one gets."""

    api_version: ApiVersion
    kind: Literal["TopicSnapshot"]
    topic: TopicText
    next_version: int = Field(ge=0)
    policies: TopicPoliciesDocument | None = None
    versions: tuple[SnapshotVersion, ...] = Field(strict=False)

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
