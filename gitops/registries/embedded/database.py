"""The file of the embedded registry: its layout, transactions, errors."""

from __future__ import annotations

import os
import sqlite3
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from gitops.model.errors import OutsideError

# The layout of the registry's file. What the rows mean to Pulsar is told in the modules above.

APPLICATION_ID: Final = 0x50534752
"""SQLite's application_id of a registry file (`PSGR`): tells it from any other database."""

FILE_VERSION: Final = 1
"""SQLite's user_version of a registry file; raised with every change of the layout."""

TABLES: Final = (
    """CREATE TABLE tenants (
        name TEXT PRIMARY KEY,
        admin_roles TEXT NOT NULL,
        allowed_clusters TEXT NOT NULL
    )""",
    """CREATE TABLE namespaces (
        tenant TEXT NOT NULL,
        name TEXT NOT NULL,
        policies TEXT NOT NULL,
        PRIMARY KEY (tenant, name)
    )""",
    # A row is a topic that was created (or given policies); a schema needs none.
    """CREATE TABLE topics (
        tenant TEXT NOT NULL,
        namespace TEXT NOT NULL,
        name TEXT NOT NULL,
        domain TEXT NOT NULL,
        partitions INTEGER NOT NULL,
        policies TEXT NOT NULL,
        PRIMARY KEY (tenant, namespace, name, domain)
    )""",
    # The domain is no part of a history's key (Pulsar 4.0.7).
    """CREATE TABLE entries (
        tenant TEXT NOT NULL,
        namespace TEXT NOT NULL,
        topic TEXT NOT NULL,
        version INTEGER NOT NULL,
        type TEXT NOT NULL,
        data BLOB NOT NULL,
        properties TEXT NOT NULL,
        timestamp INTEGER NOT NULL,
        deleted INTEGER NOT NULL,
        PRIMARY KEY (tenant, namespace, topic, version)
    )""",
)


# The registry's file: creating it, opening it, transactions, and errors in plain words.


BUSY_SECONDS: Final = 10.0
"""How long a transaction waits for other processes before it gives up."""


class Database:
    """One registry file, for any number of threads and processes.

    Nothing is created until the first `writing`; an absent file reads as None. The connection is
    opened on first use and kept; threads take turns on it.
    """

    def __init__(self, path: Path, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.path = path
        self._busy_seconds = busy_seconds
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection | None]:
        """One consistent view of the file; None where there is no file yet.

        Raises OutsideError: not a registry's file, damaged, from a newer version, locked.
        """
        with self._lock, self._plain_errors():
            if self._connection is None and not self.path.exists():
                yield None
                return
            with self._transaction("BEGIN") as connection:
                yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction that no other writer overlaps; rolled back if the block raises.

        Creates the file, and its folder, if there is none. Raises OutsideError as `reading`.
        """
        with self._lock, self._plain_errors():
            if self._connection is None and not self.path.exists():
                create(self.path)
            with self._transaction("BEGIN IMMEDIATE") as connection:
                yield connection

    def close(self) -> None:
        """Close the connection; the next use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        """Commit at the end of the block, roll back if it raises."""
        if self._connection is None:
            self._connection = self._open()
        connection = self._connection
        connection.execute(begin)
        try:
            yield connection
        except BaseException:
            if connection.in_transaction:  # SQLite itself rolls back on a full disk, for one
                connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")

    def _open(self) -> sqlite3.Connection:
        """Open the file that is there; it is never created by this."""
        how = "mode=ro&immutable=1" if self._is_unwritable() else "mode=rw"
        connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?{how}",
            uri=True,
            timeout=self._busy_seconds,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            _require_registry(connection, self.path)
        except BaseException:
            connection.close()
            raise
        return connection

    def _is_unwritable(self) -> bool:
        """Whether it is read without the files that SQLite puts beside it.

        One of them is the log of what other processes write: where it is, SQLite decides.
        """
        log = self.path.with_name(f"{self.path.name}-wal")
        return not os.access(self.path.parent, os.W_OK) and not log.exists()

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        """SQLite's and the file system's errors as OutsideError."""
        try:
            yield
        except sqlite3.OperationalError as cause:
            raise _operational(cause, self.path) from cause
        except sqlite3.DatabaseError as cause:
            raise _damaged_file_error(str(cause), self.path) from cause
        except OSError as cause:
            raise OutsideError(
                f"the registry's file cannot be created: {cause.strerror}",
                where=str(self.path),
                hint="check the path in gitops.yaml and the permissions of its folder",
            ) from cause


def create(path: Path) -> None:
    """Put a complete, empty registry file at `path`; one that is there already is left alone.

    It is built beside its place and linked there, so that no process ever sees half of it.
    Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as folder:
        unfinished = Path(folder) / path.name
        with closing(sqlite3.connect(unfinished, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            for table in TABLES:
                connection.execute(table)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {FILE_VERSION}")
        try:
            os.link(unfinished, path)
        except FileExistsError:
            return


def _require_registry(connection: sqlite3.Connection, path: Path) -> None:
    """Raise OutsideError unless the file is a registry's, of a version that is known here."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise OutsideError(
            "this file is not a schema registry",
            where=str(path),
            hint="give the embedded registry another path in gitops.yaml",
        )
    if version > FILE_VERSION:
        raise OutsideError(
            f"this registry file has layout {version}, and only {FILE_VERSION} is supported here",
            where=str(path),
            hint="it was written by a newer pulsar-gitops: upgrade this one",
        )


def _operational(cause: sqlite3.OperationalError, path: Path) -> OutsideError:
    """What an OperationalError means to a person."""
    if cause.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return OutsideError(
            "another process has locked the registry's file",
            where=str(path),
            hint="wait until it has finished, or end it",
        )
    return OutsideError(
        f"the registry's file cannot be used: {cause}",
        where=str(path),
        hint="it must be a file that can be read and written, in a folder that can be written",
    )


def _damaged_file_error(detail: str, path: Path) -> OutsideError:
    """The file is no SQLite database, or a broken one."""
    return OutsideError(
        f"the registry's file cannot be read: {detail}",
        where=str(path),
        hint="it is damaged or something else; move it away, and `pulsar-gitops apply` makes a new "
        "one with what the files define now as v0",
    )
