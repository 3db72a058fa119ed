"""`publish`: the messages of a capture to a topic, each with its own schema."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gitops.broker.connection import Admission, ConnectionTarget, Offer, connection_policies
from gitops.broker.lines.table import line_of
from gitops.broker.producer_connection import admit_producer
from gitops.messaging.publish_capture import CaptureSource, read_source
from gitops.messaging.publish_connection import connection_settings
from gitops.messaging.publish_journal import PublicationJournal, PublicationState, new_state
from gitops.messaging.publish_topic import Publication, PublishJob, publish_topic
from gitops.model.errors import GitopsError, NotThereError, OutsideError, UsageError
from gitops.model.names import TopicName
from gitops.model.state import RegistryState, Scope
from gitops.ports import Progress, Registry, no_progress
from gitops.registries.pulsar.message_service import TopicMessages
from gitops.schemas.payload import PayloadError, stored_history, to_stored


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishRequest:
    """What is published to which topic; `command` is the one that goes on, for messages."""

    folder: Path
    topic: TopicName
    rate: int | None = None
    resume: bool = False
    command: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedVersion:
    """What a broker answers to a version of the capture, None for messages without a schema."""

    version: int | None
    messages: int
    admission: Admission


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What a broker would answer to a capture, its schemas oldest first.

    `unencrypted` are the messages that it would refuse since the namespace demands encryption: it
    refuses all of a capture that has one of them.
    """

    versions: Sequence[ExpectedVersion]
    unencrypted: int = 0

    @property
    def is_accepted(self) -> bool:
        """Whether all messages would be."""
        return not self.unencrypted and all(version.admission.accepted for version in self.versions)


class PublicationEndedError(GitopsError):
    """The outside failed in the middle: what failed, and how far the publication is."""

    exit_code = 4


def forecast(registry: Registry, source: CaptureSource, topic: TopicName) -> Forecast:
    """What the broker would decide about each schema; nothing is sent.

    Each that is accepted is in the history that the next one meets. Raises NotThereError for a
    namespace that is not there, UsageError, OutsideError.
    """
    _check(topic)
    scope = Scope(namespaces=frozenset({topic.namespace}), topics=frozenset({topic}))
    state = registry.observe(scope)
    namespace = state.namespaces[topic.namespace]
    if not namespace.exists:
        raise NotThereError(f"there is no namespace '{topic.namespace}'", where=registry.address)
    return Forecast(
        versions=_expected(source, _target(registry, state, topic)),
        unencrypted=source.total - source.count_encrypted() if namespace.encryption_required else 0,
    )


def _expected(source: CaptureSource, place: ConnectionTarget) -> list[ExpectedVersion]:
    versions: list[int | None] = list(source.schemas)
    if source.counts[None]:
        versions.append(None)
    items = []
    is_open = False
    for version in versions:
        admission = admit_producer(
            place, _offer(source, version), "getOrCreateSchema" if is_open else "connect"
        )
        items.append(
            ExpectedVersion(version=version, messages=source.counts[version], admission=admission)
        )
        is_open = is_open or admission.accepted
        place = replace(place, history=admission.history_after(place.history))
    return items


def _check(topic: TopicName) -> None:
    """Raise UsageError for one that keeps nothing."""
    if topic.domain != "persistent":
        raise UsageError(
            f"{topic} keeps no messages: a capture can be published to persistent ones"
        )


def _offer(source: CaptureSource, version: int | None) -> Offer:
    if version is None:
        return "NONE"
    try:
        return to_stored(source.schemas[version])
    except PayloadError as error:
        raise UsageError(
            f"v{version} of {source.path} is not valid: {error}", hint="capture the topic again"
        ) from None


def _target(registry: Registry, state: RegistryState, topic: TopicName) -> ConnectionTarget:
    try:
        history = stored_history(state.topics[topic].history)
    except PayloadError as error:
        raise OutsideError(
            f"the registry contains a schema that cannot be read: {error}", where=registry.address
        ) from None
    return ConnectionTarget(
        history=history,
        policies=connection_policies(
            topic,
            state.topics[topic].policies,
            state.namespaces[topic.namespace].policies,
            registry.broker,
        ),
        line=line_of(registry.broker),
    )


def publish(
    registry: Registry,
    messages: TopicMessages,
    request: PublishRequest,
    stopped: Callable[[], bool] = lambda: False,
    progress: Progress = no_progress,
) -> Publication:
    """Publish, or go on; raises UsageError, OutsideError, PublicationEndedError.

    The whole capture is looked at before anything is sent.
    """
    name = request.topic
    _check(name)
    source = read_source(request.folder)
    topic = f"{name.domain}://{name.namespace}/{name.local_name}"
    journal = PublicationJournal.of(source, topic, registry.address)
    state = _begin(source, journal, request, topic, registry.address)
    service = messages.service(request.topic)
    job = PublishJob(
        source=source,
        topic=topic,
        service_url=service.url,
        settings=connection_settings(service),
        journal=journal,
        rate=request.rate,
        stopped=stopped,
        progress=progress,
    )
    ended = asyncio.run(publish_topic(job, state))
    ended = replace(ended, is_of_all=source.manifest.is_complete)
    if ended.cause is not None:
        raise _ended(ended, request)
    if ended.is_complete:
        journal.remove()
    return ended


def _begin(
    source: CaptureSource,
    journal: PublicationJournal,
    request: PublishRequest,
    topic: str,
    address: str,
) -> PublicationState:
    before = journal.read()
    if before is None:
        if request.resume:
            raise UsageError(
                f"no publication of {source.path} to {topic} was ended before its end",
                hint="publish it without --resume",
            )
        return new_state(source, topic, address)
    if not request.resume:
        raise UsageError(
            f"a publication to {topic} was ended after {before.done:,} of {source.total:,} "
            "messages",
            hint=f"--resume goes on; to begin again remove {journal.path}",
        )
    if before.fingerprint != source.fingerprint:
        raise UsageError(
            f"{source.path} was changed since its publication began",
            hint=f"remove {journal.path}, and publish to an empty topic",
        )
    return before


def _ended(ended: Publication, request: PublishRequest) -> Exception:
    cause = ended.cause
    if not isinstance(cause, GitopsError):
        assert cause is not None  # noqa: S101 - whoever calls has looked
        return cause
    error = PublicationEndedError(
        f"{cause.what}; {ended.state.acknowledged:,} of {ended.total:,} messages are acknowledged",
        where=cause.where,
        hint=f"go on with: {request.command}",
    )
    error.__cause__ = cause
    if isinstance(cause, UsageError):
        error.exit_code = cause.exit_code
    return error
