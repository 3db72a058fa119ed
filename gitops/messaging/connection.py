"""One connection to a broker: greeting, requests and their answers, keep-alive."""

from __future__ import annotations

import asyncio
import itertools
import ssl
from collections.abc import Callable
from typing import Any, Final, Protocol

from google.protobuf.message import Message

from gitops import __version__
from gitops.messaging.addresses import ServiceAddress
from gitops.messaging.connection_settings import PROTOCOL_VERSION, ConnectionSettings, deadline
from gitops.messaging.errors import (
    BrokerRefusedError,
    ConnectionFailedError,
    DeadlineError,
    MessagingError,
    ProtocolError,
)
from gitops.messaging.wire import pulsar_api_pb2 as api
from gitops.messaging.wire.frames import DEFAULT_MESSAGE_SIZE, FrameBuffer, command_frame

CLIENT_VERSION: Final = f"pulsar-schema-gitops-{__version__}"
GET_OR_CREATE_VERSION: Final = 15
"""The first version with CommandGetOrCreateSchema (Pulsar 2.5)."""
_WRITTEN_TOGETHER: Final = 64 * 1024
"""Bytes of frames that are handed to the socket at once."""
_LARGEST_BACKLOG: Final = 1024 * 1024
"""Bytes that wait to be written above which a PING is not answered: the server does not read."""


class ProducerEvents(Protocol):
    """What a connection tells a producer that is open on it."""

    def on_receipt(self, receipt: api.CommandSendReceipt) -> None:
        """The broker has stored a message or a batch."""
        ...

    def on_send_error(self, error: api.CommandSendError) -> None:
        """The broker has refused a message or a batch."""
        ...

    def on_detach(self, assigned: str | None) -> None:
        """The connection has ended, or the broker has closed the producer there.

        `assigned` is the service URL of the broker that has the topic from now on, if it is known.
        """
        ...


class ConsumerEvents(Protocol):
    """What a connection tells a consumer that is open on it."""

    def on_message(self, message: api.CommandMessage, content: bytes) -> None:
        """An entry came: a message or a batch, as `read_content` reads it."""
        ...

    def on_detach(self, assigned: str | None) -> None:
        """As a producer has it."""
        ...


class Connection(asyncio.Protocol):
    """Commands to and from one broker; made by `open_connection`.

    Whatever the server sends, at most one frame is held in memory, and every wait has a deadline.
    """

    def __init__(self, address: ServiceAddress, settings: ConnectionSettings) -> None:
        self.where: Final = str(address)
        self.protocol_version = 0
        self.max_message_size = DEFAULT_MESSAGE_SIZE
        self.producers: dict[int, ProducerEvents] = {}
        self.consumers: dict[int, ConsumerEvents] = {}
        self._offered = settings.protocol_version
        self._login = settings.login
        self._deadlines = settings.deadlines
        self._secret = b""
        self._frames = FrameBuffer()
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._greeting: asyncio.Future[api.CommandConnected] | None = None
        self._transport: asyncio.Transport | None = None
        self._failure: MessagingError | None = None
        self._outgoing = bytearray()
        self._writing: asyncio.Handle | None = None
        self._is_silent = False
        self._keep_alive: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._handlers: dict[int, Callable[[Any], None]] = {
            api.BaseCommand.CONNECTED: self._on_connected,
            api.BaseCommand.PING: self._on_ping,
            api.BaseCommand.PONG: self._on_pong,
            api.BaseCommand.AUTH_CHALLENGE: self._on_challenge,
            api.BaseCommand.ERROR: self._on_error,
            api.BaseCommand.SEND_RECEIPT: self._on_receipt,
            api.BaseCommand.SEND_ERROR: self._on_send_error,
            api.BaseCommand.CLOSE_PRODUCER: self._on_close_producer,
            api.BaseCommand.CLOSE_CONSUMER: self._on_close_consumer,
        }

    @property
    def is_open(self) -> bool:
        """Whether commands can be written."""
        return self._failure is None and self._transport is not None

    async def greet(self, proxied: ServiceAddress | None) -> None:
        """Send CONNECT and wait for CONNECTED; `proxied` is the broker that a proxy leads to.

        Raises BrokerRefusedError where we are not let in, ConnectionFailedError.
        """
        loop = asyncio.get_running_loop()
        self._greeting = loop.create_future()
        self._secret = await self._login.data()
        connect = api.CommandConnect(
            client_version=CLIENT_VERSION,
            auth_method_name=self._login.method,
            auth_data=self._secret,
            protocol_version=self._offered,
            feature_flags=api.FeatureFlags(supports_auth_refresh=True),
        )
        if proxied is not None:
            connect.proxy_to_broker_url = proxied.authority
        self.write(command_frame(api.BaseCommand(type=api.BaseCommand.CONNECT, connect=connect)))
        connected = await self._greeting
        self.protocol_version = min(connected.protocol_version, self._offered)
        if connected.max_message_size > 0:
            self.max_message_size = connected.max_message_size
            self._frames.accept(connected.max_message_size)
        self._keep_alive = loop.call_later(self._deadlines.keep_alive, self._check_alive)

    async def request(self, kind: int, **fields: Any) -> Any:  # noqa: ANN401 - any command's fields
        """Send a command with a fresh request id; answers the response's command.

        Raises BrokerRefusedError, ConnectionFailedError, and DeadlineError where none comes.
        """
        request_id = next(self._ids)
        answer = asyncio.get_running_loop().create_future()
        self._answers[request_id] = answer
        try:
            self.write(_request_frame(kind, request_id, fields))
            name = api.BaseCommand.Type.Name(kind)
            async with deadline(self._deadlines.request, f"{name} was sent", self.where):
                value = await answer
        finally:
            self._answers.pop(request_id, None)
        if not isinstance(value, _RESPONSES[kind]):
            error = ProtocolError(f"the server answered {name} with another command")
            self._end(error)
            raise error
        return value

    def write(self, frame: bytes) -> None:
        """Hand a frame to the socket, with others; raises ConnectionFailedError once it has ended.

        Small frames go together once the caller lets the event loop run: a call of the system for
        each is most of what a small message costs.
        """
        if self._failure is not None:
            raise self._failure
        if self._transport is None:
            raise ConnectionFailedError("the connection is not open yet", where=self.where)
        self._outgoing += frame
        if len(self._outgoing) >= _WRITTEN_TOGETHER:
            self._write_out()
        elif self._writing is None:
            self._writing = asyncio.get_running_loop().call_soon(self._write_out)

    def _write_out(self) -> None:
        if self._writing is not None:
            self._writing.cancel()
            self._writing = None
        data, self._outgoing = self._outgoing, bytearray()
        # If it is closing, `connection_lost` comes next.
        if data and self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def close(self) -> None:
        """End the connection; whoever waits for an answer gets an error."""
        self._end(ConnectionFailedError("the connection was closed", where=self.where))

    def fail(self, cause: MessagingError) -> None:
        """End the connection since it is of no more use; its producers open another one."""
        self._end(cause)

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember where to write."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - asyncio's own promise
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Handle each complete command; what cannot be one ends the connection."""
        self._is_silent = False
        try:
            for command, content in self._frames.feed(data):
                if command.type == api.BaseCommand.MESSAGE:
                    self._on_message(command.message, content)
                else:
                    self._handle(command)
                if self._failure is not None:
                    return
        except ProtocolError as error:
            error.where = self.where
            self._end(error)

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket has ended."""
        reason = f": {exc}" if exc else ""
        self._end(
            ConnectionFailedError(f"the broker closed the connection{reason}", where=self.where)
        )

    # Commands of the server.

    def _handle(self, command: api.BaseCommand) -> None:
        content = getattr(command, _FIELDS[command.type])
        if handler := self._handlers.get(command.type):
            handler(content)
            return
        answer = self._answers.get(getattr(content, "request_id", -1))
        if answer is not None and not answer.done():
            answer.set_result(content)

    def _on_message(self, message: api.CommandMessage, content: bytes) -> None:
        if consumer := self.consumers.get(message.consumer_id):
            consumer.on_message(message, content)

    def _on_connected(self, connected: api.CommandConnected) -> None:
        if self._greeting is not None and not self._greeting.done():
            self._greeting.set_result(connected)

    def _on_ping(self, _ping: api.CommandPing) -> None:
        backlog = self._transport.get_write_buffer_size() if self._transport else 0
        if backlog < _LARGEST_BACKLOG:
            self.write(_PONG)

    def _on_pong(self, _pong: api.CommandPong) -> None:
        """Any command shows that the server is there."""

    def _on_challenge(self, _challenge: api.CommandAuthChallenge) -> None:
        if len(self._tasks) == 0:  # a server that asks on and on is answered one at a time
            task = asyncio.get_running_loop().create_task(self._answer_challenge())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _answer_challenge(self) -> None:
        try:
            self._secret = await self._login.data()
            data = api.AuthData(auth_method_name=self._login.method, auth_data=self._secret)
            response = api.CommandAuthResponse(
                client_version=CLIENT_VERSION, response=data, protocol_version=PROTOCOL_VERSION
            )
            kind = api.BaseCommand.AUTH_RESPONSE
            self.write(command_frame(api.BaseCommand(type=kind, authResponse=response)))
        except ConnectionFailedError:
            return
        except Exception as error:  # noqa: BLE001 - the supplier is code of the caller
            name = type(error).__name__
            self._end(MessagingError(f"no fresh token: {name}", where=self.where))

    def _on_error(self, error: api.CommandError) -> None:
        result = refusal(error.error, self._redact(error.message), self.where)
        answer = self._answers.get(error.request_id)
        if answer is not None and not answer.done():
            answer.set_exception(result)
        elif self._greeting is not None and not self._greeting.done():
            self._end(result)

    def _on_receipt(self, receipt: api.CommandSendReceipt) -> None:
        if producer := self.producers.get(receipt.producer_id):
            producer.on_receipt(receipt)

    def _on_send_error(self, error: api.CommandSendError) -> None:
        if producer := self.producers.get(error.producer_id):
            error.message = self._redact(error.message)
            producer.on_send_error(error)

    def _on_close_producer(self, close: api.CommandCloseProducer) -> None:
        if producer := self.producers.pop(close.producer_id, None):
            producer.on_detach(self._assigned(close))

    def _on_close_consumer(self, close: api.CommandCloseConsumer) -> None:
        if consumer := self.consumers.pop(close.consumer_id, None):
            consumer.on_detach(self._assigned(close))

    def _assigned(self, close: api.CommandCloseProducer | api.CommandCloseConsumer) -> str | None:
        """The service URL of the broker that has the topic now, if the command names it."""
        secure = self.where.startswith("pulsar+ssl")
        url = close.assignedBrokerServiceUrlTls if secure else close.assignedBrokerServiceUrl
        return url or None

    def _redact(self, text: str) -> str:
        """A broker's text without our secret, should it repeat it."""
        secret = self._secret.decode()
        return text.replace(secret, "…") if secret else text

    # The end.

    def _check_alive(self) -> None:
        if self._failure is not None:
            return
        if self._is_silent:
            seconds = self._deadlines.keep_alive
            self._end(DeadlineError("a PING was sent", seconds, where=self.where))
            return
        self._is_silent = True
        self.write(_PING)
        loop = asyncio.get_running_loop()
        self._keep_alive = loop.call_later(self._deadlines.keep_alive, self._check_alive)

    def _end(self, cause: MessagingError) -> None:
        """Once: close the socket, fail what waits, and tell whoever is open on it."""
        if self._failure is not None:
            return
        self._failure = cause
        for timer in (self._keep_alive, self._writing):
            if timer is not None:
                timer.cancel()
        if self._transport is not None:
            # Not `close`, which waits: for a server that may not read, or for the end of TLS.
            self._transport.abort()
        waiting = [*self._answers.values(), *([self._greeting] if self._greeting else [])]
        for answer in waiting:
            if not answer.done():
                answer.set_exception(cause)
        opened: list[ProducerEvents | ConsumerEvents]
        opened = [*self.producers.values(), *self.consumers.values()]
        self.producers, self.consumers = {}, {}
        for item in opened:
            item.on_detach(None)


_FIELDS: Final = {
    number: api.BaseCommand.DESCRIPTOR.fields_by_number[number].name
    for number in api.BaseCommand.Type.values()
}
"""The field that holds the command of a type: its number is that of the type."""

_RESPONSES: Final[dict[int, type[Message]]] = {
    api.BaseCommand.PARTITIONED_METADATA: api.CommandPartitionedTopicMetadataResponse,
    api.BaseCommand.LOOKUP: api.CommandLookupTopicResponse,
    api.BaseCommand.PRODUCER: api.CommandProducerSuccess,
    api.BaseCommand.CLOSE_PRODUCER: api.CommandSuccess,
    api.BaseCommand.SUBSCRIBE: api.CommandSuccess,
    api.BaseCommand.CLOSE_CONSUMER: api.CommandSuccess,
    api.BaseCommand.GET_LAST_MESSAGE_ID: api.CommandGetLastMessageIdResponse,
    api.BaseCommand.GET_SCHEMA: api.CommandGetSchemaResponse,
    api.BaseCommand.GET_OR_CREATE_SCHEMA: api.CommandGetOrCreateSchemaResponse,
}
_PING: Final = command_frame(api.BaseCommand(type=api.BaseCommand.PING, ping=api.CommandPing()))
_PONG: Final = command_frame(api.BaseCommand(type=api.BaseCommand.PONG, pong=api.CommandPong()))


def _request_frame(kind: int, request_id: int, fields: dict[str, Any]) -> bytes:
    command = api.BaseCommand(type=api.BaseCommand.Type.Name(kind))
    content = getattr(command, _FIELDS[kind])
    content.MergeFrom(type(content)(request_id=request_id, **fields))
    return command_frame(command)


def refusal(error: int, message: str, where: str) -> BrokerRefusedError:
    """The error of a response; `where` is the topic or the address."""
    name = api.ServerError.Name(error)
    return BrokerRefusedError(name, message or "no reason given", where=where)


async def open_connection(
    address: ServiceAddress, settings: ConnectionSettings, proxied: ServiceAddress | None = None
) -> Connection:
    """Connect and greet; `proxied` is the broker that the proxy at `address` leads to.

    Raises BrokerRefusedError, ConnectionFailedError.
    """
    loop = asyncio.get_running_loop()
    connection = Connection(address, settings)
    context = (settings.tls or ssl.create_default_context()) if address.is_secure else None
    async with deadline(settings.deadlines.connect, "the connection was begun", str(address)):
        try:
            await loop.create_connection(
                lambda: connection, address.host, address.port, ssl=context
            )
            await connection.greet(proxied)
        except OSError as error:  # also ssl.SSLError
            raise ConnectionFailedError(
                f"cannot connect: {error.strerror or error}",
                where=str(address),
                hint="check the address, the port and, with pulsar+ssl, the certificates",
            ) from error
        except BaseException:
            connection.close()
            raise
    return connection
