"""A schema as manifests write it, whole or as one half of a KEY_VALUE."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from gitops.repository.documents.base import Definition, Document, NonEmpty

HalfType = Literal[
    "AVRO", "JSON", "PROTOBUF", "PROTOBUF_NATIVE", "STRING", "BYTES", "NONE", "BOOLEAN", "INT8",
    "INT16", "INT32", "INT64", "FLOAT", "DOUBLE", "DATE", "TIME", "TIMESTAMP", "INSTANT",
    "LOCAL_DATE", "LOCAL_TIME", "LOCAL_DATE_TIME",
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
