"""Readers of pulsar-client on the partitions of a topic: no subscription is left behind."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, final

from gitops.model.errors import OutsideError, UsageError

_WAIT: Final = 1_000
"""Milliseconds that a first message is waited for; later ones of a block only _MOMENT."""

_MOMENT: Final = 20
_MOST_BYTES: Final = 4 * 1024 * 1024
"""Bytes of messages that are read at a time, and those of one more turn."""

_TURN: Final = 50
"""Messages between two looks at how large they are: to ask each takes time."""

_OPERATION_SECONDS: Final = 30


class Position(NamedTuple):
    """Where a message is in its partition; `batch` is -1 for one that is in no batch.

    Positions of one partition are in the order of its messages.
    """

    ledger: int
    entry: int
    batch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageService:
    """How a cluster is reached by Pulsar's binary protocol.

    `authorization` answers the header that admin REST gets, empty without credentials; no repr has
    it. `certificate_file` and `key_file` are those of a client certificate.
    """

    url: str
    authorization: Callable[[], str]
    ca_file: str | None = None
    verify_hostname: bool = True
    certificate_file: str | None = None
    key_file: str | None = None

    def __repr__(self) -> str:
        return f"MessageService({self.url!r})"


class PartitionReader(Protocol):
    """Reads one partition from a position on.

    Its messages have the methods of pulsar-client's Message.
    """

    def read(self, most: int) -> list[Any]:
        """The next messages, `most` at a time; none where none comes for a second."""
        ...

    def has_more(self) -> bool:
        """Whether the broker has a message that was not read; raises OutsideError."""
        ...

    def close(self) -> None:
        """Give the connection back."""
        ...


class MessageReaders(Protocol):
    """Opens readers of one cluster."""

    def open(
        self, partition: str, *, after: Position | None, since: int | None, queue: int
    ) -> PartitionReader:
        """A reader of the partition of that name; raises OutsideError.

        It begins behind `after`, else at a publish time `since` (ms since 1970), else at the oldest
        message. `queue` is how many messages are fetched ahead.
        """
        ...

    def close(self) -> None:
        """Close all connections."""
        ...


@final
class PulsarReaders:
    """Readers of pulsar-client; messages are read as bytes, whatever their schema is."""

    def __init__(self, service: MessageService, decryption_key: Path | None = None) -> None:
        import pulsar

        self._pulsar = pulsar
        self._crypto = _key_reader(pulsar, decryption_key)
        self._url = service.url
        try:
            self._client = pulsar.Client(
                service.url,
                authentication=_authentication(pulsar, service),
                operation_timeout_seconds=_OPERATION_SECONDS,
                tls_trust_certs_file_path=service.ca_file,
                tls_validate_hostname=service.verify_hostname,
                stats_interval_in_seconds=0,
                # It writes to stdout where it is not sent elsewhere; errors are raised as well.
                logger=pulsar.FileLogger(pulsar.LoggerLevel.Error, os.devnull),
            )
        except (RuntimeError, ValueError, pulsar.PulsarException) as error:
            raise UsageError(
                f"pulsar-client does not accept the service URL {service.url}",
                hint="it is as pulsar://broker.example:6650, or pulsar+ssl://… with TLS",
            ) from error

    def open(
        self, partition: str, *, after: Position | None, since: int | None, queue: int
    ) -> PartitionReader:
        """A reader of the partition of that name; raises OutsideError."""
        pulsar = self._pulsar
        start = pulsar.MessageId.earliest
        if after is not None:
            start = pulsar.MessageId(-1, after.ledger, after.entry, after.batch)
        where = f"{self._url}, {partition}"
        try:
            reader = self._client.create_reader(
                partition,
                start,
                receiver_queue_size=queue,
                crypto_key_reader=self._crypto,
                crypto_failure_action=pulsar.ConsumerCryptoFailureAction.CONSUME,
            )
            if after is None and since is not None:
                reader.seek(since)
        except pulsar.PulsarException as error:
            raise _failed(error, where) from error
        return _Reader(pulsar, reader, where)

    def close(self) -> None:
        """Close all connections."""
        try:
            self._client.close()
        except self._pulsar.PulsarException:
            self._client.shutdown()


@final
class _Reader:
    def __init__(self, pulsar: Any, reader: Any, where: str) -> None:  # noqa: ANN401 - untyped
        self._pulsar = pulsar
        self._reader = reader
        self._where = where
        # Messages without their wrapper: it would take a third of the time of a message.
        self._next: Callable[[int], Any] = reader._reader.read_next  # noqa: SLF001

    def read(self, most: int) -> list[Any]:
        found: list[Any] = []
        size, read = 0, self._next
        try:
            found.append(read(_WAIT))
            length = type(found[0]).length
            while len(found) < most and size < _MOST_BYTES:
                turn = min(_TURN, most - len(found))
                for wait in repeat(_MOMENT, turn):
                    found.append(read(wait))  # noqa: PERF401 - those before a timeout are kept
                size += sum(map(length, found[-turn:]))
        except self._pulsar.Timeout:
            pass
        except self._pulsar.PulsarException as error:
            if not found:
                raise _failed(error, self._where) from error
        return found

    def has_more(self) -> bool:
        try:
            return bool(self._reader.has_message_available())
        except self._pulsar.PulsarException as error:
            raise _failed(error, self._where) from error

    def close(self) -> None:
        try:
            self._reader.close()
        except self._pulsar.PulsarException:
            return  # the client is closed next, and with it the connection


def _failed(error: Exception, where: str) -> OutsideError:
    """The error for what pulsar-client raises: its class names the broker's answer."""
    name = type(error).__name__
    hint = _HINTS.get(name, "see the broker's log, or try again later; --resume goes on")
    return OutsideError(f"the messages cannot be read: {name}", where=where, hint=hint)


_NO_CONNECTION: Final = (
    "is the service URL one that this machine gets to? --service-url names another, and so does "
    "`serviceUrl` of the registry in gitops.yaml"
)
_NOT_ALLOWED: Final = "the role needs the permission to consume the topic"
_HINTS: Final = {
    "ConnectError": _NO_CONNECTION,
    "Timeout": _NO_CONNECTION,
    "LookupError": _NO_CONNECTION,
    "NotConnected": _NO_CONNECTION,
    "AuthenticationError": "the broker does not accept the credentials of the registry",
    "AuthorizationError": _NOT_ALLOWED,
}


def _authentication(pulsar: Any, service: MessageService) -> Any:  # noqa: ANN401 - untyped
    """The credentials of admin REST as pulsar-client has them; tokens are renewed."""
    if service.certificate_file and service.key_file:
        return pulsar.AuthenticationTLS(service.certificate_file, service.key_file)
    scheme, _, value = service.authorization().partition(" ")
    if scheme == "Basic":
        name, _, password = base64.b64decode(value).decode().partition(":")
        return pulsar.AuthenticationBasic(name, password)
    if scheme == "Bearer":
        return pulsar.AuthenticationToken(partial(_token, service.authorization))
    return None


def _token(authorization: Callable[[], str]) -> str:
    return authorization().removeprefix("Bearer ")


def _key_reader(pulsar: Any, key: Path | None) -> Any:  # noqa: ANN401 - untyped
    if key is None:
        return None
    if not key.is_file():
        raise UsageError(
            f"there is no file {key}", hint="--decryption-key names a private key as PEM"
        )
    return pulsar.CryptoKeyReader(str(key), str(key))
