"""The kernel, the row reader and the row writer for each type of schema."""

from __future__ import annotations

from typing import Final

from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.kernel.definition import DefinitionError
from gitops.replay.kernel.jackson import definition as json_definition
from gitops.replay.kernel.jackson.kernel import JsonKernel
from gitops.replay.kernel.jackson.pairing import pair
from gitops.replay.kernel.jackson.writing import JsonWriter
from gitops.replay.kernel.mismatch import Mismatch
from gitops.replay.kernel.primitive.fixed import Fixed
from gitops.replay.kernel.primitive.forms import FORMS, MILLISECONDS, OPAQUE, PRIMITIVES
from gitops.replay.kernel.primitive.text import Opaque, Text
from gitops.replay.kernel.walk import Kernel, RowReader, RowWriter

_TEXTS: Final = OPAQUE | {SchemaType.STRING, SchemaType.JSON}
"""Types whose payload a STRING is taken from as it is."""


def kernel_for(writer: SchemaInfo, reader: SchemaInfo) -> Kernel:
    """What reads the messages of `writer` with `reader`; raises DefinitionError."""
    return _of(writer, reader)


def row_reader_for(writer: SchemaInfo, reader: SchemaInfo) -> RowReader:
    """What reads one message, slowly, and answers what it holds; raises DefinitionError."""
    return _of(writer, reader)


def row_writer_for(schema: SchemaInfo) -> RowWriter:
    """What writes a value that a RowReader with `schema` as reader answered.

    Raises DefinitionError.
    """
    if schema.type is SchemaType.JSON:
        return JsonWriter(json_definition.schema_of(schema))
    return _primitive(schema.type)


def _of(writer: SchemaInfo, reader: SchemaInfo) -> Fixed | Text | Opaque | JsonKernel | Mismatch:
    """What does both; a message of no schema is read by the reader's alone."""
    if reader.type in OPAQUE:
        return Opaque()
    if not _reads(writer.type, reader.type):
        reason = f"the reader takes {reader.type.value}, and the message is {writer.type.value}"
        return Mismatch(reason)
    if reader.type is SchemaType.JSON:
        written = writer if writer.type is SchemaType.JSON else reader
        return JsonKernel(
            pair(json_definition.schema_of(written), json_definition.schema_of(reader))
        )
    return _primitive(reader.type)


def _reads(writer: SchemaType, reader: SchemaType) -> bool:
    """Whether a consumer takes payloads of another type; what is no schema can be any."""
    if writer is reader or writer in OPAQUE:
        return True
    if reader is SchemaType.STRING:
        return writer in _TEXTS
    if reader is SchemaType.JSON:
        return writer is SchemaType.STRING
    return writer in MILLISECONDS and reader in MILLISECONDS


def _primitive(kind: SchemaType) -> Fixed | Text | Opaque:
    if kind in FORMS:
        return Fixed(kind)
    if kind not in PRIMITIVES:
        raise DefinitionError(f"no message is read or written as {kind.value}")
    return Text() if kind is SchemaType.STRING else Opaque()
