"""Readers by Pulsar's binary protocol, for captures, which have no event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, final

from gitops.messaging.capture_client import MessageService, Position
from gitops.messaging.capture_readers import PartitionReader
from gitops.messaging.cluster import Cluster
from gitops.messaging.entries import Entry, EntryReader
from gitops.messaging.errors import BrokerRefusedError, ConnectionFailedError
from gitops.messaging.publish_connection import connection_settings
from gitops.messaging.reader_session import ReaderSession
from gitops.model.errors import OutsideError

if TYPE_CHECKING:
    from gitops.messaging.decryption import Decryption

_T = TypeVar("_T")


@final
class BrokerReaders:
    """The event loop runs only while messages are waited for: what else comes, the socket keeps."""

    def __init__(self, service: MessageService, decryption_key: Path | None = None) -> None:
        """Raise UsageError for what is no service URL, no certificate, no key."""
        self._decryption = None if decryption_key is None else _decryption(decryption_key)
        self._cluster = Cluster(service.url, connection_settings(service))
        self._runner = asyncio.Runner()

    def open(
        self,
        partition: str,
        *,
        after: Position | None,
        first: Position | None,
        trimmed_before: int | None = None,
    ) -> PartitionReader:
        """A reader of the partition of that name; raises OutsideError."""
        if trimmed_before is None or (after and after.ledger >= trimmed_before):
            return self._open(partition, after, first)
        # What compaction kept may be of any time, and is little.
        compacted = self._open(partition, after, None, is_compacted=True)
        rest = partial(self._open, partition, None, first)
        return _CompactedReader(compacted, trimmed_before, rest)

    def _open(
        self,
        partition: str,
        after: Position | None,
        first: Position | None,
        *,
        is_compacted: bool = False,
    ) -> _Reader:
        # To the broker an index says that it begins with that entry, and not behind it.
        start = after or (first and first._replace(batch=0))
        entries = EntryReader(after, self._decryption)
        session = ReaderSession(self._cluster, partition, start, entries, is_compacted=is_compacted)
        _run(self._runner, session.open())
        return _Reader(self._runner, session)

    def close(self) -> None:
        """Close all connections."""
        self._runner.run(self._cluster.close())
        self._runner.close()


@final
class _Reader:
    def __init__(self, runner: asyncio.Runner, session: ReaderSession) -> None:
        self._runner = runner
        self._session = session

    def read(self, most: int) -> Sequence[Entry]:
        return _run(self._runner, self._session.read(most))

    def has_more(self) -> bool:
        return _run(self._runner, self._session.has_more())

    def unfinished(self) -> Position | None:
        return self._session.unfinished

    def close(self) -> None:
        self._runner.run(self._session.close())


@final
class _CompactedReader:
    """First what compaction alone kept, of ledgers that are gone; then all that is there."""

    def __init__(
        self, compacted: _Reader, trimmed_before: int, open_rest: Callable[[], _Reader]
    ) -> None:
        self._now = compacted
        self._before = trimmed_before
        self._open_rest: Callable[[], _Reader] | None = open_rest

    def read(self, most: int) -> Sequence[Entry]:
        entries = self._now.read(most)
        if self._open_rest is None:
            return entries
        kept = [entry for entry in entries if entry.ledger < self._before]
        if len(kept) < len(entries) or not (entries or self._now.has_more()):
            self._now.close()
            self._now, self._open_rest = self._open_rest(), None
        return kept

    def has_more(self) -> bool:
        return self._open_rest is not None or self._now.has_more()

    def unfinished(self) -> Position | None:
        return self._now.unfinished()

    def close(self) -> None:
        self._now.close()


def _decryption(key: Path) -> Decryption:
    # Its library needs a fifteenth of a second, and most captures have no key.
    from gitops.messaging.decryption import Decryption

    return Decryption.from_file(key)


def _run(runner: asyncio.Runner, work: Coroutine[Any, Any, _T]) -> _T:
    """Raises OutsideError with what to do about reading."""
    try:
        return runner.run(work)
    except (BrokerRefusedError, ConnectionFailedError) as error:
        name = error.error if isinstance(error, BrokerRefusedError) else ""
        hint = _HINTS.get(name, _NO_CONNECTION if not name else _LATER)
        what = f"the messages cannot be read: {error.what}"
        raise OutsideError(what, where=error.where, hint=hint) from error


_NO_CONNECTION: Final = (
    "is the service URL one that this machine gets to? --service-url names another, and so does "
    "`serviceUrl` of the registry in gitops.yaml"
)
_LATER: Final = "see the broker's log, or try again later; --resume goes on"
_HINTS: Final = {
    "AuthenticationError": "the broker does not accept the credentials of the registry",
    "AuthorizationError": "the role needs the permission to consume the topic",
}
