"""`clients/<service>.yaml`: what a service consumes and produces."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from gitops.repository.documents.base import ApiVersion, Document, NonEmpty, TopicText
from gitops.repository.documents.schema import ClientSchemaDocument

Schemaless = Literal["AUTO_CONSUME", "AUTO_PRODUCE", "NONE"]


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
    consumes: list[ConsumesDocument] = Field(default_factory=list)
    produces: list[ProducesDocument] = Field(default_factory=list)

    @classmethod
    def values_by_path(cls, path: str, /) -> Mapping[str, str]:
        """The name that the file has."""
        return {"name": posixpath.basename(path).removesuffix(".yaml")}
