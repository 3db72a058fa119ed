"""Files of definitions: which of them are compiled, to which type, and how each type is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gitops.model.schema import SchemaType
from gitops.schemas.row import DefinitionForm
from gitops.schemas.types import TYPES

AVSC: Final = ".avsc"
PROTO: Final = ".proto"

COMPILED_TYPE: Final = SchemaType.PROTOBUF_NATIVE
"""The type of a definition that protoc makes of `.proto` files."""

DEFAULT_TYPE: Final = SchemaType.AVRO
"""The type of any other definition for which none is named."""

_WRITTEN: Final[Mapping[DefinitionForm | None, str]] = {
    DefinitionForm.AVRO: AVSC,
    DefinitionForm.DESCRIPTORS: ".json",  # the envelope, where no `.proto` files compile to it
    DefinitionForm.HALVES: ".json",
    None: ".txt",
}

WRITTEN_EXTENSIONS: Final = tuple(dict.fromkeys(_WRITTEN.values()))


def extension_of(schema_type: SchemaType) -> str:
    """The extension with which a definition of the type is written."""
    return _WRITTEN[TYPES.row_of(schema_type).form]


def is_compiled(schema_type: SchemaType) -> bool:
    """Whether definitions of the type are compiled from `.proto` files."""
    return TYPES.row_of(schema_type).form is DefinitionForm.DESCRIPTORS


def is_proto(file: str) -> bool:
    """Whether a file is compiled by protoc."""
    return file.endswith(PROTO)
