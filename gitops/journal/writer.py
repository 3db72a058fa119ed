"""Writes a journal: JSON lines, appended, each intent on the disk before the action is tried.

Lines rather than a database: a torn last line is all that a crash can leave, and whoever looks at
what happened needs no tool of ours.
"""

from __future__ import annotations

import datetime
import json
import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, final

from gitops.model.errors import GitopsError, OutsideError, UsageError
from gitops.model.journal import outcome_of
from gitops.model.plan import Action
from gitops.model.schema import SchemaHistory
from gitops.planning.plan_document import action_document, history_document

API_VERSION: Final = "pulsar-gitops/v1"
_ID_BYTES: Final = 4

Clock = Callable[[], datetime.datetime]


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


@final
class JournalFile:
    """The Journal in a file, which several applies may have written one after the other.

    An outcome is on the disk no later than the next intent: who is killed between the two finds
    the action's outcome unknown, and looks at the registry. Of one history that gets several
    entries in a row the first intent is on the disk before them, and where the machine itself
    fails the others may be missing: a restore would take twice as long with each. Raises
    OutsideError where the file cannot be written.
    """

    def __init__(self, path: Path, clock: Clock = _now) -> None:
        self.path = path
        self._clock = clock
        self._run = secrets.token_hex(_ID_BYTES)
        self._attempts = 0

    def begin(self, start: Mapping[str, Any]) -> None:
        """Which plan is carried out, on which registry.

        Raises UsageError for another file, and for a journal that a newer release wrote.
        """
        if _is_another_file(self.path):
            hint = "name a new file with --journal, or one that an apply wrote"
            raise UsageError("the file is no journal", where=str(self.path), hint=hint)
        _check_version(self.path)
        self._write("start", {"apiVersion": API_VERSION, **start}, sync=True)

    def intend(
        self,
        action: Action,
        *,
        closes: bool = False,
        follows: bool = False,
        forgotten: SchemaHistory | None = None,
    ) -> int:
        """The action is about to be carried out; answers the number of this attempt, from 0 on.

        `forgotten` is what a forced deletion removes and nothing else has recorded.
        """
        number = self._attempts
        content = {"attempt": number, "action": action_document(action)}
        content |= {"forgotten": history_document(forgotten)} if forgotten else {}
        self._write("intent", content | ({"closes": True} if closes else {}), sync=not follows)
        self._attempts += 1
        return number

    def conclude(self, number: int, version: int | None, error: GitopsError | None) -> None:
        """What became of an attempt."""
        content: dict[str, Any] = {"attempt": number, "outcome": outcome_of(error).value}
        content |= {} if version is None else {"version": version}
        content |= {"error": error.what} if error else {}
        self._write("outcome", content, sync=False)

    def end(self, outcome: str) -> None:
        """How the apply ended."""
        self._write("end", {"outcome": outcome}, sync=True)

    def _write(self, entry: str, content: Mapping[str, Any], *, sync: bool) -> None:
        time = self._clock().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = {"entry": entry, "run": self._run, "time": time, **content}
        try:
            _append(self.path, json.dumps(line).encode() + b"\n", sync=sync)
        except OSError as error:
            raise OutsideError(
                f"the journal cannot be written: {error.strerror}",
                where=str(self.path),
                hint="make room, or name another file with --journal",
            ) from error


def is_start(line: str) -> bool:
    """Whether a line is the first of an apply."""
    return line.startswith(_START)


_START: Final = '{"entry": "start"'


def is_journal(path: Path) -> bool:
    """Whether a file begins as a journal does; a journal that a crash cut at once may be empty."""
    return path.is_file() and not _is_another_file(path)


def _is_another_file(path: Path) -> bool:
    """Whether a file begins as no journal does, not even one that a crash cut at once."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return not _START.startswith(file.read(len(_START)).decode(errors="replace"))


def _check_version(path: Path) -> None:
    """Raises UsageError where an apply of another version is in it: nobody could read both."""
    if not path.is_file():
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            with suppress(ValueError):  # of a line that a crash has cut
                if is_start(line):
                    check_version(json.loads(line), path, number)


def check_version(start: Mapping[str, Any], path: Path, number: int) -> None:
    """Raises UsageError where an apply of another version begins, in a line of the file."""
    version = start.get("apiVersion")
    if version != API_VERSION:
        raise UsageError(
            f"the journal is of the version {version!r}",
            where=f"{path}:{number}",
            hint=f"this release reads {API_VERSION}: use the release that wrote it",
        )


def _append(path: Path, line: bytes, *, sync: bool) -> None:
    """Append one line in one write, or nothing.

    What a crash left of another line gets an end of its own.
    """
    is_new = not path.exists()
    if is_new:
        path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+", buffering=0) as file:
        if size := file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            line = line if file.read(1) == b"\n" else b"\n" + line
        written = file.write(line)
        if written != len(line):
            file.truncate(size)
            raise OSError(None, "the disk is full")
        if sync:
            os.fsync(file.fileno())
    if is_new:
        _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """The name of a new file is on the disk only once its folder is."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
