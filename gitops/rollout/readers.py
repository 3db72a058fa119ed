"""Whom the broker accepts at each state of a topic, and who decodes what others write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from gitops.broker.consumer_compatibility import check_consumer
from gitops.broker.registration import CANDIDATE, NOT_REGISTERED, find_registered, register
from gitops.model.clients import ClientLanguage
from gitops.model.decision import Decision, StoredHistory
from gitops.model.policy import SchemaCompatibilityStrategy
from gitops.model.rollout import Role
from gitops.model.rollout_reason import Cause
from gitops.model.schema import SchemaInfo
from gitops.rollout.model import TopicModel, Use, UsedSchema
from gitops.rollout.reasons import UNREGISTERED
from gitops.schemas import event_kinds
from gitops.schemas.client_profiles import CLIENT_PROFILES
from gitops.schemas.payload import PayloadError, to_info, to_stored, to_stored_type
from gitops.schemas.types import TYPES


def histories(topic: TopicModel) -> list[StoredHistory]:
    """The topic's history before its first new version, and after each of them."""
    stored_histories = [topic.history]
    for info in topic.new:
        last = stored_histories[-1]
        entry = (last.next_version, to_stored_type(to_stored(info)))
        stored_histories.append(
            StoredHistory(entries=(*last.entries, entry), next_version=last.next_version + 1)
        )
    return stored_histories


def readable(history: StoredHistory) -> Iterator[tuple[int, SchemaInfo]]:
    """The versions as clients know them; one that cannot be read is nobody's."""
    for version, stored in history.entries:
        with suppress(PayloadError):
            yield version, to_info(stored)


def is_of_version(schema: UsedSchema, topic: TopicModel, version: int) -> bool:
    """Whether messages with this schema carry the version, however its text is laid out."""
    if not isinstance(schema, SchemaInfo):
        return False
    try:
        return find_registered(topic.history, to_stored(schema), topic.line).version == version
    except PayloadError:
        return False


def refusal_reason(use: Use, topic: TopicModel, history: StoredHistory) -> Cause | None:
    """Why a client that reconnects is refused; None if it is let in.

    The topic is in use, so that no consumer seeds it. A producer's schema has to be registered:
    that it could register it by itself is left out, since what is in git is registered by apply.
    """
    if use.role is Role.CONSUMER:
        return next(_consumer(use, topic, history), None)
    return next((Cause(text=why) for why in _producer(use, topic, history)), None)


def registers_schemas(uses: Iterable[Use], topic: TopicModel, history: StoredHistory) -> bool:
    """Whether the broker lets a client in by registering the schemas that it lacks."""
    if not topic.allows_auto_update:
        return False
    for use in uses:
        if use.role is Role.CONSUMER:
            if refusal_reason(use, topic, history):
                return False
            continue
        if any(why != UNREGISTERED.text for why in _producer(use, topic, history)):
            return False
        for schema in use.schemas:
            if isinstance(schema, SchemaInfo):
                decision = register(history, schema, topic.strategy, topic.line)
                if not decision.accepted:
                    return False
    return True


def _consumer(use: Use, topic: TopicModel, history: StoredHistory) -> Iterator[Cause]:
    for schema in use.schemas:
        if isinstance(schema, SchemaInfo):
            decision = check_consumer(history, schema, topic.strategy, topic.line)
            if not decision.accepted:
                yield _refusal_cause(decision, topic)


def _refusal_cause(decision: Decision, topic: TopicModel) -> Cause:
    """A decision's reason in words about a consumer."""
    if topic.strategy is SchemaCompatibilityStrategy.ALWAYS_INCOMPATIBLE:
        return Cause(text=f"{topic.strategy.value} refuses every consumer that has a schema")
    for first in decision.incompatibilities[:1]:
        if first.reader == CANDIDATE:
            return Cause(text=first.message, path=first.path, writer=first.writer)
    text = decision.reason.replace(f"the {CANDIDATE}", CANDIDATE).replace(CANDIDATE, "its schema")
    return Cause(text=text)


def _producer(use: Use, topic: TopicModel, history: StoredHistory) -> Iterator[str]:
    for schema in use.schemas:
        if not isinstance(schema, SchemaInfo):
            if schema == "NONE" and topic.is_schema_validation_enforced and history.entries:
                yield "schemaValidationEnforced refuses a producer without a schema"
            continue
        try:
            decision = find_registered(history, to_stored(schema), topic.line)
        except PayloadError as error:
            yield f"the broker fails on its schema: {error}"
            continue
        if decision.status == NOT_REGISTERED:
            yield UNREGISTERED.text
        elif not decision.accepted:
            yield f"the broker fails on its schema: {decision.reason}"


# Whether a consumer decodes what a producer writes: resolution, and symbols beyond it.


def unreadable_reason(consumer: Use, written: UsedSchema) -> str | None:
    """Why the consumer fails on messages of `written`; None if it reads them.

    Of a consumer with several kinds of event, those of the record's own name are asked. What is
    written without a schema is nobody's word, so that nothing is said about it; and AUTO_CONSUME
    takes the schema of the message.
    """
    if not isinstance(written, SchemaInfo):
        return None
    readers = [schema for schema in consumer.schemas if isinstance(schema, SchemaInfo)]
    if len(readers) < len(consumer.schemas) or not readers:
        return None
    of_kind = [reader for reader in readers if kind_of(reader) == kind_of(written)]
    why = [_unreadable_text(schema, written, consumer.language) for schema in of_kind or readers]
    return None if None in why else why[0]


def kind_of(info: SchemaInfo) -> str:
    """The kind of event: the short name of the record or message, else the type."""
    try:
        return event_kinds.kind_of(TYPES, to_stored(info))
    except PayloadError:
        return info.type.value


def becomes(old: SchemaInfo, new: SchemaInfo) -> bool:
    """Whether `new` is a later version of the kind that `old` is; an alias is an earlier name."""
    try:
        return event_kinds.is_of_kind(TYPES, to_stored(old), to_stored(new))
    except PayloadError:
        return False


def _unreadable_text(
    reader: SchemaInfo, writer: SchemaInfo, language: ClientLanguage | None
) -> str | None:
    try:
        read, written = to_stored(reader), to_stored(writer)
    except PayloadError as error:
        return str(error)
    if (why := TYPES.unreadable_reason(read, written)) or read.type is not written.type:
        return why
    profile = CLIENT_PROFILES[language or "java"]
    for misreading in TYPES.row_of(read.type).misreadings(profile.decoding, written, read):
        at = f"at '{misreading.path}': " if misreading.path else ""
        does = "may read wrong values" if misreading.is_silent else "fails"
        return f"{at}{profile.library} {does}: {misreading.message}"
    return None
