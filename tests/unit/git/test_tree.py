"""Files of a commit, as a folder would give them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitops.git.checkout import Checkout, GitFailedError
from gitops.git.tree import CommitTree, tree_of
from gitops.model.errors import OutsideRepositoryError, UnreadableFileError
from gitops.repository.file_trees import MAX_FILE_BYTES, FolderTree
from tests.support.git_repos import GitRepository

pytestmark = pytest.mark.slow


def test_the_files_below_the_folder_of_the_schemas(repo: GitRepository, checkout: Checkout) -> None:
    repo.commit({"a": "top", "s/b": "1", "s/deep/c": "2", "sx/d": "3", "s/.venv/e": "4"})
    tree = tree_of(checkout, "HEAD")
    assert tree.paths() == ("b", "deep/c", "gitops.yaml")
    assert tree.read("deep/c") == b"2"
    assert tree.read("deep/../b") == b"1"


def test_a_commit_without_that_folder(repo: GitRepository, checkout: Checkout) -> None:
    (repo.root / "s" / "gitops.yaml").unlink()
    repo.commit({"a": "1"})
    assert tree_of(checkout, "HEAD").paths() == ()


def test_names_of_all_kinds(repo: GitRepository, checkout: Checkout) -> None:
    names = ["s/a b", "s/ä", "s/line\nend", 's/"quoted"', "s/[x]*?", "s/" + os.fsdecode(b"\xff")]
    repo.commit(dict.fromkeys(names, "1"))
    tree = tree_of(checkout, "HEAD")
    assert set(tree.paths()) == {"gitops.yaml", *(name.removeprefix("s/") for name in names)}
    assert all(tree.read(path) for path in tree.paths())


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("b", b"1"),
        ("deep/c", b"2"),
        ("./deep/../b", b"1"),
        ("again", b"1"),
        ("folder/c", b"2"),
        ("../a", OutsideRepositoryError),
        ("../../../etc/passwd", OutsideRepositoryError),
        ("/etc/passwd", OutsideRepositoryError),
        ("deep", UnreadableFileError),
        ("nowhere", UnreadableFileError),
        ("link", UnreadableFileError),
        ("there", UnreadableFileError),
    ],
)
def test_a_link_leads_where_it_leads_in_a_folder(
    target: str, expected: bytes | type[Exception], repo: GitRepository, checkout: Checkout
) -> None:
    schemas = repo.root / "s"
    repo.write({"a": "top", "s/b": "1", "s/deep/c": "2"})
    links = {"link": target, "again": "b", "folder": "deep", "there": "back", "back": "there"}
    for name, to in links.items():
        (schemas / name).symlink_to(to)
    repo.commit()
    for tree in (tree_of(checkout, "HEAD"), FolderTree(schemas)):
        assert set(links) <= set(tree.paths())
        if isinstance(expected, bytes):
            assert tree.read("link") == expected
        else:
            with pytest.raises(expected):
                tree.read("link")


def test_a_path_through_a_linked_folder(repo: GitRepository, checkout: Checkout) -> None:
    repo.write({"s/deep/c": "2"})
    (repo.root / "s" / "link").symlink_to("deep")
    repo.commit()
    assert tree_of(checkout, "HEAD").read("link/c") == b"2"


def test_a_submodule_is_listed_and_cannot_be_read(repo: GitRepository, checkout: Checkout) -> None:
    head = repo.commit({"a": "1"})
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{head},s/types")
    repo.git("commit", "--quiet", "--message", "a submodule")
    tree = tree_of(checkout, "HEAD")
    assert "types" in tree.paths()
    for path in ("types", "types/a.avsc"):
        with pytest.raises(UnreadableFileError, match="submodule"):
            tree.read(path)


def test_a_file_that_is_too_large_is_not_read(repo: GitRepository, checkout: Checkout) -> None:
    repo.commit({"s/large": b"x" * (MAX_FILE_BYTES + 1), "s/fits": b"x" * MAX_FILE_BYTES})
    tree = tree_of(checkout, "HEAD")
    with pytest.raises(UnreadableFileError, match="larger than 8 MiB"):
        tree.read("large")
    assert len(tree.read("fits")) == MAX_FILE_BYTES


def test_what_is_not_there(repo: GitRepository, checkout: Checkout) -> None:
    repo.commit({"a": "1"})
    for path in ("nothing", "gitops.yaml/x", ""):
        with pytest.raises(UnreadableFileError, match="no such file"):
            tree_of(checkout, "HEAD").read(path)
    with pytest.raises(OutsideRepositoryError):
        tree_of(checkout, "HEAD").read("../a")


def test_a_commit_whose_paths_lead_out_of_it(
    repo: GitRepository, checkout: Checkout, tmp_path: Path
) -> None:
    (tmp_path / "x").write_text("x")
    blob = repo.git("hash-object", "-w", str(tmp_path / "x"))
    (tmp_path / "tree").write_bytes(b"100644 ..\0" + bytes.fromhex(blob))
    inner = repo.git("hash-object", "-w", "-t", "tree", "--literally", str(tmp_path / "tree"))
    (tmp_path / "tree").write_bytes(b"40000 s\0" + bytes.fromhex(inner))
    outer = repo.git("hash-object", "-w", "-t", "tree", "--literally", str(tmp_path / "tree"))
    with pytest.raises(GitFailedError, match="leads outside of it"):
        tree_of(checkout, outer)


def test_a_tree_needs_no_work_tree(repo: GitRepository, checkout: Checkout) -> None:
    repo.commit({"s/b": "1"})
    (repo.root / "s" / "b").unlink()
    assert isinstance(tree_of(checkout, "HEAD"), CommitTree)
    assert tree_of(checkout, "HEAD").read("b") == b"1"
