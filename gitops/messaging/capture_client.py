"""Where messages are: how their cluster is reached, and their places in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple


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
