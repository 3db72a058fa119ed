"""Whom the broker accepts at each state of a topic, and who decodes what others write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Final

from gitops.broker.consumer_compatibility import check_consumer
from gitops.broker.registration import CANDIDATE, NOT_REGISTERED, find_registered
from gitops.model.decision import StoredHistory, StoredSchema
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.schema import SchemaInfo, SchemaType
from gitops.rollout.model import Role, TopicModel, Use, UsedSchema
from gitops.schemas import event_kinds
from gitops.schemas.avro.compatibility import can_read
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.avro.parser import parse_data
from gitops.schemas.avro.review import avro_changes
from gitops.schemas.avro.review_types import Wire
from gitops.schemas.avro.schema import Schema
from gitops.schemas.key_value.parser import ENCODING, INLINE, UndecodableError, named_halves
from gitops.schemas.payload import PayloadError, as_kept, to_info, to_stored
from gitops.schemas.protobuf_native import review
from gitops.schemas.row import Remark


def histories(topic: TopicModel) -> list[StoredHistory]:
    """The topic's history before its first new version, and after each of them."""
    found = [topic.history]
    for info in topic.new:
        last = found[-1]
        entry = (last.next_version, as_kept(to_stored(info)))
        found.append(
            StoredHistory(entries=(*last.entries, entry), next_version=last.next_version + 1)
        )
    return found


def readable(history: StoredHistory) -> Iterator[tuple[int, SchemaInfo]]:
    """The versions as clients know them; one that cannot be read is nobody's."""
    for version, stored in history.entries:
        with suppress(PayloadError):
            yield version, to_info(stored)


def is_of_version(schema: UsedSchema, history: StoredHistory, version: int) -> bool:
    """Whether messages with this schema carry the version, however its text is laid out."""
    if not isinstance(schema, SchemaInfo):
        return False
    try:
        return find_registered(history, to_stored(schema)).version == version
    except PayloadError:
        return False


def why_refused(use: Use, topic: TopicModel, history: StoredHistory) -> str | None:
    """Why a client that reconnects is refused; None if it is let in.

    The topic is in use, so that no consumer seeds it. A producer's schema has to be registered:
    that it could register it by itself is left out, since what is in git is registered by apply.
    """
    ask = _consumer if use.role is Role.CONSUMER else _producer
    return next(ask(use, topic, history), None)


def _consumer(use: Use, topic: TopicModel, history: StoredHistory) -> Iterator[str]:
    for schema in use.schemas:
        if isinstance(schema, SchemaInfo):
            decision = check_consumer(history, schema, topic.strategy)
            if not decision.accepted:
                why = _refusal_text(decision.reason, topic)
                yield f"the broker refuses it as a consumer: {why}"


def _refusal_text(reason: str, topic: TopicModel) -> str:
    """A decision's reason in words about a consumer."""
    if topic.strategy is SchemaCompatibilityStrategy.ALWAYS_INCOMPATIBLE:
        return f"{topic.strategy.value} lets none in that has a schema"
    return reason.replace(f"the {CANDIDATE}", CANDIDATE).replace(CANDIDATE, "its schema")


def _producer(use: Use, topic: TopicModel, history: StoredHistory) -> Iterator[str]:
    for schema in use.schemas:
        if not isinstance(schema, SchemaInfo):
            if schema == "NONE" and topic.is_schema_validation_enforced and history.entries:
                yield "schemaValidationEnforced refuses a producer without a schema"
            continue
        try:
            found = find_registered(history, to_stored(schema))
        except PayloadError as error:
            yield f"the broker fails on its schema: {error}"
            continue
        if found.status == NOT_REGISTERED:
            yield "its schema is not registered"
        elif not found.accepted:
            yield f"the broker fails on its schema: {found.reason}"


# Whether a consumer decodes what a producer writes: resolution, and symbols beyond it.


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
