"""Which files a sample's path means."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitops.replay.sources.files import NoFileError, NotOpenedHereError, find_files
from gitops.replay.sources.source import UnreadableError
from tests.support.pairs_kernel import sample

FILES = (
    "samples/a/1.json",
    "samples/a/2.json",
    "samples/a/2.avro",
    "samples/a/_SUCCESS",
    "samples/a/.hidden.json",
    "samples/b/c/3.json",
    "namespaces/shop/orders/beside.json",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for file in FILES:
        place = tmp_path / "repository" / file
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(b"{}\n")
    return tmp_path / "repository"


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("beside.json", ["namespaces/shop/orders/beside.json"]),
        ("./*.json", ["namespaces/shop/orders/beside.json"]),
        ("../../../samples/a/*.json", ["samples/a/1.json", "samples/a/2.json"]),
        ("../../../samples/a/[1x].json", ["samples/a/1.json"]),
        ("../../../samples/a/2.{json,avro}", ["samples/a/2.avro", "samples/a/2.json"]),
        ("../../../samples/*/?/*.json", ["samples/b/c/3.json"]),
        (
            "../../../samples/**/*.json",
            ["samples/a/1.json", "samples/a/2.json", "samples/b/c/3.json"],
        ),
        ("../../../samples/b", ["samples/b/c/3.json"]),
        ("../../../samples/a", ["samples/a/1.json", "samples/a/2.avro", "samples/a/2.json"]),
        ("../../../samples/a/.hidden.json", ["samples/a/.hidden.json"]),
    ],
)
def test_a_path_counts_from_the_manifest(root: Path, path: str, found: list[str]) -> None:
    files = find_files(sample(path), root)
    assert [file.name for file in files] == found
    assert [Path(file.uri) for file in files] == [root.resolve() / name for name in found]
    assert {file.size for file in files} == {3}


@pytest.mark.parametrize("name", ["a[1].json", "a{1}.json", "a{1,2}[x].json"])
def test_the_name_of_a_file_is_no_pattern(root: Path, name: str) -> None:
    (root / "samples/a" / name).write_bytes(b"{}\n")
    for path in (f"../../../samples/a/{name}", f"file://{root}/samples/a/{name}"):
        (file,) = find_files(sample(path), root)
        assert file.name.endswith(f"samples/a/{name}")


def test_a_pattern_may_be_longer_than_names_are(root: Path) -> None:
    many = ",".join(f"name-{number}" for number in range(100))
    (file,) = find_files(sample(f"../../../samples/a/{{{many},1}}.json"), root)
    assert file.name == "samples/a/1.json"


@pytest.mark.parametrize("path", ["none.json", "*.avro", "beside.json/x", "../../../samples/x/*"])
def test_nothing_there_is_told(root: Path, path: str) -> None:
    with pytest.raises(NoFileError):
        find_files(sample(path), root)


@pytest.mark.parametrize("path", ["../../../../x.json", "../../../..", "/etc/hostname"])
def test_what_leads_outside_is_not_read(root: Path, path: str) -> None:
    with pytest.raises(UnreadableError, match="leads outside the repository"):
        find_files(sample(path), root)


@pytest.mark.parametrize("path", ["link.json", "*.json", "link/1.json", "link"])
def test_nor_is_it_through_a_symbolic_link(root: Path, path: str) -> None:
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "1.json").write_bytes(b"{}\n")
    folder = root / "namespaces/shop/orders"
    (folder / "link.json").symlink_to(outside / "1.json")
    (folder / "link").symlink_to(outside)
    with pytest.raises(UnreadableError, match="leads outside the repository"):
        find_files(sample(path), root)


def test_a_link_to_the_folder_above_does_not_go_round_and_round(root: Path) -> None:
    (root / "samples/a/again").symlink_to(root / "samples")
    files = find_files(sample("../../../samples/**/3.json"), root)
    assert [file.name for file in files] == ["samples/b/c/3.json"]
    assert len(find_files(sample("../../../samples"), root)) == 4


def test_a_file_with_several_names_counts_once(root: Path) -> None:
    (root / "samples/a/latest.json").symlink_to("2.json")
    (root / "samples/b/again").symlink_to("c")
    for path, found in (("a", "a/1.json a/2.json"), ("b/*", "b/again/3.json")):
        files = find_files(sample(f"../../../samples/{path}"), root)
        names = [file.name for file in files if not file.name.endswith(".avro")]
        assert names == [f"samples/{name}" for name in found.split()]


def test_a_uri_may_lead_anywhere_on_this_machine(root: Path) -> None:
    files = find_files(sample(f"file://{root}/samples/a/*.json"), root / "namespaces")
    assert [file.name for file in files] == [f"file://{root}/samples/a/{n}.json" for n in (1, 2)]
    assert files[0].uri == f"{root}/samples/a/1.json"


def test_what_pyarrow_does_not_know_is_left_to_spark(root: Path) -> None:
    with pytest.raises(NotOpenedHereError):
        find_files(sample("s3a://bucket/orders/*.parquet"), root)


def test_what_is_no_file_is_not_opened(root: Path) -> None:
    os.mkfifo(root / "namespaces/shop/orders/pipe.json")
    with pytest.raises(UnreadableError, match="no regular file"):
        find_files(sample("pipe.json"), root)


@pytest.mark.parametrize("scheme", ["s3", "s3a", "foo"])
def test_no_password_stands_in_an_address(root: Path, scheme: str) -> None:
    named = sample(f"{scheme}://user:secret@bucket/orders.avro")
    assert named.shown_path == f"{scheme}://bucket/orders.avro"
    with pytest.raises(UnreadableError, match="may contain no password"):
        find_files(named, root)


def test_a_container_of_an_account_is_no_password() -> None:
    path = "abfss://container@account.dfs.core.windows.net/orders.avro"
    assert sample(path).shown_path == path
