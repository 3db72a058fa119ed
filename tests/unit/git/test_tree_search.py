"""Words in the files of a commit."""

from __future__ import annotations

import pytest

from gitops.git.checkout import Checkout, open_checkout
from gitops.git.tree import files_with_words
from tests.support.git_repos import GitRepository

pytestmark = pytest.mark.slow


FILES = {
    "s/a.avsc": '{"type": "shop.Money"}',
    "s/deep/b.yaml": "definition: a.avsc",
    "s/c.txt": "Money",
    "x/d.avsc": "Money",
    "s/[e].avsc": "Mo\\u006eey \x00 after a null byte: Odd",
}


def test_files_by_ending_below_the_folder(repo: GitRepository, checkout: Checkout) -> None:
    head = repo.commit(FILES)
    assert files_with_words(checkout, head, ["Money"], [".avsc", ".yaml"]) == {"a.avsc"}
    assert files_with_words(checkout, head, ["Money", "a.avsc"], [".avsc", ".yaml"]) == {
        "a.avsc",
        "deep/b.yaml",
    }
    assert files_with_words(checkout, head, ["Mon.y"], [".avsc"]) == frozenset()
    assert files_with_words(checkout, head, ["\\u", "Odd"], [".avsc"]) == {"[e].avsc"}
    assert files_with_words(checkout, head, ["-e", "--all"], [".avsc"]) == frozenset()


def test_nothing_to_look_for(repo: GitRepository, checkout: Checkout) -> None:
    head = repo.commit(FILES)
    assert files_with_words(checkout, head, [], [".avsc"]) == frozenset()
    assert files_with_words(checkout, head, ["\n"], [".avsc"]) == frozenset()


def test_a_folder_with_a_name_that_looks_like_a_pattern(repo: GitRepository) -> None:
    head = repo.commit({"[s]*/a.avsc": "Money", "s/b.avsc": "Money"})
    with open_checkout(repo.root / "[s]*") as checkout:
        assert files_with_words(checkout, head, ["Money"], [".avsc"]) == {"a.avsc"}


def test_many_words_and_odd_ones(repo: GitRepository, checkout: Checkout) -> None:
    head = repo.commit(FILES)
    words = [*(f"Word{number}" for number in range(20_000)), "\ud800", "\0", "x\0Money"]
    assert files_with_words(checkout, head, words, [".avsc"]) == {"a.avsc"}
