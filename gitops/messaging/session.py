"""A producer on the broker that has its topic: opened, and opened again wherever it goes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from gitops.messaging.cluster import Cluster
from gitops.messaging.connection import GET_OR_CREATE_VERSION, Connection, refusal
from gitops.messaging.errors import (
    BrokerRefusedError,
    ClosedProducerError,
    ConnectionFailedError,
    DeadlineError,
    MessagingError,
)
from gitops.messaging.retries import delays, retry
from gitops.messaging.schema_versions import MultiSchema, Version
from gitops.messaging.values.schema import ValueSchema, key_values
from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.model.errors import UsageError

_FATAL_WHEN_REOPENED: Final = frozenset(
    {
        "TopicTerminatedError",
        "ProducerFenced",
        "AuthorizationError",
        "AuthenticationError",
        "TopicNotFound",
        "InvalidTopicName",
        "IncompatibleSchema",
        "NotAllowedError",
        "UnsupportedVersionError",
    }
)
"""What a producer that was open does not survive: another try would be answered the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerIdentity:
    """What a broker is told of a producer; `name` None lets it choose one.

    `partition` is the number of the topic among those of a partitioned one, -1 for any other.
    """

    topic: str
    schema: ValueSchema
    name: str | None = None
    multi_schema: MultiSchema = "disabled"
    partition: int = -1
    properties: Mapping[str, str] = field(default_factory=dict)
    is_encrypted: bool = False


class SessionEvents(Protocol):
    """What a session tells the producer that it belongs to."""

    def on_attach(self, opened: api.CommandProducerSuccess, max_message_size: int) -> None:
        """It is open on a broker: whatever is not acknowledged is sent, in order."""
        ...

    def on_failure(self, cause: Exception) -> None:
        """It will not be open again."""
        ...

    def on_receipt(self, receipt: api.CommandSendReceipt) -> None:
        """As a connection has it."""
        ...

    def on_send_error(self, error: api.CommandSendError) -> None:
        """As a connection has it."""
        ...


class ProducerSession:
    """Keeps a producer open under one name and one id, whatever happens to connections.

    It is a connection's ProducerEvents.
    """

    def __init__(self, cluster: Cluster, identity: ProducerIdentity, events: SessionEvents) -> None:
        self.producer_id: Final = cluster.next_id()
        self.topic: Final = identity.topic
        self._cluster = cluster
        self._identity = identity
        self._events = events
        self._name = identity.name
        self._epoch = 0
        self._connection: Connection | None = None
        self._attached = asyncio.Event()
        self._failure: Exception | None = None
        self._delays = delays()
        self._has_waited = False
        self._reopening: asyncio.Task[None] | None = None
        self.on_receipt: Callable[[api.CommandSendReceipt], None] = events.on_receipt
        self.on_send_error: Callable[[api.CommandSendError], None] = events.on_send_error

    async def open(self) -> None:
        """Open it for the first time; errors that may pass are tried again for a request's time.

        Raises BrokerRefusedError, ConnectionFailedError, UsageError.
        """
        await retry(lambda: self._attach(None), self._cluster.deadlines.request)

    def write(self, frame: bytes) -> None:
        """Send a frame if there is a connection; if not, it is sent by `on_attach`."""
        if self._connection is not None:
            self._connection.write(frame)

    def acknowledge(self) -> None:
        """The broker works: the next reconnection is tried soon again."""
        if self._has_waited:
            self._has_waited = False
            self._delays = delays()

    def reconnect(self, cause: MessagingError) -> None:
        """Give up the connection, so that all that is not acknowledged is sent again."""
        if self._connection is not None:
            self._connection.fail(cause)

    def on_detach(self, assigned: str | None) -> None:
        """Look for the broker that has the topic now.

        While it is being opened there is nothing to do: whoever opens it finds that it failed.
        """
        if self._connection is None:
            return
        self._connection = None
        self._attached.clear()
        if self._failure is None and self._reopening is None:
            self._reopening = asyncio.create_task(self._reopen(assigned))

    async def version_of(self, schema: ValueSchema) -> Version:
        """The version that the broker has or makes for a schema; repeated while errors may pass.

        Raises BrokerRefusedError with the broker's reason.
        """
        for delay in delays():
            await self._attached.wait()
            if self._failure is not None:
                raise self._failure
            try:
                return await self._version_of(schema)
            except BrokerRefusedError as error:
                if not error.is_retriable:
                    raise
            except ConnectionFailedError:
                pass  # the session reconnects
            await asyncio.sleep(delay)
        raise AssertionError("delays never end")

    async def close(self) -> None:
        """Close the producer on the broker, if one is there."""
        connection, self._connection = self._connection, None
        self._fail(ClosedProducerError("the producer is closed", where=self.topic), tell=False)
        if self._reopening is not None:
            self._reopening.cancel()
            await asyncio.gather(self._reopening, return_exceptions=True)
        if connection is not None and connection.is_open:
            connection.producers.pop(self.producer_id, None)
            try:
                await connection.request(
                    api.BaseCommand.CLOSE_PRODUCER, producer_id=self.producer_id
                )
            except MessagingError:
                return  # it is closed with its connection

    async def _reopen(self, assigned: str | None) -> None:
        """Try until it is open, or cannot be."""
        try:
            while self._failure is None and self._connection is None:
                if assigned is None:
                    self._has_waited = True
                    await asyncio.sleep(next(self._delays))
                self._epoch += 1
                try:
                    await self._attach(assigned)
                except BrokerRefusedError as error:
                    if error.error in _FATAL_WHEN_REOPENED:
                        self._fail(error)
                except MessagingError:
                    pass
                assigned = None
        except Exception as error:  # noqa: BLE001 - nobody awaits this task: messages tell it
            self._fail(error)
        finally:
            self._reopening = None

    async def _attach(self, assigned: str | None) -> None:
        connection = await self._cluster.connect(self.topic, assigned)
        self._check_version(connection)
        connection.producers[self.producer_id] = self
        try:
            opened: api.CommandProducerSuccess = await connection.request(
                api.BaseCommand.PRODUCER, **self._command()
            )
        except BaseException as error:
            connection.producers.pop(self.producer_id, None)
            if isinstance(error, DeadlineError):
                await self._forget(connection)
            raise
        if not connection.is_open or self.producer_id not in connection.producers:
            raise ConnectionFailedError("the producer was closed at once", where=self.topic)
        self._name = opened.producer_name
        self._connection = connection
        self._events.on_attach(opened, connection.max_message_size)
        self._attached.set()

    def _check_version(self, connection: Connection) -> None:
        enabled = self._identity.multi_schema == "enabled"
        if enabled and connection.protocol_version < GET_OR_CREATE_VERSION:
            raise UsageError(
                f"version {connection.protocol_version} of the broker's protocol has no command for"
                " further schemas",
                where=connection.where,
                hint='use multi_schema="auto", or a broker of Pulsar 2.5 or newer',
            )

    def _command(self) -> dict[str, Any]:
        identity = self._identity
        command: dict[str, Any] = {
            "topic": self.topic,
            "producer_id": self.producer_id,
            "epoch": self._epoch,
            "user_provided_producer_name": identity.name is not None,
            "metadata": key_values(identity.properties),
            "encrypted": identity.is_encrypted,
        }
        if self._name is not None:
            command["producer_name"] = self._name
        if identity.schema.has_definition:
            command["schema"] = identity.schema.to_wire()
        return command

    async def _forget(self, connection: Connection) -> None:
        """The broker may still open it later: have it closed then, as Java's client does."""
        try:
            await connection.request(api.BaseCommand.CLOSE_PRODUCER, producer_id=self.producer_id)
        except MessagingError as error:
            connection.fail(error)

    async def _version_of(self, schema: ValueSchema) -> Version:
        connection = self._connection
        if connection is None:
            raise ConnectionFailedError("the connection has ended", where=self.topic)
        if connection.protocol_version < GET_OR_CREATE_VERSION:
            return await self._version_by_producer(connection, schema)
        result: api.CommandGetOrCreateSchemaResponse = await connection.request(
            api.BaseCommand.GET_OR_CREATE_SCHEMA, topic=self.topic, schema=schema.to_wire()
        )
        if result.HasField("error_code"):
            raise refusal(result.error_code, result.error_message, self.topic)
        return result.schema_version

    async def _version_by_producer(self, connection: Connection, schema: ValueSchema) -> Version:
        """What an older broker answers when another producer opens with that schema."""
        producer_id = self._cluster.next_id()
        described = {"schema": schema.to_wire()} if schema.has_definition else {}
        opened: api.CommandProducerSuccess = await connection.request(
            api.BaseCommand.PRODUCER, topic=self.topic, producer_id=producer_id, **described
        )
        await connection.request(api.BaseCommand.CLOSE_PRODUCER, producer_id=producer_id)
        return opened.schema_version

    def _fail(self, cause: Exception, *, tell: bool = True) -> None:
        if self._failure is None:
            self._failure = cause
            self._attached.set()  # whoever waits sees the failure
            if tell:
                self._events.on_failure(cause)
