"""Files that commands write: whole, inside, and only where they differ."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitops.model.errors import UsageError
from gitops.repository.folder import read_definition, real_path, replace_files, write_files


def test_files_are_written_with_their_folders(tmp_path: Path) -> None:
    assert write_files(tmp_path, {"a/b/c.json": b"1", "d": b"2"}) == 2

    assert (tmp_path / "a" / "b" / "c.json").read_bytes() == b"1"
    assert sorted(p.name for p in tmp_path.rglob("*") if p.is_file()) == ["c.json", "d"]


def test_only_what_differs_is_written(tmp_path: Path) -> None:
    write_files(tmp_path, {"a": b"1", "b": b"1"})
    untouched = (tmp_path / "a").stat()

    assert write_files(tmp_path, {"a": b"1", "b": b"2"}) == 1
    assert (tmp_path / "a").stat().st_ino == untouched.st_ino
    assert write_files(tmp_path, {"a": b"1", "b": b"2"}) == 0


def test_old_files_that_are_no_longer_wanted_are_removed(tmp_path: Path) -> None:
    write_files(tmp_path, {"keep": b"1", "old": b"1", "other": b"1"})

    assert replace_files(tmp_path, ["keep", "old", "gone"], {"keep": b"1", "new": b"1"}) == 3

    assert sorted(path.name for path in tmp_path.iterdir()) == ["keep", "new", "other"]


@pytest.mark.parametrize("path", ["../x", "/tmp/x", "a/../../x"])  # noqa: S108 - never written
def test_nothing_is_written_outside(tmp_path: Path, path: str) -> None:
    root = tmp_path / "root"
    root.mkdir()

    with pytest.raises(UsageError, match="outside the repository"):
        write_files(root, {path: b"1"})
    assert not (tmp_path / "x").exists()


def test_nothing_is_written_through_a_symbolic_link_that_leads_outside(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (root / "folder").symlink_to(outside, target_is_directory=True)
    (root / "file").symlink_to(outside / "file")

    for path in ("folder/x", "file"):
        with pytest.raises(UsageError, match="outside the repository"):
            write_files(root, {path: b"1"})
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize("path", ["loop", "loop/x"])
def test_a_link_that_leads_to_itself_is_an_error_and_stays(tmp_path: Path, path: str) -> None:
    (tmp_path / "loop").symlink_to("loop")

    with pytest.raises(UsageError, match=f"cannot write {path}: Too many levels"):
        write_files(tmp_path, {path: b"1"})
    assert (tmp_path / "loop").readlink() == Path("loop")


def test_a_path_is_real_whether_or_not_a_file_is_there(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("later")
    real = tmp_path.resolve() / "later"

    assert real_path(tmp_path / "link") == real
    assert real_path(tmp_path / "link" / "x") == real / "x"


def test_there_is_no_real_path_in_a_loop(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")

    for path in (tmp_path / "a", tmp_path / "a" / "x"):
        with pytest.raises(OSError, match="symbolic links"):
            real_path(path)


def test_a_folder_in_the_place_of_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").write_bytes(b"")

    with pytest.raises(UsageError, match="cannot write a"):
        write_files(tmp_path, {"a": b"1"})
    with pytest.raises(UsageError, match="cannot write b/c"):
        write_files(tmp_path, {"b/c": b"1"})


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()

    with pytest.raises(UsageError):
        write_files(tmp_path, {"a": b"1"})

    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_definitions_are_text(tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_bytes("é\r\n".encode())
    bad.write_bytes(b"\xff")

    assert read_definition(good) == "é\r\n"
    with pytest.raises(UsageError, match="not UTF-8"):
        read_definition(bad)
    with pytest.raises(UsageError, match="No such file"):
        read_definition(tmp_path / "none")


def test_all_files_are_written_or_none(tmp_path: Path) -> None:
    write_files(tmp_path, {"a": b"1", "gone": b"1"})
    (tmp_path / "b").mkdir()

    with pytest.raises(UsageError, match="cannot write b: Is a directory"):
        write_files(tmp_path, {"a": b"2", "b": b"2", "c": b"2"}, ["gone"])

    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "gone"]
    assert (tmp_path / "a").read_bytes() == b"1"


def test_what_was_written_before_an_error_is_named(tmp_path: Path) -> None:
    # `b` turns into a folder once the file beside its place is there.
    with pytest.raises(UsageError, match="cannot write b: Is a directory") as error:
        write_files(tmp_path, {"a": b"1", "b": b"1", "b/c": b"1"})

    assert error.value.hint == "written before it: a"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_files_that_are_not_wanted_go_with_the_others(tmp_path: Path) -> None:
    write_files(tmp_path, {"a": b"1", "old/x": b"1"})

    assert write_files(tmp_path, {"a": b"1", "b": b"1"}, ["old/x"]) == 2
    assert not (tmp_path / "old/x").exists()


def test_ctrl_c_leaves_no_file_that_is_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(b"1")

    def press(*_args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("shutil.copymode", press)
    with pytest.raises(KeyboardInterrupt):
        write_files(tmp_path, {"a": b"2"})
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"1"


def test_a_file_below_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")

    with pytest.raises(UsageError, match="cannot write a/b"):
        write_files(tmp_path, {"a/b": b"2"})
