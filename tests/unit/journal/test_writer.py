"""A journal that cannot be written is named before anything is done."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitops.journal.reader import read_journal
from gitops.journal.writer import JournalFile
from gitops.model.errors import OutsideError, UsageError
from gitops.model.plan import CreateNamespace
from tests.support.states import ORDERS


def test_a_full_disk_is_named() -> None:
    with pytest.raises(OutsideError, match="cannot be written: No space left") as raised:
        JournalFile(Path("/dev/full")).begin({})

    assert "--journal" in raised.value.hint


def test_a_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(OutsideError, match="the journal cannot be written"):
        JournalFile(tmp_path / "file" / "journal").begin({})


def test_another_file_gets_no_lines(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(b"\xff mine")

    with pytest.raises(UsageError, match="the file is no journal"):
        JournalFile(path).begin({})

    assert path.read_bytes() == b"\xff mine"


@pytest.mark.parametrize("left", ["", '{"ent', '{"entry": "start", "run"'])
def test_what_a_crash_left_at_once_becomes_a_journal(tmp_path: Path, left: str) -> None:
    path = tmp_path / "journal"
    path.write_text(left)

    JournalFile(path).begin({})

    assert path.read_text().splitlines()[-1].startswith('{"entry": "start"')


def test_a_journal_of_a_newer_release_gets_no_lines(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    JournalFile(path).begin({})
    path.write_text(newer := path.read_text().replace("pulsar-gitops/v1", "pulsar-gitops/v2"))

    with pytest.raises(UsageError, match="of the version 'pulsar-gitops/v2'"):
        JournalFile(path).begin({})

    assert path.read_text() == newer


@contextmanager
def _room(path: Path, more: int) -> Iterator[None]:
    """No file may become longer than this one and so many bytes, as if the disk were full."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + more, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_line_for_which_there_is_no_room_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = JournalFile(path)
    start = {"plan": "", "registry": "", "address": "", "actions": 1, "doneBefore": 0}
    journal.begin(start)
    before = path.read_bytes()

    with _room(path, 20), pytest.raises(OutsideError, match="the disk is full"):
        journal.intend(CreateNamespace(namespace=ORDERS))

    assert path.read_bytes() == before
    journal.end("stopped")
    (run,) = read_journal(path)
    assert (run.attempts, run.outcome) == ((), "stopped")
