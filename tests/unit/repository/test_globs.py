"""Patterns in folders that are known by the paths of their files only."""

from __future__ import annotations

import pytest

from gitops.repository.globs import ListedFolders, matching_entries

PATHS = ("a.avro", "s/a.avro", "s/b.json", "s/deep/c.avro", "s/deep/_done", "s/.hidden/x.avro")


@pytest.mark.parametrize(
    ("pattern", "files"),
    [
        ("a.avro", ["a.avro"]),
        ("s/*.avro", ["s/a.avro"]),
        ("s", ["s/a.avro", "s/b.json", "s/deep/c.avro"]),
        ("*/*.{avro,json}", ["s/a.avro", "s/b.json"]),
        ("**/*.avro", ["a.avro", "s/a.avro", "s/deep/c.avro"]),
        ("s/[ab].*", ["s/a.avro", "s/b.json"]),
        ("s/.hidden/x.avro", ["s/.hidden/x.avro"]),
        ("s/none", []),
        ("none/*", []),
        ("a.avro/*", []),
    ],
)
def test_the_files_of_a_pattern(pattern: str, files: list[str]) -> None:
    assert (
        sorted(each.path for each in matching_entries(ListedFolders(PATHS), "", pattern)) == files
    )
