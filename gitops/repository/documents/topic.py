"""`<topic>.yaml`: one topic."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gitops.model.policy import TopicPolicies
from gitops.model.samples import LogicalTypes
from gitops.repository.documents.base import ApiVersion, Document, NonEmpty, Number, Strategy
from gitops.repository.documents.schema import SchemaDocument


class TopicPoliciesDocument(Document):
    """Schema policies of the topic alone; a key that is absent is not managed."""

    schema_compatibility_strategy: Strategy | None = None
    schema_validation_enforced: bool | None = None

    def policies(self) -> TopicPolicies:
        """The same as a value of the model."""
        return TopicPolicies(
            schema_compatibility_strategy=self.schema_compatibility_strategy,
            schema_validation_enforced=self.schema_validation_enforced,
        )


class ColumnsDocument(Document):
    """Other names of a table's columns."""

    topic: NonEmpty | None = None
    schema_version: NonEmpty | None = Field(default=None, alias="schema_version")
    payload: NonEmpty | None = None


class SampleDocument(Document):
    """Sample data of the topic."""

    format: Literal["avro", "json", "parquet", "orc", "table", "raw", "capture"]
    path: NonEmpty = Field(description="A path relative to this file, a glob, or a URI.")
    columns: ColumnsDocument | None = Field(
        default=None, description="Only with parquet, orc and table."
    )
    version: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="The schema version of every message, if the data does not say."
    )
    sensitive: list[NonEmpty] = Field(
        default_factory=list, description="Fields whose values no report shows."
    )
    max_failures: Annotated[Number, Field(ge=0)] = Field(
        default=0, description="A count, or with a point a share of the rows from 0.0 to 1.0."
    )
    logical_types: LogicalTypes = Field(
        default="java",
        description="How values of logical types are read: into Java's classes, or not at all.",
    )


class TopicDocument(Document):
    """A topic: its schema, its own policies, its samples."""

    api_version: ApiVersion
    kind: Literal["Topic"]
    topic: NonEmpty | None = Field(
        default=None,
        description="The topic's name where the file's name cannot say it, or with its domain.",
    )
    schema_: SchemaDocument | None = Field(
        default=None, alias="schema", description="Absent: the topic's schema is not managed."
    )
    policies: TopicPoliciesDocument = Field(default_factory=TopicPoliciesDocument)
    samples: list[SampleDocument] = Field(default_factory=list)
