"""A journal that cannot be written is named before anything is done."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitops.journal.writer import JournalFile
from gitops.model.errors import OutsideError, UsageError


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
