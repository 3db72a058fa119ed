"""How a producer works: schemas, batches, bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gitops.messaging.routing import HashingScheme
from gitops.messaging.schema_versions import MultiSchema
from gitops.messaging.wire.compression import CompressionName
from gitops.model.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerSettings:
    """The settings of a producer; where Java's client has the same, so are the defaults.

    `name` is unique on the topic; the broker makes one where it is None. With a name and
    deduplication on, messages go on behind the last sequence id that the broker has, or behind
    `initial_sequence_id`. `multi_schema`: messages with a schema other than the producer's own
    are refused (`disabled`), or allowed (`enabled`: with CommandGetOrCreateSchema only; `auto`:
    also with brokers that lack it). A batch is sent with `batch_messages`, with `batch_bytes`, or
    after `batch_delay` seconds. Calls wait while `pending_messages` or `pending_bytes` are not
    acknowledged, for `room_seconds` at most. A message fails after `send_seconds`, which is how
    long calls wait, too, where `room_seconds` is None. `is_encrypted` says that each message is
    sent as somebody encrypted it: then the broker accepts no others.
    """

    name: str | None = None
    initial_sequence_id: int | None = None
    multi_schema: MultiSchema = "disabled"
    batching: bool = True
    batch_messages: int = 1000
    batch_bytes: int = 128 * 1024
    batch_delay: float = 0.001
    pending_messages: int = 10_000
    pending_bytes: int = 64 * 1024 * 1024
    send_seconds: float = 30
    room_seconds: float | None = None
    compression: CompressionName = "NONE"
    hashing: HashingScheme = "JavaStringHash"
    properties: Mapping[str, str] = field(default_factory=dict)
    is_encrypted: bool = False

    def __post_init__(self) -> None:
        """Raise UsageError for bounds that allow nothing."""
        bounds = {
            "batch_messages": self.batch_messages,
            "batch_bytes": self.batch_bytes,
            "pending_messages": self.pending_messages,
            "pending_bytes": self.pending_bytes,
            "send_seconds": self.send_seconds,
            "room_seconds": self.send_seconds if self.room_seconds is None else self.room_seconds,
        }
        for name, bound in bounds.items():
            if bound <= 0:
                raise UsageError(f"{name} is {bound}", hint=f"{name} is above 0")
