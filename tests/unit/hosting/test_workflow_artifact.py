"""An artifact is data of a stranger."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitops.hosting.workflow import MOST_BYTES, Artifact, read_artifact, read_plain
from gitops.model.errors import UsageError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A good artifact."""
    (tmp_path / "report.md").write_text("# Good\n", "utf-8")
    (tmp_path / "pull-request.txt").write_text("7\n", "utf-8")
    return tmp_path


def test_a_good_one_is_read(folder: Path) -> None:
    assert read_artifact(folder) == Artifact(pull_request=7, report="# Good\n")


@pytest.mark.parametrize(
    "number", ["1; rm -rf", "", "0", "-1", "7 ", "7\n8\n", "07", "1e3", "\u0667", "9" * 15]
)
def test_a_number_that_is_none_is_refused(folder: Path, number: str) -> None:
    (folder / "pull-request.txt").write_text(number, "utf-8")

    with pytest.raises(UsageError, match="does not contain the number of a pull request"):
        read_artifact(folder)


def test_a_large_number_file_is_not_read_whole(folder: Path) -> None:
    (folder / "pull-request.txt").write_text("7" * 1000, "utf-8")

    with pytest.raises(UsageError, match="larger than 16 bytes"):
        read_artifact(folder)


def test_a_report_of_50_mb_is_refused(folder: Path) -> None:
    with (folder / "report.md").open("wb") as file:
        file.truncate(50_000_000)

    with pytest.raises(UsageError, match="larger than 262,144 bytes"):
        read_artifact(folder)


@pytest.mark.parametrize("name", ["report.md", "pull-request.txt"])
def test_a_symbolic_link_is_not_followed(folder: Path, name: str, tmp_path: Path) -> None:
    (folder / name).rename(tmp_path / "elsewhere")
    (folder / name).symlink_to(tmp_path / "elsewhere")

    with pytest.raises(UsageError, match="symbolic link"):
        read_artifact(folder)


def test_a_pipe_does_not_keep_us_waiting(folder: Path) -> None:
    (folder / "report.md").unlink()
    os.mkfifo(folder / "report.md")

    with pytest.raises(UsageError, match="not a plain file"):
        read_artifact(folder)


def test_a_folder_is_no_report(folder: Path) -> None:
    (folder / "report.md").unlink()
    (folder / "report.md").mkdir()

    with pytest.raises(UsageError, match=r"report\.md"):
        read_artifact(folder)


def test_a_missing_file_is_said(folder: Path) -> None:
    (folder / "report.md").unlink()

    with pytest.raises(UsageError, match=r"cannot read .*report\.md: No such file"):
        read_artifact(folder)


def test_what_is_no_text_is_refused(folder: Path) -> None:
    (folder / "report.md").write_bytes(b"\xff\xfe")

    with pytest.raises(UsageError, match="not text in UTF-8"):
        read_artifact(folder)


def test_a_file_of_just_the_size_is_read(tmp_path: Path) -> None:
    (tmp_path / "report.md").write_bytes(b"x" * MOST_BYTES)

    assert len(read_plain(tmp_path / "report.md")) == MOST_BYTES
