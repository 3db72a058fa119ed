"""What ends a connection, a request or the sending of a message."""

from __future__ import annotations

from typing import Final

from gitops.model.errors import GitopsError, OutsideError, UnknownOutcomeError

_HINTS: Final = {
    "AuthenticationError": "check the token or the client certificate",
    "AuthorizationError": "give the role the permission `produce` on the topic or its namespace",
    "TopicNotFound": "create the topic, or allow its creation: allowAutoTopicCreation=true",
    "TopicTerminatedError": "a terminated topic accepts no messages: send to another topic",
    "ProducerBusy": "a producer of that name is connected: close it, or use another name",
    "ProducerBlockedQuotaExceededError": "consume or skip the backlog, or raise the quota",
    "ProducerBlockedQuotaExceededException": "consume or skip the backlog, or raise the quota",
    "IncompatibleSchema": "`pulsar-gitops compat` explains which field is incompatible",
}
RETRIABLE: Final = frozenset({"ServiceNotReady", "MetadataError", "TooManyRequests"})
"""The errors after which Java's client repeats a request with a fresh lookup (Pulsar 4.0.7)."""


class MessagingError(OutsideError):
    """The broker, or the connection to it, failed."""


class ConnectionFailedError(MessagingError):
    """No connection to a broker, or it has ended: another try may work."""


class DeadlineError(ConnectionFailedError):
    """The broker did not answer in time."""

    def __init__(self, what: str, seconds: float, *, where: str) -> None:
        super().__init__(
            f"{what}: no answer within {seconds:g} s",
            where=where,
            hint="check that the address is that of a Pulsar broker or proxy, and its load",
        )


class ProtocolError(ConnectionFailedError):
    """What arrived is not Pulsar's binary protocol."""

    def __init__(self, what: str) -> None:
        super().__init__(what, hint="use the broker's or proxy's binary port (6650, with TLS 6651)")


class InvalidEntryError(MessagingError):
    """An entry is not what a producer writes: its messages cannot be read."""


class BrokerRefusedError(MessagingError):
    """The broker answered with an error; `error` is its name in Pulsar's protocol."""

    def __init__(self, error: str, message: str, *, where: str = "") -> None:
        super().__init__(f"{error}: {message}", where=where, hint=_HINTS.get(error, ""))
        self.error = error
        self.message = message

    @property
    def is_retriable(self) -> bool:
        """Whether the same request may be accepted a little later."""
        return self.error in RETRIABLE and not self.demands_encryption

    @property
    def demands_encryption(self) -> bool:
        """Whether the namespace has `encryption_required`, and the producer does not encrypt.

        ServerCnx answers it as a MetadataError, which only its text tells apart (Pulsar 3.0.7 to
        5.0.0-M1).
        """
        return self.message.startswith("Encryption is required")


class SendExpiredError(UnknownOutcomeError):
    """A message was not acknowledged within the deadline of its producer."""


class InvalidValueError(GitopsError):
    """A value, or bytes in its place, do not fit the schema: nothing is sent."""

    exit_code = 1


class ClosedProducerError(GitopsError):
    """The producer is closed, or is not usable any more."""
