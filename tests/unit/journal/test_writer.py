"""A journal that cannot be written is named before anything is done."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitops.journal.writer import JournalFile
from gitops.model.errors import OutsideError


def test_a_full_disk_is_named() -> None:
    with pytest.raises(OutsideError, match="cannot be written: No space left") as raised:
        JournalFile(Path("/dev/full")).begin({})

    assert "--journal" in raised.value.hint


def test_a_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(OutsideError, match="the journal cannot be written"):
        JournalFile(tmp_path / "file" / "journal").begin({})
