"""What is asked about a client, and the answer: steps, and how they end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from gitops.compatibility.connection.policies import ConnectionPolicies
from gitops.compatibility.decision import Decision, Gate, StoredHistory, StoredSchema
from gitops.compatibility.payload import as_kept
from gitops.model.clients import SchemalessClient
from gitops.model.schema import SchemaType

Role = Literal["producer", "consumer"]
Offer = StoredSchema | SchemalessClient
"""What the application gives its client: a schema, or one of those that have none of their own."""

TopicUse = Literal["idle", "active"]
"""Idle is a topic without producers, without consumers other than AUTO_CONSUME, without data."""

Request = Literal["connect", "getOrCreateSchema"]
ClientError = Literal["IncompatibleSchema", "UnknownError", "Timeout"]

PULSAR: Final = "4.0.7"
"""The broker whose behaviour the steps tell."""

NO_SCHEMA: Final = frozenset({SchemaType.NONE, SchemaType.BYTES})
"""Types that client libraries do not send, and that the broker takes for no schema."""

_WITH_INCOMPATIBLE_SCHEMA: Final = (404, 409, 422)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The topic that a client wants to connect to.

    `use` is None where nobody knows; idle is assumed then, and said.
    """

    history: StoredHistory
    policies: ConnectionPolicies
    use: TopicUse | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One question of the decision: its answer, whether it goes on from there, and why."""

    question: str
    answer: str
    passed: bool = True
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """The decision about one client, or about one further schema of a producer.

    `sent` is the schema that reaches the broker, None for none. `decision` is the last gate's:
    its version is the one that a producer's messages carry, or the one that a consumer seeds the
    topic with or has the schema of; None where there is no such version. `notes` are what follows
    later, or would follow if an assumption were wrong.
    """

    role: Role
    request: Request = "connect"
    sent: StoredSchema | None
    decision: Decision
    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether the client is let in."""
        return self.decision.accepted

    @property
    def version(self) -> int | None:
        """The version that the decision names."""
        return self.decision.version

    @property
    def registers(self) -> bool:
        """Whether connecting stores a new version."""
        return self.accepted and self.version is not None and not self.decision.known

    @property
    def error(self) -> ClientError | None:
        """The error that the client gets, None if it is let in.

        What the broker does not expect is an UnknownError, on which clients try again until their
        operation timeout. It does not even answer a producer whose definition makes the validator
        fail instead of refuse, so that the client runs into its timeout (Pulsar 4.0.7).
        """
        if self.accepted:
            return None
        if self.decision.status in _WITH_INCOMPATIBLE_SCHEMA:
            return "IncompatibleSchema"
        producer = (self.role, self.request) == ("producer", "connect")
        return "Timeout" if producer and self.decision.gate is Gate.DATA else "UnknownError"

    def history_after(self, before: StoredHistory) -> StoredHistory:
        """The topic's history once the client is connected."""
        if not self.registers or self.sent is None or self.version is None:
            return before
        return StoredHistory(
            entries=(*before.entries, (self.version, as_kept(self.sent))),
            next_version=self.version + 1,
        )
