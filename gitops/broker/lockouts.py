"""Kinds of clients that can connect before a change and not after it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from gitops.broker.connection import Admission, ConnectionTarget, Offer, Role
from gitops.broker.consumer_connection import admit_consumer
from gitops.broker.producer_connection import admit_producer
from gitops.model.policy import SchemaCompatibilityStrategy

_STRICTNESS: Final = {
    SchemaCompatibilityStrategy.ALWAYS_COMPATIBLE: 0,
    SchemaCompatibilityStrategy.BACKWARD_TRANSITIVE: 2,
    SchemaCompatibilityStrategy.FULL_TRANSITIVE: 3,
    SchemaCompatibilityStrategy.ALWAYS_INCOMPATIBLE: 4,
}
"""What consumers are compared with: nothing; that they read the latest version (1, the others);
that they read every version; that the versions read theirs, too; nobody is let in (Pulsar 4.0.7).
"""

ROLES: Final[tuple[Role, ...]] = ("consumer", "producer")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientKind:
    """Clients of one role with one schema; `clients` are the declared ones.

    `version` is that of their schema, None for one that is no version and for clients without.
    `is_example`: the schema is an example of those that nobody has registered.
    """

    role: Role
    offer: Offer
    version: int | None = None
    clients: tuple[str, ...] = ()
    is_example: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Lockout:
    """A kind of client that can connect before a change and not after it, and why not."""

    kind: ClientKind
    reason: str


def find_lockouts(
    before: ConnectionTarget, after: ConnectionTarget, kinds: Iterable[ClientKind]
) -> tuple[Lockout, ...]:
    """The kinds that `before` accepts and `after` refuses.

    A kind whose version only `after` has is one if `after` refuses it.
    """
    known = {version for version, _ in before.history.entries}
    lockouts = []
    for kind in kinds:
        now = admit(kind, after)
        is_new = kind.version is not None and kind.version not in known
        if not now.accepted and (is_new or admit(kind, before).accepted):
            lockouts.append(Lockout(kind=kind, reason=now.decision.reason))
    return tuple(lockouts)


def is_stricter_for_consumers(before: ConnectionTarget, after: ConnectionTarget) -> bool:
    """Whether consumers whose schema is no version may be let in before and refused after."""

    def strictness(target: ConnectionTarget) -> int:
        strategy = target.policies.strategy
        is_single = len(target.history.entries) == 1
        if strategy is SchemaCompatibilityStrategy.BACKWARD_TRANSITIVE and is_single:
            return 1
        return _STRICTNESS.get(strategy, 1)

    return strictness(before) < strictness(after)


def admit(kind: ClientKind, target: ConnectionTarget) -> Admission:
    """The broker's decision about a client of this kind."""
    decide = admit_consumer if kind.role == "consumer" else admit_producer
    return decide(target, kind.offer)
