"""The table of kinds of class: how each is known, its schema types, and who reads it.

A new kind is a row here, and a function.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from gitops.extraction.avro_definition import class_definition, definition_text
from gitops.extraction.class_fields import is_attrs, is_dataclass, is_pydantic
from gitops.extraction.extraction import Definition, Extraction, ExtractRequest
from gitops.extraction.source_lines import class_location, class_sources, definition_location
from gitops.model.errors import UsageError
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.repository.definitions.file_extensions import COMPILED_TYPE
from gitops.repository.definitions.protobuf import envelope, read_files

STRUCTS: Final = (SchemaType.AVRO, SchemaType.JSON)
"""Pulsar's struct schemas: a class has the same definition as both of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassKind:
    """A kind of class: its name, its test, its schema types with the default first, its reader."""

    name: str
    matches: Callable[[type], bool]
    types: tuple[SchemaType, ...]
    read: Callable[[Any, SchemaType, ExtractRequest], Extraction]


def _has_base(module: str, name: str, cls: type) -> bool:
    """Whether a class derives from one of a library, which is loaded if it does."""
    base = getattr(sys.modules.get(module), name, None)
    return isinstance(base, type) and issubclass(cls, base)


# Classes of `pulsar.schema`: their own client makes the text.


def _read_pulsar_record(cls: Any, kind: SchemaType, request: ExtractRequest) -> Extraction:  # noqa: ANN401 - pulsar-client's
    if request.always_allow_null is not None or request.jsr310:
        raise UsageError(
            "a pulsar.schema.Record marks by itself what may be null",
            where=request.name,
            hint="leave out --always-allow-null and --jsr310; `required=True` of a field is its "
            "own way",
        )
    content = cls.schema()
    definition = Definition(content=content, classes=dict(_record_classes(cls)))
    # json.dumps as pulsar-client 3.13's Schema has it; its own object needs fastavro for AVRO.
    text = json.dumps(content, indent=True)
    return _extraction(definition, text, kind, cls)


def _record_classes(cls: Any) -> Iterator[tuple[str, type]]:  # noqa: ANN401 - pulsar-client's
    """The classes of a record's named types, each once."""
    waiting, seen = [cls], set[type]()
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        space = getattr(value, "_avro_namespace", None)
        yield f"{space}.{value.__name__}" if space else value.__name__, value
        waiting += filter(None, map(_class_of_field, getattr(value, "_fields", {}).values()))


def _class_of_field(field: Any) -> type | None:  # noqa: ANN401 - pulsar-client's
    """The record or the enum that a field, its items or its values are."""
    while inner := getattr(field, "array_type", None) or getattr(field, "value_type", None):
        field = inner
    if hasattr(field, "_fields"):
        return type(field)
    result: type | None = getattr(field, "enum_type", None)
    return result


# Classes with typed fields.


def _read_typed_class(cls: Any, kind: SchemaType, request: ExtractRequest) -> Extraction:  # noqa: ANN401 - any class
    definition = class_definition(
        cls, always_allow_null=bool(request.always_allow_null), jsr310=request.jsr310
    )
    return _extraction(definition, definition_text(definition.content), kind, cls)


def _extraction(definition: Definition, text: str, kind: SchemaType, cls: type) -> Extraction:
    return Extraction(
        info=SchemaInfo(type=kind, schema=text),
        locate=partial(definition_location, definition, cls),
        sources=class_sources(definition.classes.values()),
        notes=definition.notes,
    )


# Generated classes of Protobuf.


def _read_message(cls: Any, kind: SchemaType, request: ExtractRequest) -> Extraction:  # noqa: ANN401 - protobuf's
    if request.always_allow_null is not None or request.jsr310:
        raise UsageError(
            "--always-allow-null and --jsr310 are options of AVRO and JSON", where=request.name
        )
    descriptor = cls.DESCRIPTOR
    files = read_files(tuple(_serialized_files(descriptor.file)))
    text = envelope(files, descriptor.file.name, descriptor.full_name)
    return Extraction(info=SchemaInfo(type=kind, schema=text), locate=lambda _: class_location(cls))


def _serialized_files(file: Any) -> Iterator[bytes]:  # noqa: ANN401 - protobuf's FileDescriptor
    """The file of a message and all that it imports."""
    waiting, seen = [file], set[str]()
    while waiting:
        value = waiting.pop()
        if value.name not in seen:
            seen.add(value.name)
            yield value.serialized_pb
            waiting += value.dependencies


CLASS_KINDS: Final = (
    ClassKind(
        name="pulsar.schema.Record",
        matches=partial(_has_base, "pulsar.schema.definition", "Record"),
        types=STRUCTS,
        read=_read_pulsar_record,
    ),
    ClassKind(
        name="a class that protoc generates",
        matches=partial(_has_base, "google.protobuf.message", "Message"),
        types=(COMPILED_TYPE,),
        read=_read_message,
    ),
    ClassKind(name="a pydantic model", matches=is_pydantic, types=STRUCTS, read=_read_typed_class),
    ClassKind(name="an attrs class", matches=is_attrs, types=STRUCTS, read=_read_typed_class),
    ClassKind(name="a dataclass", matches=is_dataclass, types=STRUCTS, read=_read_typed_class),
)
