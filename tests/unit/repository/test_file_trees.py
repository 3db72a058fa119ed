"""A folder as a FileTree."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from gitops.model.errors import OutsideRepositoryError, UnreadableFileError
from gitops.repository.file_trees import MAX_FILE_BYTES, FolderTree


def test_all_files_but_those_of_tools(tmp_path: Path) -> None:
    for path in ("b.yaml", "a/c.avsc", ".git/config", "x/.venv/y", "node_modules/z", ".gitops/db"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "a")

    assert FolderTree(tmp_path).paths() == ("a/c.avsc", "b.yaml", "link")


def test_a_file_is_read_byte_for_byte(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x\r\n\0\xff")

    assert FolderTree(tmp_path).read("a") == b"x\r\n\0\xff"


@pytest.mark.parametrize("path", ["none", "folder", "a\0b", "x" * 5000, "loop"])
def test_what_is_no_file_cannot_be_read(tmp_path: Path, path: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")

    with pytest.raises(UnreadableFileError):
        FolderTree(tmp_path).read(path)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_what_is_there_and_no_file_is_said_to_be_there(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "linked").symlink_to("folder")
    os.mkfifo(tmp_path / "pipe")
    tree = FolderTree(tmp_path)

    for path in ("folder", "linked"):
        with pytest.raises(UnreadableFileError, match="it is a folder, or a link to one"):
            tree.read(path)
    with pytest.raises(UnreadableFileError, match="it is no regular file"):
        tree.read("pipe")


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)

    with pytest.raises(UnreadableFileError, match="larger than 8 MiB"):
        FolderTree(tmp_path).read("large")


def test_nothing_outside_is_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "folder").symlink_to(tmp_path)

    for path in ("link", "folder/secret", "../secret", str(tmp_path / "secret")):
        with pytest.raises(OutsideRepositoryError):
            FolderTree(root).read(path)


def test_a_link_inside_is_followed(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    (tmp_path / "b").symlink_to("a")

    assert FolderTree(tmp_path).read("b") == b"x"


def test_a_root_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").write_text("x")
    (tmp_path / "root").symlink_to("real")

    assert FolderTree(tmp_path / "root").read("a") == b"x"


def test_a_root_that_is_not_there_cannot_be_listed(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError):
        FolderTree(tmp_path / "none").paths()


def test_a_folder_that_vanishes_while_others_are_listed_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "types").mkdir()
    (tmp_path / "types" / "a.avsc").write_text("{}")
    (tmp_path / "scratch" / "inner").mkdir(parents=True)
    (tmp_path / "scratch" / "now-a-file").mkdir()
    scan = os.scandir

    def scan_as_others_clean_up(folder: Path) -> object:
        found = list(scan(folder))
        if folder == tmp_path / "scratch":
            (folder / "inner").rmdir()
            (folder / "now-a-file").rmdir()
            (folder / "now-a-file").touch()
        return contextlib.nullcontext(found)

    monkeypatch.setattr(os, "scandir", scan_as_others_clean_up)

    assert FolderTree(tmp_path).paths() == ("types/a.avsc",)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError) as caught:
        FolderTree(tmp_path / "none").paths()

    assert caught.value.where == str(tmp_path / "none")
