"""The file that says how far a capture is published."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitops.messaging.publish_journal import PublicationJournal, PublicationState
from gitops.model.errors import UsageError

STATE = PublicationState(
    run="ab", fingerprint="f", topic="t", address="a", partitions=1, done=5, failed={"why": 2}
)


def test_a_state_is_read_as_it_was_saved(tmp_path: Path) -> None:
    journal = PublicationJournal(tmp_path / "orders.publish-1.json")
    assert journal.read() is None
    journal.save(STATE)
    assert journal.read() == STATE
    assert STATE.acknowledged == 3
    journal.remove()
    journal.remove()
    assert journal.read() is None


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"run": 5}'])
def test_a_broken_file_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "orders.publish-1.json"
    path.write_text(text)
    with pytest.raises(UsageError, match="does not show how far"):
        PublicationJournal(path).read()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write"):
        PublicationJournal(tmp_path / "file" / "below").save(STATE)
