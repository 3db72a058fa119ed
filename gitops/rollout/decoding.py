"""Whether a consumer decodes what a producer writes: resolution, and symbols beyond it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from gitops.model.decision import StoredSchema
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.rollout.model import Use, UsedSchema
from gitops.schemas import event_kinds
from gitops.schemas.avro.compatibility import can_read
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.avro.parser import parse_data
from gitops.schemas.avro.review import avro_changes
from gitops.schemas.avro.review_types import Wire
from gitops.schemas.avro.schema import Schema
from gitops.schemas.key_value.halves import ENCODING, INLINE, named_halves
from gitops.schemas.key_value.parser import UndecodableError
from gitops.schemas.payload import PayloadError, to_stored
from gitops.schemas.protobuf_native import review
from gitops.schemas.remark import Remark

_WIRES: Final = {SchemaType.JSON: Wire.JSON}


def why_unreadable(consumer: Use, written: UsedSchema) -> str | None:
    """Why the consumer fails on messages of `written`; None if it reads them.

    Of a consumer with several kinds of event, those of the record's own name are asked. What is
    written without a schema is nobody's word, so that nothing is said about it; and AUTO_CONSUME
    takes the schema of the message.
    """
    if not isinstance(written, SchemaInfo):
        return None
    readers = [one for one in consumer.schemas if isinstance(one, SchemaInfo)]
    if len(readers) < len(consumer.schemas) or not readers:
        return None
    of_kind = [one for one in readers if kind_of(one) == kind_of(written)]
    why = [_unreadable_text(one, written) for one in of_kind or readers]
    return None if None in why else why[0]


def kind_of(info: SchemaInfo) -> str:
    """The kind of event: the name of the record or message, else the type."""
    try:
        return event_kinds.kind_of(to_stored(info))
    except PayloadError:
        return info.type.value


def becomes(old: SchemaInfo, new: SchemaInfo) -> bool:
    """Whether `new` is a later version of the kind that `old` is; an alias is an earlier name."""
    try:
        return event_kinds.is_of_kind(to_stored(old), to_stored(new))
    except PayloadError:
        return False


def _unreadable_text(reader: SchemaInfo, writer: SchemaInfo) -> str | None:
    try:
        return _why_stored(to_stored(reader), to_stored(writer))
    except PayloadError as error:
        return str(error)


def _why_stored(reader: StoredSchema, writer: StoredSchema) -> str | None:
    """Of PROTOBUF nothing is known but that readers skip the fields that they do not know."""
    if reader.type is not writer.type:
        return f"it reads {reader.type.value}, and messages are {writer.type.value}"
    if reader.type is SchemaType.KEY_VALUE:
        return _why_apart(reader, writer) or _why_pair(reader, writer)
    if reader.data == writer.data:
        return None
    if reader.type in (SchemaType.AVRO, SchemaType.JSON):
        return _why_avro(reader.type, reader.data, writer.data)
    if reader.type is SchemaType.PROTOBUF_NATIVE:
        return _why_native(reader.data, writer.data)
    return None


@lru_cache(maxsize=4096)
def _why_native(reader: bytes, writer: bytes) -> str | None:
    return _stop(review.remarks(writer, reader, forward=False))


def _why_apart(reader: StoredSchema, writer: StoredSchema) -> str | None:
    """Keys are looked for where the reader's own schema says; Pulsar compares no encodings."""
    looks, has = (one.properties.get(ENCODING, INLINE) for one in (reader, writer))
    if looks == has:
        return None
    return f"it looks for keys {looks}, and messages have them {has}"


def _why_pair(reader: StoredSchema, writer: StoredSchema) -> str | None:
    try:
        halves = named_halves(reader, writer)
    except UndecodableError as error:
        return str(error)
    for name, (read, written) in halves:
        if why := _why_stored(read, written):
            return f"{name}: {why}"
    return None


@lru_cache(maxsize=4096)
def _why_avro(kind: SchemaType, reader: bytes, writer: bytes) -> str | None:
    try:
        read, written = parse_data(reader), parse_data(writer)
    except AvroParseError as error:
        return f"a definition is no schema: {error}"
    return _why_resolved(kind, read, written)


def _why_resolved(kind: SchemaType, reader: Schema, writer: Schema) -> str | None:
    """By Avro's resolution; JSON is read by names, and what Avro resolves JSON readers take.

    Symbols that the reader lacks pass the broker and stop a consumer (Avro 1.11.4).
    """
    reasons = can_read(writer, reader).reasons
    if reasons:
        path = f"at '{reasons[0].path}': " if reasons[0].path else ""
        return f"{path}{reasons[0].message}"
    return _stop(avro_changes(writer, reader, wire=_WIRES.get(kind, Wire.AVRO)))


def _stop(remarks: Iterable[Remark]) -> str | None:
    """What stops readers, although the broker lets it pass."""
    stops = next((one for one in remarks if one.stops_readers), None)
    return f"at '{stops.path}': {stops.message}" if stops else None
