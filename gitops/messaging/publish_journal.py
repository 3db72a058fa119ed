"""How far a capture was published: a small file beside it, so that another run goes on."""

from __future__ import annotations

import hashlib
import json
import secrets
from pathlib import Path
from typing import Final, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from gitops.messaging.capture_files import write_file
from gitops.messaging.publish_capture import CaptureSource
from gitops.model.errors import UsageError

_HASH: Final = 8


class PublicationState(BaseModel):
    """How far it is. Messages are counted in the capture's order.

    `run` names the producer: a broker with deduplication knows by it what it has. All before
    `done` are acknowledged or `failed` (how many for which reason). Those from there up to
    `handed` may have been sent. `partitions` are those of the topic.
    """

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True
    )
    run: str
    fingerprint: str
    topic: str
    address: str
    partitions: int
    done: int = 0
    handed: int = 0
    failed: dict[str, int] = Field(default_factory=dict)

    @property
    def producer_name(self) -> str:
        """The name of the producer on the topic."""
        return f"pulsar-gitops-publish-{self.run}"

    @property
    def acknowledged(self) -> int:
        """How many messages the broker has for sure."""
        return self.done - sum(self.failed.values())


def new_state(source: CaptureSource, topic: str, address: str) -> PublicationState:
    """A publication that begins; its name is one that no broker knows."""
    return PublicationState(
        run=secrets.token_hex(8),
        fingerprint=source.fingerprint,
        topic=topic,
        address=address,
        partitions=0,
    )


class PublicationJournal:
    """The file of one capture and one topic of one cluster; it is there while there is more."""

    def __init__(self, path: Path) -> None:
        self.path: Final = path

    @classmethod
    def of(cls, source: CaptureSource, topic: str, address: str) -> Self:
        """Beside the capture's folder, with another name for each topic and cluster."""
        target = hashlib.sha256(f"{address} {topic}".encode()).hexdigest()[:_HASH]
        folder = source.path.resolve()
        return cls(folder.with_name(f"{folder.name}.publish-{target}.json"))

    def read(self) -> PublicationState | None:
        """The state, None where there is none; raises UsageError for a file that is broken."""
        try:
            return PublicationState.model_validate_json(self.path.read_bytes())
        except FileNotFoundError:
            return None
        except (ValidationError, OSError) as error:
            raise UsageError(
                f"{self.path} does not show how far the capture is published",
                hint="remove it, and publish to an empty topic without --resume",
            ) from error

    def save(self, state: PublicationState) -> None:
        """Replace it; raises UsageError where it cannot be written."""
        body = json.dumps(state.model_dump(by_alias=True), indent=2)
        try:
            write_file(self.path, f"{body}\n".encode())
        except OSError as error:
            raise UsageError(
                f"cannot write {self.path}: {error.strerror or error}",
                hint="make room there, or copy the capture to a folder that is writable",
            ) from error

    def remove(self) -> None:
        """Nothing is left to go on with."""
        self.path.unlink(missing_ok=True)
