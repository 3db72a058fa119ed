"""Changed files between commits and in the folder, and the folder as a tree."""

from __future__ import annotations

import pytest

from gitops.git.changed_files import ChangedFolder, changes_between, changes_in_folder
from gitops.git.checkout import Checkout
from gitops.git.tree import tree_of
from gitops.model.errors import UnreadableFileError
from gitops.repository.affected_files import ChangedFile
from gitops.repository.file_trees import FolderTree
from tests.support.git_repos import GitRepository

pytestmark = pytest.mark.slow


LONG = "".join(f"line {number}\n" for number in range(50))


def pairs(changes: tuple[ChangedFile, ...]) -> set[tuple[str | None, str | None]]:
    return {(each.before, each.after) for each in changes}


def folder(checkout: Checkout, base: str) -> ChangedFolder:
    return ChangedFolder(
        tree_of(checkout, base), FolderTree(checkout.root), changes_in_folder(checkout, base)
    )


def test_every_kind_of_change(repo: GitRepository, checkout: Checkout) -> None:
    base = repo.commit(
        {"s/same": "1", "s/edited": "1", "s/gone": "1", "s/old": LONG, "s/kind": "1"}
    )
    (repo.root / "s" / "kind").unlink()
    (repo.root / "s" / "kind").symlink_to("same")
    head = repo.commit(
        {"s/edited": "2", "s/gone": None, "s/old": None, "s/new": LONG + "x", "s/added": "9"}
    )
    expected = {
        ("edited", "edited"),
        ("gone", None),
        ("old", "new"),
        (None, "added"),
        ("kind", "kind"),
    }
    assert pairs(changes_between(checkout, base, head)) == expected
    assert pairs(changes_in_folder(checkout, base)) == expected


def test_a_submodule_is_one_file(repo: GitRepository, checkout: Checkout) -> None:
    base = repo.commit({"s/a": "1"})
    inner = GitRepository(repo.root / "s" / "types")
    inner.commit({"money.avsc": "1"})
    repo.git("-c", "advice.addEmbeddedRepo=false", "add", "--all")
    middle = repo.commit()
    inner.commit({"money.avsc": "2"})
    added = (ChangedFile(after="types", submodule=True),)
    moved = (ChangedFile(before="types", after="types", submodule=True),)
    assert changes_between(checkout, base, middle) == changes_in_folder(checkout, base) == added
    assert changes_in_folder(checkout, middle) == moved
    head = repo.commit()
    assert changes_between(checkout, middle, head) == moved


def test_no_change_at_all(repo: GitRepository, checkout: Checkout) -> None:
    base = repo.commit({"s/a": "1"})
    assert changes_between(checkout, base, base) == ()
    assert changes_in_folder(checkout, base) == ()


def test_what_lies_elsewhere_in_the_clone_is_no_change(
    repo: GitRepository, checkout: Checkout
) -> None:
    base = repo.commit({"s/a": LONG, "sx/b": "1", "c": LONG + "c"})
    repo.write({"sx/b": "2", "untracked": "1", "c": None, "s/c": LONG + "c", ".venv/x": "1"})
    repo.write({"s/node_modules/x": "1"})
    assert pairs(changes_in_folder(checkout, base)) == {(None, "c")}
    head = repo.commit()
    assert pairs(changes_between(checkout, base, head)) == {(None, "c")}


def test_staged_unstaged_and_untracked_files_count(repo: GitRepository, checkout: Checkout) -> None:
    base = repo.commit({"s/staged": "1", "s/unstaged": "1", "s/gone": "1", ".gitignore": "*.db\n"})
    repo.write({"s/staged": "2"})
    repo.git("add", "s/staged")
    repo.write({"s/unstaged": "2", "s/untracked": "1", "s/gone": None, "s/ignored.db": "1"})
    assert pairs(changes_in_folder(checkout, base)) == {
        ("staged", "staged"),
        ("unstaged", "unstaged"),
        (None, "untracked"),
        ("gone", None),
    }
    tree = folder(checkout, base)
    assert tree.paths() == ("gitops.yaml", "staged", "unstaged", "untracked")
    assert (tree.read("staged"), tree.read("untracked")) == (b"2", b"1")
    for path in ("gone", "ignored.db"):
        with pytest.raises(UnreadableFileError):
            tree.read(path)


def test_a_file_that_only_the_index_has_lost(repo: GitRepository, checkout: Checkout) -> None:
    base = repo.commit({"s/a": "1"})
    repo.git("rm", "--quiet", "--cached", "s/a")
    repo.write({"s/a": "2"})
    assert pairs(changes_in_folder(checkout, base)) == {(None, "a")}
    assert folder(checkout, base).read("a") == b"2"


def test_a_conflict_is_a_changed_file(repo: GitRepository, checkout: Checkout) -> None:
    base = repo.commit({"s/a": "1\n"})
    repo.git("switch", "--quiet", "--create", "side")
    repo.commit({"s/a": "2\n"})
    repo.git("switch", "--quiet", "main")
    repo.commit({"s/a": "3\n"})
    checkout.ask("merge", "--quiet", "side", answers=(1,))
    assert pairs(changes_in_folder(checkout, base)) == {("a", "a")}
    assert b"<<<<<<<" in folder(checkout, base).read("a")


def test_a_sparse_checkout_has_all_files(repo: GitRepository, checkout: Checkout) -> None:
    base = repo.commit({"s/a/x": "1", "s/b/y": "1"})
    repo.git("sparse-checkout", "set", "s/a")
    assert not (repo.root / "s" / "b").exists()
    assert changes_in_folder(checkout, base) == ()
    assert folder(checkout, base).read("b/y") == b"1"


def test_an_unchanged_link_to_a_changed_file(repo: GitRepository, checkout: Checkout) -> None:
    repo.write({"s/target": "1"})
    (repo.root / "s" / "link").symlink_to("target")
    base = repo.commit()
    repo.write({"s/target": "2"})
    assert folder(checkout, base).read("link") == b"2"


def test_hostile_names(repo: GitRepository, checkout: Checkout) -> None:
    base = repo.commit({"s/a": "1"})
    names = ["s/tab\tname", "s/line\nname", "s/\x1b[31m", "s/:100644 000000"]
    repo.write(dict.fromkeys(names, "1"))
    expected = {(None, name.removeprefix("s/")) for name in names}
    assert pairs(changes_in_folder(checkout, base)) == expected
    head = repo.commit()
    assert pairs(changes_between(checkout, base, head)) == expected


def test_what_people_set_for_their_own_diffs_does_not_count(
    repo: GitRepository, checkout: Checkout
) -> None:
    base = repo.commit({"s/old": LONG})
    for key, value in {
        "diff.renames": "false",
        "diff.external": "false",
        "diff.relative": "true",
        "color.ui": "always",
        "core.quotePath": "true",
        "status.showUntrackedFiles": "no",
    }.items():
        repo.git("config", key, value)
    repo.git("mv", "s/old", "s/new")
    repo.write({"s/untracked": "1"})
    assert pairs(changes_in_folder(checkout, base)) == {("old", "new"), (None, "untracked")}
