"""The kinds of manifest: schemas, namespaces, topics, clients, waivers."""

from __future__ import annotations

import datetime
import posixpath
import re
from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, WithJsonSchema, model_validator

from gitops.model.names import TenantName
from gitops.model.policy import NamespacePolicies, TopicPolicies
from gitops.model.replay import LogicalTypes
from gitops.model.sample_formats import SampleFormat
from gitops.model.state import TenantState
from gitops.repository.documents.base import (
    ApiVersion,
    Definition,
    Document,
    LegacyStrategy,
    NamespaceText,
    NonEmpty,
    Number,
    Strategy,
    TopicText,
    problem,
)

# A schema as manifests write it, whole or as one half of a KEY_VALUE.

HalfType = Literal[
    "AVRO", "JSON", "PROTOBUF", "PROTOBUF_NATIVE", "STRING", "BYTES", "NONE", "BOOLEAN", "INT8",
    "INT16", "INT32", "INT64", "FLOAT", "DOUBLE", "DATE", "TIME", "TIMESTAMP", "INSTANT",
    "LOCAL_DATE", "LOCAL_TIME", "LOCAL_DATE_TIME", "EXTERNAL",
]  # fmt: skip
"""What a half of a KEY_VALUE may be: everything but another KEY_VALUE."""

StorableType = Literal[HalfType, "KEY_VALUE"]
"""Every SchemaType that a registry stores."""


class _Described(Document):
    definition: Definition = None
    message: NonEmpty | None = Field(
        default=None, description="PROTOBUF_NATIVE with a .proto file: the root message's name."
    )
    properties: dict[str, str] = Field(
        default_factory=dict, description="The schema's properties, text to text."
    )


class HalfDocument(_Described):
    """The key or the value of a KEY_VALUE."""

    type: HalfType
    name: str | None = Field(
        default=None, description="The half's name, where it is not the one Java's client gives."
    )


class _Schema(_Described):
    encoding: Literal["INLINE", "SEPARATED"] | None = Field(
        default=None, description="KEY_VALUE: whether the key is in the payload or beside it."
    )
    key: HalfDocument | None = None
    value: HalfDocument | None = None


class SchemaDocument(_Schema):
    """A topic's schema."""

    type: StorableType


class ClientSchemaDocument(_Schema):
    """A client's schema: a version of the default registry, or the schema itself."""

    version: Annotated[int, Field(ge=0)] | None = None
    type: StorableType | None = None


# `namespace.yaml`: a namespace's schema policies.


class NamespacePoliciesDocument(Document):
    """Schema policies; a key that is absent is not managed."""

    schema_compatibility_strategy: Strategy | None = Field(
        default=None, description="Which changes of a schema the brokers accept."
    )
    is_allow_auto_update_schema: bool | None = Field(
        default=None, description="Whether producers may register new schemas by connecting."
    )
    schema_validation_enforced: bool | None = Field(
        default=None, description="Whether producers without a schema are refused."
    )
    schema_auto_update_compatibility_strategy: LegacyStrategy | None = Field(
        default=None,
        description="The older setting, which is used where the strategy is UNDEFINED.",
    )

    def policies(self) -> NamespacePolicies:
        """The same as a value of the model."""
        return NamespacePolicies(
            schema_compatibility_strategy=self.schema_compatibility_strategy,
            is_allow_auto_update_schema=self.is_allow_auto_update_schema,
            schema_validation_enforced=self.schema_validation_enforced,
            schema_auto_update_compatibility_strategy=self.schema_auto_update_compatibility_strategy,
        )


class NamespaceDocument(NamespacePoliciesDocument):
    """A namespace and its schema policies."""

    api_version: ApiVersion
    kind: Literal["Namespace"]
    namespace: NamespaceText = Field(description="tenant/namespace, as in the folders' names.")

    @classmethod
    def values_by_path(cls, path: str, /) -> Mapping[str, str]:
        """The namespace that the folders imply."""
        return {"namespace": "/".join(path.split("/")[-3:-1])}


# `tenant.yaml`: a tenant that apply creates where a registry has none.


class TenantDocument(Document):
    """A tenant: the clusters that it may use, and who administers it."""

    api_version: ApiVersion
    kind: Literal["Tenant"]
    tenant: NonEmpty = Field(description="The tenant, as in the folder's name.")
    allowed_clusters: Annotated[list[NonEmpty], Field(min_length=1)] | None = Field(
        default=None, description="The clusters that it may use; absent: all that there are."
    )
    admin_roles: list[NonEmpty] | None = Field(
        default=None, description="The roles that administer it; absent: none are given to it."
    )

    @classmethod
    def values_by_path(cls, path: str, /) -> Mapping[str, str]:
        """The tenant that the folder implies."""
        return {"tenant": path.split("/")[-2]}

    def state(self, tenant: TenantName) -> TenantState:
        """The same as a value of the model."""
        clusters, roles = self.allowed_clusters, self.admin_roles
        return TenantState(
            tenant=tenant,
            allowed_clusters=None if clusters is None else frozenset(clusters),
            admin_roles=None if roles is None else frozenset(roles),
        )


# `<topic>.yaml`: one topic.


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

    format: SampleFormat
    path: NonEmpty = Field(description="A path relative to this file, a glob, or a URI.")
    columns: ColumnsDocument | None = Field(
        default=None, description="Only with parquet, orc and table."
    )
    version: Annotated[int, Field(ge=0)] | None = Field(
        default=None,
        description="The schema version of every message, if the data does not contain it.",
    )
    sensitive: list[NonEmpty] = Field(
        default_factory=list, description="Fields whose values no report shows."
    )
    max_failures: Annotated[Number, Field(ge=0)] = Field(
        default=0, description="A count, or with a point a share of the messages from 0.0 to 1.0."
    )
    logical_types: LogicalTypes = Field(
        default="java",
        description="How values of logical types are read: into Java's classes, or not at all.",
    )


MOST_PARTITIONS: Final = 10_000
"""More are a typing error, and a broker that is asked for them has to make a ledger for each."""


class TopicDocument(Document):
    """A topic: its schema, its own policies, its samples."""

    api_version: ApiVersion
    kind: Literal["Topic"]
    topic: NonEmpty | None = Field(
        default=None,
        description="The topic's name where the file's name cannot be it, or with its domain.",
    )
    schema_: SchemaDocument | None = Field(
        default=None, alias="schema", description="Absent: the topic's schema is not managed."
    )
    partitions: Annotated[int, Field(ge=1, le=MOST_PARTITIONS)] | None = Field(
        default=None, description="apply creates the topic with so many partitions."
    )
    create: bool = Field(
        default=False, description="Whether apply creates the topic, without partitions."
    )
    policies: TopicPoliciesDocument = Field(default_factory=TopicPoliciesDocument)
    samples: list[SampleDocument] = Field(default_factory=list)


# `clients/<service>.yaml`: what a service consumes and produces.


Schemaless = Literal["AUTO_CONSUME", "AUTO_PRODUCE", "NONE"]
Language = Literal["java", "python", "go", "node", "cpp", "dotnet", "dotpulsar"]


def _form_of_one(value: object) -> str:
    return "\0word" if isinstance(value, str) else "\0schema"


def _form(value: object) -> str:
    return "\0several" if isinstance(value, list) else "\0one"


OneSchema = Annotated[
    Annotated[Schemaless, Tag("\0word")] | Annotated[ClientSchemaDocument, Tag("\0schema")],
    Discriminator(_form_of_one),
]
Schemas = Annotated[
    Annotated[OneSchema, Tag("\0one")]
    | Annotated[list[OneSchema], Field(min_length=1), Tag("\0several")],
    Discriminator(_form),
]


class ConsumesDocument(Document):
    """A subscription."""

    topic: TopicText
    subscription: NonEmpty
    schema_: Schemas = Field(alias="schema")


class ProducesDocument(Document):
    """A topic that the service writes."""

    topic: TopicText
    schema_: Schemas = Field(alias="schema", description="One schema, or a list of them.")


class ClientDocument(Document):
    """A service: who owns it, what it consumes and produces."""

    api_version: ApiVersion
    kind: Literal["Client"]
    name: NonEmpty
    owner: NonEmpty
    language: Language | None = Field(
        default=None,
        description="The client library: those that are not Java's decode differently. `dotnet` "
        "is Pulsar.Client.",
    )
    consumes: list[ConsumesDocument] = Field(default_factory=list)
    produces: list[ProducesDocument] = Field(default_factory=list)

    @classmethod
    def values_by_path(cls, path: str, /) -> Mapping[str, str]:
        """The name that the file has."""
        return {"name": posixpath.basename(path).removesuffix(".yaml")}


# `waivers/<name>.yaml`: an approved exception.


_HEX: Final = re.compile(r"[0-9a-f]{32}")


def _fingerprint(text: str) -> str:
    if not _HEX.fullmatch(text):
        raise problem(
            "REPO-R012",
            f"'{text[:80]}' is not a fingerprint",
            "copy the one that the refusal shows: 32 hex digits",
        )
    return text


def _day(text: str) -> str:
    try:
        datetime.date.fromisoformat(text)
    except ValueError as error:
        raise problem(
            "REPO-R012", f"'{text[:80]}' is not a day", "write it as 2026-12-31"
        ) from error
    return text


Fingerprint = Annotated[
    str,
    AfterValidator(_fingerprint),
    WithJsonSchema({"type": "string", "pattern": "^[0-9a-f]{32}$"}),
]
Day = Annotated[str, AfterValidator(_day), WithJsonSchema({"type": "string", "format": "date"})]


class LimitWaiverDocument(Document):
    """Lets one change of many topics pass the limit until a day."""

    api_version: ApiVersion
    kind: Literal["LimitWaiver"]
    limit: Literal["maxChangedShare"]
    topics: Annotated[dict[TopicText, Fingerprint], Field(min_length=1)] = Field(
        description="The topics that do not count, each with the fingerprint of its new schema."
    )
    reason: NonEmpty
    approved_by: NonEmpty
    expires: Day = Field(description="The last day, in UTC, on which the waiver is valid.")


class WaiverDocument(Document):
    """Approves one change until a day: of a topic's schema, or for a namespace's clients."""

    api_version: ApiVersion
    kind: Literal["Waiver"]
    topic: TopicText | None = Field(
        default=None, description="Whose refused schema may be registered."
    )
    namespace: NamespaceText | None = Field(
        default=None, description="tenant/namespace whose clients may be locked out."
    )
    fingerprint: Fingerprint = Field(
        description="Of exactly one candidate schema, or one lockout, against one set of versions."
    )
    locked_out: list[NonEmpty] = Field(
        default_factory=list,
        description="Declared clients that the topic's schema may lock out, by name.",
    )
    reason: NonEmpty
    approved_by: NonEmpty
    expires: Day = Field(description="The last day, in UTC, on which the waiver is valid.")

    @model_validator(mode="after")
    def _one_subject(self) -> WaiverDocument:
        if (self.topic is None) == (self.namespace is None):
            raise problem("REPO-R005", "{name} needs exactly one of topic, namespace")
        if self.namespace is not None and self.locked_out:
            raise problem(
                "REPO-R005",
                "lockedOut is for a topic",
                "remove it: the fingerprint of a namespace's waiver covers the clients",
            )
        return self
