"""`capture`: messages of topics to files, with their schemas beside them."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import gitops
from gitops.messaging.capture_client import MessageService, Position
from gitops.messaging.capture_files import (
    CaptureFolder,
    CaptureManifest,
    Masking,
    PartFormat,
    PartitionState,
    Selection,
)
from gitops.messaging.capture_readers import MessageReaders
from gitops.messaging.capture_topic import CaptureJob, capture_topic, partition_name
from gitops.model.errors import UsageError
from gitops.model.names import TopicName
from gitops.model.schema import SchemaInfo
from gitops.model.state import Scope
from gitops.ports import Progress, Registry, no_progress
from gitops.registries.pulsar.message_service import TopicMessages
from gitops.replay.payload_mask import topic_mask
from gitops.replay.substitutes import Substitutes


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureRequest:
    """What is captured, and how.

    `sensitive` are by topic the fields that are masked with `substitutes`. `open_readers` opens
    what reads messages. `resume` goes on with what is in `out`.
    """

    topics: Sequence[TopicName]
    out: Path
    selection: Selection
    part_format: PartFormat = "parquet"
    sensitive: Mapping[TopicName, tuple[str, ...]] = field(default_factory=dict)
    substitutes: Substitutes = field(default_factory=Substitutes)
    resume: bool = False
    is_decrypted: bool = False
    open_readers: Callable[[MessageService], MessageReaders]


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedTopic:
    """The manifest of a topic as it is now, and its folder."""

    topic: TopicName
    folder: Path
    manifest: CaptureManifest


def capture(
    registry: Registry,
    messages: TopicMessages,
    request: CaptureRequest,
    stopped: Callable[[], bool] = lambda: False,
    progress: Progress = no_progress,
) -> tuple[CapturedTopic, ...]:
    """Capture the topics in their order; those after an interruption are left out.

    Everything is looked at before the first message is read: raises NotThereError for a topic that
    does not exist, UsageError for folders and masks that cannot be, OutsideError.
    """
    # The ends come first: the version of each message before them is registered by then.
    partitions = {topic: _partitions(messages, topic) for topic in request.topics}
    scope = Scope(topics=frozenset(request.topics), topic_policies=False)
    state = registry.observe(scope)
    versions = {
        topic: {entry.version: entry.info for entry in state.topics[topic].history.entries}
        for topic in request.topics
    }
    begun = [
        _begin(registry, request, topic, versions[topic], partitions[topic])
        for topic in request.topics
    ]
    if not begun:
        return ()
    readers = request.open_readers(messages.service(request.topics[0]))
    captured_topics = []
    try:
        for folder, manifest, topic in begun:
            if stopped():
                break
            job = _job(
                messages, request, readers, folder, manifest, topic, versions[topic], stopped
            )
            captured_topics.append(_capture(job, manifest, versions[topic], progress))
    finally:
        readers.close()
    return tuple(captured_topics)


def _capture(
    job: CaptureJob,
    manifest: CaptureManifest,
    versions: Mapping[int, SchemaInfo],
    progress: Progress,
) -> CapturedTopic:
    job.folder.begin(manifest, versions)
    manifest = capture_topic(job, manifest, progress)
    if manifest.is_complete and manifest.ended is None:
        manifest = manifest.model_copy(update={"ended": _now()})
        job.folder.save(manifest)
    return CapturedTopic(topic=job.topic, folder=job.folder.path, manifest=manifest)


def _job(  # noqa: PLR0913, PLR0917 - what a request is for one topic
    messages: TopicMessages,
    request: CaptureRequest,
    readers: MessageReaders,
    folder: CaptureFolder,
    manifest: CaptureManifest,
    topic: TopicName,
    versions: Mapping[int, SchemaInfo],
    stopped: Callable[[], bool],
) -> CaptureJob:
    sensitive = request.sensitive.get(topic, ())
    return CaptureJob(
        topic=topic,
        readers=readers,
        folder=folder,
        firsts=_firsts(messages, manifest, topic),
        mask=topic_mask(str(topic), versions, sensitive, request.substitutes)
        if sensitive
        else None,
        stopped=stopped,
    )


def _firsts(
    messages: TopicMessages, manifest: CaptureManifest, topic: TopicName
) -> dict[int, Position | None]:
    """Where each partition begins that has none of its messages yet, by their publish time."""
    since = manifest.selection.since
    if since is None:
        return {}
    return {
        partition.partition: messages.first_position(topic, partition.partition, since)
        for partition in manifest.partitions
        if partition.last is None and partition.end is not None
    }


def _partitions(messages: TopicMessages, topic: TopicName) -> tuple[PartitionState, ...]:
    """Each with its newest message; raises NotThereError, UsageError."""
    if topic.domain != "persistent":
        raise UsageError(f"{topic} keeps no messages: only persistent topics can be captured")
    return tuple(_partition(messages, topic, number) for number in messages.partitions(topic))


def _partition(messages: TopicMessages, topic: TopicName, number: int) -> PartitionState:
    end = messages.last_position(topic, number)
    oldest = messages.trimmed_before(topic, number)
    if end is None and oldest is not None:
        end = Position(oldest, -1, -1)  # nothing is there but what compaction kept
    return PartitionState(partition=number, end=end, trimmed_before=oldest, messages_by_version={})


def _begin(
    registry: Registry,
    request: CaptureRequest,
    topic: TopicName,
    versions: Mapping[int, SchemaInfo],
    partitions: tuple[PartitionState, ...],
) -> tuple[CaptureFolder, CaptureManifest, TopicName]:
    """The folder and the manifest that a capture of a topic begins with, or goes on with."""
    folder = CaptureFolder.of(request.out, topic)
    sensitive = request.sensitive.get(topic, ())
    if sensitive:
        topic_mask(str(topic), versions, sensitive, request.substitutes)
    masking = Masking(fields=sensitive, how=request.substitutes.how) if sensitive else None
    before = folder.manifest() if folder.is_used() else None
    if before is not None and request.resume:
        _require_same(folder, before, request, masking)
        folder.check_parts(before)
        known = tuple(sorted({*before.versions, *versions}))
        return folder, before.model_copy(update={"versions": known}), topic
    if folder.is_used():
        raise UsageError(
            f"the folder {folder.path} is not empty",
            hint="--resume goes on with a capture; for a new one name another folder with --out",
        )
    manifest = CaptureManifest(
        topic=partition_name(topic, -1),
        registry=registry.name,
        address=registry.address,
        broker=registry.broker.release,
        program=f"pulsar-schema-gitops {gitops.__version__}",
        part_format=request.part_format,
        begun=_now(),
        selection=request.selection,
        masking=masking,
        is_decrypted=request.is_decrypted,
        versions=tuple(versions),
        partitions=partitions,
    )
    return folder, manifest, topic


def _require_same(
    folder: CaptureFolder,
    before: CaptureManifest,
    request: CaptureRequest,
    masking: Masking | None,
) -> None:
    """Raises UsageError where the rest would not belong to what is there."""
    wanted = {
        "--since, --until, --limit or --sample": (
            before.selection.is_same(request.selection),
            True,
        ),
        "--format": (before.part_format, request.part_format),
        "--mask, or the sensitive fields": (before.masking, masking),
        "--decryption-key": (before.is_decrypted, request.is_decrypted),
    }
    for name, (then, now) in wanted.items():
        if then != now:
            raise UsageError(
                f"the capture in {folder.path} was begun with other options: {name}",
                hint="give the same ones with --resume, or name another folder with --out",
            )


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
