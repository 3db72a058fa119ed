"""What a class gives: its schema, and where each part of it is in the program's source.

Nothing is imported or started here; `python_classes` and `java_classes` do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gitops.model.findings import Location
from gitops.model.schema import SchemaInfo

_CLASS: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractRequest:
    """The class and how it is read; None is what Pulsar does by default for its kind.

    `name` is `MODULE:CLASS`, or the name of a Java class where there is a `class_path`. Without a
    `schema_type` a class has the `topic_type`, if its kind can. `folders` are searched for modules
    before the current folder. `always_allow_null` and `jsr310` are those of Pulsar's
    SchemaDefinition.
    """

    name: str
    schema_type: str | None = None
    topic_type: str | None = None
    folders: tuple[Path, ...] = ()
    class_path: str | None = None
    always_allow_null: bool | None = None
    jsr310: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """The schema of a class.

    `locate` finds the source of a JSON pointer into the definition. `sources` has the texts of the
    program's files by the names that `locate` gives them. `notes` name what the class has and the
    schema cannot have, in whole sentences.
    """

    info: SchemaInfo
    locate: Callable[[str], Location]
    sources: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """The Avro definition of a class as Python's JSON, and the classes of its named types."""

    content: object
    classes: Mapping[str, type]
    notes: tuple[str, ...] = ()


def is_class_name(name: str) -> bool:
    """Whether a word on a command line is `MODULE:CLASS`, and no file."""
    return _CLASS.fullmatch(name) is not None and not Path(name).exists()
