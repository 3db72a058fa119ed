"""Sends a capture's messages to a topic, in order, and knows at any moment how far it is.

A broker with deduplication leaves out a batch whose first sequence id it has, with all that is in
it (Pulsar 4.0.7). So what it has is never sent again: a message's sequence id is its number in the
capture, and those up to the last one of a partition are there. That holds because each partition
gets its messages in order, and nothing goes on behind a message that was given up.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final, NamedTuple

from gitops.messaging.batches import MessageId
from gitops.messaging.client import MessagingClient
from gitops.messaging.connection_settings import ConnectionSettings
from gitops.messaging.errors import (
    BrokerRefusedError,
    ConnectionFailedError,
    InvalidValueError,
    SendExpiredError,
)
from gitops.messaging.message import Message
from gitops.messaging.producer import Producer
from gitops.messaging.publish_capture import CaptureSource, PlacedMessage
from gitops.messaging.publish_journal import PublicationJournal, PublicationState
from gitops.messaging.routing import HASHES
from gitops.messaging.settings import ProducerSettings
from gitops.messaging.values.schema import BytesSchema, ValueSchema
from gitops.model.errors import UsageError
from gitops.ports import Progress, no_progress

PATIENCE: Final = 30.0
"""Seconds without an acknowledgement after which the broker counts as gone."""
_FOREVER: Final = 10 * 365 * 24 * 3600.0
"""Messages never expire one by one: a later one must not be stored where an earlier one is not."""
_SLICE: Final = 5_000
"""Messages between two writes of the journal."""
_TURN: Final = 64
"""Messages between two turns of the event loop."""
_REASONS: Final = 20
_OTHERS: Final = "other reasons"
_REFUSED_ALONE: Final = frozenset({"IncompatibleSchema", "NotAllowedError"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishJob:
    """What is published, to where, and how; `rate` is in messages per second, None for any."""

    source: CaptureSource
    topic: str
    service_url: str
    settings: ConnectionSettings
    journal: PublicationJournal
    rate: int | None = None
    patience: float = PATIENCE
    stopped: Callable[[], bool] = lambda: False
    progress: Progress = no_progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """How it ended; `versions` are the topic's versions of the capture's, refused ones left out.

    `repeated` are how many messages behind `state.done` of the run before may be there twice.
    `cause` ended it before its end. `is_of_all` is false where the capture had not come to its end.
    """

    state: PublicationState
    total: int
    versions: Mapping[int, int]
    repeated: int = 0
    cause: Exception | None = None
    is_of_all: bool = True

    @property
    def is_complete(self) -> bool:
        """Whether each message is acknowledged or refused."""
        return self.state.done == self.total


class _Sent(NamedTuple):
    number: int
    since: float
    receipt: asyncio.Future[MessageId]


async def publish_topic(job: PublishJob, state: PublicationState) -> Publication:
    """Publish what is left; raises what keeps it from beginning, answers what ends it later."""
    async with MessagingClient(job.service_url, job.settings) as client:
        schemas = _Schemas.of(job.source)
        producer = await _open(client, job, schemas, _settings(job, state))
        if producer is None:
            return _all_refused(job, state, schemas)
        try:
            await schemas.register(producer, job.patience)
            return await _Publisher(job, producer, schemas, state).run()
        finally:
            # Not flushed: whatever is not acknowledged was given up.
            for partition in producer.partitions:
                await partition.close()


async def _open(
    client: MessagingClient, job: PublishJob, schemas: _Schemas, settings: ProducerSettings
) -> Producer | None:
    """As `_Schemas.open`; raises UsageError where encryption is demanded that messages have not."""
    try:
        return await schemas.open(client, job.topic, settings)
    except BrokerRefusedError as error:
        if not error.demands_encryption:
            raise
    if plain := job.source.total - job.source.count_encrypted():
        raise UsageError(
            f"the namespace of {job.topic} demands encryption, and {plain:,} of "
            f"{job.source.total:,} messages of the capture are not encrypted",
            hint="publish to a namespace without encryption_required, or capture encrypted "
            "messages without --decryption-key",
        )
    return await schemas.open(client, job.topic, replace(settings, is_encrypted=True))


def _settings(job: PublishJob, state: PublicationState) -> ProducerSettings:
    return ProducerSettings(
        name=state.producer_name,
        multi_schema="auto",
        send_seconds=_FOREVER,
        room_seconds=job.patience,
    )


def _all_refused(job: PublishJob, state: PublicationState, schemas: _Schemas) -> Publication:
    total, counts = job.source.total, job.source.counts
    failed = {reason: counts[version] for version, reason in schemas.refused.items()}
    ended = state.model_copy(update={"done": total, "handed": total, "failed": failed})
    return Publication(state=ended, total=total, versions={})


@dataclass(slots=True)
class _Schemas:
    """The schemas of the messages by version, None for none, and what became of each."""

    all: Mapping[int | None, ValueSchema]
    refused: dict[int | None, str] = field(default_factory=dict)
    versions: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, source: CaptureSource) -> _Schemas:
        """In the order of their versions, in which they came to the captured topic."""
        grouped: dict[int | None, ValueSchema] = {
            version: BytesSchema(info) for version, info in source.schemas.items()
        }
        if source.counts[None]:
            grouped[None] = BytesSchema()
        return cls(grouped)

    async def open(
        self, client: MessagingClient, topic: str, settings: ProducerSettings
    ) -> Producer | None:
        """A producer with the first schema that is accepted; None where none is."""
        for version, schema in self.all.items():
            try:
                return await client.producer(topic, schema, settings)
            except BrokerRefusedError as error:
                self._refuse(version, error)
        return None

    async def register(self, producer: Producer, seconds: float) -> None:
        """Ask for the version of each, oldest first; raises ConnectionFailedError."""
        for version, schema in self.all.items():
            if version in self.refused:
                continue
            try:
                async with asyncio.timeout(seconds):
                    data = await producer.register(schema)
            except BrokerRefusedError as error:
                self._refuse(version, error)
            except TimeoutError:
                raise _gone(producer.topic, seconds) from None
            else:
                if version is not None:
                    self.versions[version] = int.from_bytes(data, "big")

    def _refuse(self, version: int | None, error: BrokerRefusedError) -> None:
        if error.error != "IncompatibleSchema":
            raise error
        what = "no schema" if version is None else f"v{version}"
        self.refused[version] = f"{what} refused: {error.message}"


class _Publisher:
    """Sends messages and settles them in their order."""

    def __init__(
        self, job: PublishJob, producer: Producer, schemas: _Schemas, state: PublicationState
    ) -> None:
        self._job = job
        self._producer = producer
        self._schemas = schemas
        self._before = state
        self._last = [partition.last_sequence_id for partition in producer.partitions]
        self._done = state.done
        self._failed = Counter(state.failed)
        self._sent: deque[_Sent] = deque()
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()

    async def run(self) -> Publication:
        """Send until all is settled, somebody stops it, or it fails."""
        self._require_partitions()
        cause: Exception | None = None
        try:
            await self._send_all()
            await self._settle_all()
        except Exception as error:  # noqa: BLE001 - it is told with how far it came
            cause = error
        for message_id in self._sent:
            message_id.receipt.add_done_callback(_ignore)
        state = self._state(self._sent[-1].number + 1 if self._sent else self._done)
        self._job.journal.save(state)
        return Publication(
            state=state,
            total=self._job.source.total,
            versions=self._schemas.versions,
            repeated=self._repeated(),
            cause=cause,
        )

    def _require_partitions(self) -> None:
        """A partition's last sequence id says nothing where messages went to others before."""
        before, now = self._before.partitions, len(self._last)
        if self._before.handed and before != now:
            raise UsageError(
                f"{self._job.topic} had {before} partitions when the publication began, now {now}",
                hint=f"remove {self._job.journal.path}, and publish to an empty topic",
            )

    def _repeated(self) -> int:
        """A broker with deduplication knows the name, unless it has nothing of it."""
        return 0 if max(self._last) >= 0 else self._before.handed - self._before.done

    async def _send_all(self) -> None:
        size = min(_SLICE, self._job.rate or _SLICE)
        handed = 0
        for number, placed in islice(enumerate(self._job.source.messages()), self._done, None):
            if self._job.stopped():
                return
            if number >= handed:
                handed = min(number + size, self._job.source.total)
                self._job.journal.save(self._state(handed))
                self._tell()
            await self._pace(number)
            await self._send(number, placed)
            self._settle()

    async def _pace(self, number: int) -> None:
        if self._job.rate is not None:
            due = self._began + (number - self._before.done) / self._job.rate
            await asyncio.sleep(due - self._loop.time())
        elif number % _TURN == 0:
            await asyncio.sleep(0)

    async def _send(self, number: int, placed: PlacedMessage) -> None:
        """Hand a message over, unless it is refused, or there."""
        receipt: asyncio.Future[MessageId]
        try:
            message = self._message(number, placed)
            if number <= self._last[message.partition or 0]:
                receipt = self._loop.create_future()
                receipt.set_result(MessageId(-1, -1))
            else:
                receipt = await self._enqueue(message)
        except InvalidValueError as error:
            receipt = self._loop.create_future()
            receipt.set_exception(error)
        self._sent.append(_Sent(number, self._loop.time(), receipt))

    def _message(self, number: int, placed: PlacedMessage) -> Message:
        """What is sent; raises InvalidValueError."""
        version = placed.message.schema_version
        if reason := self._schemas.refused.get(version):
            raise InvalidValueError(reason)
        message = placed.message.to_message(self._schemas.all[version])
        message.sequence_id = number
        message.partition = partition_of(
            placed.partition, message.key, self._job.source.partitions, len(self._last)
        )
        return message

    async def _enqueue(self, message: Message) -> asyncio.Future[MessageId]:
        try:
            return await self._producer.enqueue(message)
        except SendExpiredError:
            raise _gone(self._job.topic, self._job.patience) from None

    def _settle(self) -> None:
        """Count those that have ended, oldest first; raises what ends the publication."""
        while self._sent and self._sent[0].receipt.done():
            error = self._sent[0].receipt.exception()
            if error is not None:
                reason = _reason_alone(error)
                is_known = reason in self._failed or len(self._failed) < _REASONS
                self._failed[reason if is_known else _OTHERS] += 1
            self._done = self._sent.popleft().number + 1
        if self._sent and self._loop.time() - self._sent[0].since > self._job.patience:
            raise _gone(self._job.topic, self._job.patience)

    async def _settle_all(self) -> None:
        while self._sent:
            await asyncio.wait([self._sent[0].receipt], timeout=self._job.patience)
            self._settle()
        self._tell()

    def _tell(self) -> None:
        self._job.progress(f"publishing to {self._job.topic}", self._done, self._job.source.total)

    def _state(self, handed: int) -> PublicationState:
        return self._before.model_copy(
            update={
                "partitions": len(self._last),
                "done": self._done,
                "handed": max(handed, self._before.handed),
                "failed": dict(self._failed),
            }
        )


def partition_of(partition: int, key: str | None, before: int, now: int) -> int:
    """The partition of a topic with `now` of them for a message of one with `before`.

    The same where they are as many; else by the key, and without one by the partition that it was
    in, so that the order of each key, and of those without, is kept.
    """
    if before == now:
        return partition
    return (partition if key is None else HASHES["JavaStringHash"](key)) % now


def _reason_alone(error: BaseException) -> str:
    """Why a message failed that fails alone; raises what is no fault of the message."""
    if isinstance(error, InvalidValueError):
        return error.what
    if isinstance(error, BrokerRefusedError) and error.error in _REFUSED_ALONE:
        return error.what
    raise error


def _gone(topic: str, seconds: float) -> ConnectionFailedError:
    return ConnectionFailedError(f"the broker acknowledged nothing for {seconds:g} s", where=topic)


def _ignore(receipt: asyncio.Future[MessageId]) -> None:
    """Nobody waits for it any more."""
    if not receipt.cancelled():
        receipt.exception()
