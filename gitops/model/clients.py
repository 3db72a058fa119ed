"""What services declare: what they produce and consume, with which schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gitops.model.findings import Location
from gitops.model.names import TopicName
from gitops.model.schema import SchemaInfo

SchemalessClient = Literal["AUTO_CONSUME", "AUTO_PRODUCE", "NONE"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionPin:
    """The schema that the default registry holds under this version."""

    version: int


ClientSchema = VersionPin | SchemaInfo | SchemalessClient


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumes:
    """A subscription and the reader's schemas."""

    topic: TopicName
    subscription: str
    schemas: tuple[ClientSchema, ...]
    location: Location


@dataclass(frozen=True, slots=True, kw_only=True)
class Produces:
    """A topic that is written, with one schema or, for several kinds of event, several."""

    topic: TopicName
    schemas: tuple[ClientSchema, ...]
    location: Location


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A service; `definitions` are the files that its schemas are made of."""

    name: str
    owner: str
    consumes: tuple[Consumes, ...]
    produces: tuple[Produces, ...]
    location: Location
    definitions: tuple[str, ...] = ()
