"""Sample data of a topic, for replays."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from gitops.model.findings import Location

SampleFormat = Literal["avro", "json", "parquet", "orc", "table", "raw", "capture"]

LogicalTypes = Literal["java", "none"]
"""Who reads: Java's classes for logical types, or a reader that takes the types beneath them."""

_PASSWORD: Final = re.compile(r"://[^/@:]*:[^/@]*@")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Where samples of a topic are and how to read them.

    `path` may be a glob or a URI that Spark reads; a relative one is relative to the manifest.
    `columns` renames the columns `topic`, `schema_version`, `payload`. `version` is the schema
    version of every message where the data does not say. `max_failures` is a count (int) or a
    share of the rows (float, 0 to 1). `logical_types` is how values of logical types are read.
    `sensitive_at` are the places of the `sensitive` names, in their order; without any they stand
    at `location`.
    """

    format: SampleFormat
    path: str
    location: Location
    columns: Mapping[str, str] = field(default_factory=dict)
    version: int | None = None
    sensitive: tuple[str, ...] = ()
    max_failures: int | float = 0
    logical_types: LogicalTypes = "java"
    sensitive_at: tuple[Location, ...] = field(default=(), compare=False)

    @property
    def shown_path(self) -> str:
        """The path as reports show it: without a user and a password before a host."""
        return _PASSWORD.sub("://", self.path)
