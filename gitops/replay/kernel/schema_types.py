"""Where a reader takes nothing of what a writer wrote: one reason for all rows."""

from __future__ import annotations

from typing import Final, NoReturn

import numpy
import pyarrow

from gitops.model.replay import LogicalTypes
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.replay.kernel.avro.kernel import AvroRowWriter, avro_kernel, avro_row_reader
from gitops.replay.kernel.definition import DefinitionError, avro_form
from gitops.replay.kernel.json import definition as json_definition
from gitops.replay.kernel.json.kernel import JsonKernel
from gitops.replay.kernel.json.plan import pair
from gitops.replay.kernel.json.rows import JsonWriter
from gitops.replay.kernel.key_value.definition import encoding_of, halves_of
from gitops.replay.kernel.key_value.kernel import PairKernel, PairReader, PairWriter
from gitops.replay.kernel.primitive import (
    FORMS,
    MILLISECONDS,
    OPAQUE,
    PRIMITIVES,
    Fixed,
    Opaque,
    Text,
)
from gitops.replay.kernel.protobuf.columns import message_class
from gitops.replay.kernel.protobuf.definition import message_of
from gitops.replay.kernel.protobuf.kernel import ProtobufKernel
from gitops.replay.kernel.protobuf.plan import pair as pair_messages
from gitops.replay.kernel.protobuf.rows import ProtobufWriter
from gitops.replay.kernel.protocol import Kernel, Reason, RowReader, RowWriter, Unreadable, Walk


class Mismatch:
    """A Kernel and a RowReader that read no row, for `reason`."""

    def __init__(self, reason: str) -> None:
        self._reason = Reason("", reason)

    def walk(self, payloads: pyarrow.BinaryArray) -> Walk:
        """Every row fails."""
        verdicts = numpy.ones(len(payloads), numpy.int32)
        return Walk(verdicts=verdicts, reasons=(self._reason,) if len(payloads) else ())

    def read(self, payload: bytes) -> NoReturn:
        """Raises Unreadable, whatever the payload."""
        del payload
        raise Unreadable(self._reason, self._reason.reason)


# The kernel, the row reader and the row writer for each type of schema.
#
# Payloads of KEY_VALUE messages whose encoding is SEPARATED are those that `key_value.pairs.join`
# makes of message keys and payloads.


_TEXTS: Final = OPAQUE | {SchemaType.STRING, SchemaType.JSON}
"""Types whose payload a STRING is taken from as it is."""

_MESSAGES: Final = frozenset({SchemaType.PROTOBUF, SchemaType.PROTOBUF_NATIVE})
"""Types whose payload is a message of Protobuf, however it is defined."""


def kernel_for(
    writer: SchemaInfo, reader: SchemaInfo, logical_types: LogicalTypes = "java"
) -> Kernel:
    """What reads the messages of `writer` with `reader`; raises DefinitionError."""
    mismatch = _mismatch(writer, reader)
    if mismatch is not None:
        return mismatch
    writer = _known(writer, reader)
    match reader.type:
        case SchemaType.AVRO:
            return avro_kernel(avro_form(writer), avro_form(reader), logical_types)
        case SchemaType.KEY_VALUE:
            halves = zip(halves_of(writer), halves_of(reader), strict=True)
            return PairKernel(*(kernel_for(*half, logical_types) for half in halves))
        case _:
            return _of_both_kinds(writer, reader, logical_types)


def row_reader_for(
    writer: SchemaInfo, reader: SchemaInfo, logical_types: LogicalTypes = "java"
) -> RowReader:
    """What reads one message, slowly, and answers what it holds; raises DefinitionError."""
    mismatch = _mismatch(writer, reader)
    if mismatch is not None:
        return mismatch
    writer = _known(writer, reader)
    match reader.type:
        case SchemaType.AVRO:
            return avro_row_reader(avro_form(writer), avro_form(reader), logical_types)
        case SchemaType.KEY_VALUE:
            halves = zip(halves_of(writer), halves_of(reader), strict=True)
            return PairReader(*(row_reader_for(*half, logical_types) for half in halves))
        case _:
            return _of_both_kinds(writer, reader, logical_types)


def row_writer_for(schema: SchemaInfo) -> RowWriter:
    """What writes a value that a RowReader with `schema` as reader answered.

    Raises DefinitionError.
    """
    match schema.type:
        case SchemaType.AVRO:
            return AvroRowWriter(avro_form(schema))
        case SchemaType.KEY_VALUE:
            return PairWriter(*map(row_writer_for, halves_of(schema)))
        case SchemaType.JSON:
            return JsonWriter(json_definition.schema_of(schema))
        case SchemaType.PROTOBUF | SchemaType.PROTOBUF_NATIVE:
            return ProtobufWriter(message_of(schema))
        case _:
            return _primitive(schema.type)


def _mismatch(writer: SchemaInfo, reader: SchemaInfo) -> Mismatch | None:
    """Why no message can be read, whatever it holds."""
    if not _reads(writer.type, reader.type):
        return Mismatch(
            f"the reader takes {reader.type.value}, and the message is {writer.type.value}"
        )
    if writer.type is reader.type is SchemaType.KEY_VALUE:
        takes, has = encoding_of(reader), encoding_of(writer)
        if takes is not has:
            return Mismatch(f"the reader takes {takes.value} pairs, and the message is {has.value}")
    return None


def _reads(writer: SchemaType, reader: SchemaType) -> bool:
    """Whether a consumer takes payloads of another type; what is no schema can be any."""
    if writer is reader or writer in OPAQUE or reader in OPAQUE:
        return True
    if reader is SchemaType.STRING:
        return writer in _TEXTS
    if reader is SchemaType.JSON:
        return writer is SchemaType.STRING
    return any(writer in kinds and reader in kinds for kinds in (MILLISECONDS, _MESSAGES))


def _known(writer: SchemaInfo, reader: SchemaInfo) -> SchemaInfo:
    """The schema that tells what the messages hold: the reader's where theirs does not."""
    told = writer.type is reader.type or writer.type in _MESSAGES
    return writer if told else reader


def _of_both_kinds(
    writer: SchemaInfo, reader: SchemaInfo, logical_types: LogicalTypes
) -> JsonKernel | ProtobufKernel | Fixed | Text | Opaque:
    """What is a kernel and a row reader in one."""
    match reader.type:
        case SchemaType.JSON:
            return _json(writer, reader, logical_types)
        case SchemaType.PROTOBUF | SchemaType.PROTOBUF_NATIVE:
            return _protobuf(writer, reader)
        case _:
            return _primitive(reader.type)


def _json(writer: SchemaInfo, reader: SchemaInfo, logical_types: LogicalTypes) -> JsonKernel:
    schemas = map(json_definition.schema_of, (writer, reader))
    return JsonKernel(pair(*schemas, logical_types=logical_types))


def _protobuf(writer: SchemaInfo, reader: SchemaInfo) -> ProtobufKernel:
    plan = pair_messages(*map(message_of, (writer, reader)))
    return ProtobufKernel(plan, message_class(reader, plan))


def _primitive(kind: SchemaType) -> Fixed | Text | Opaque:
    if kind in FORMS:
        return Fixed(kind)
    if kind not in PRIMITIVES:
        raise DefinitionError(f"no message is read or written as {kind.value}")
    return Text() if kind is SchemaType.STRING else Opaque()
