"""What of a sample cannot be read in this process, and how that is told."""

from __future__ import annotations

import errno
import gzip
import hashlib
import os
import sys
from pathlib import Path

import pytest

from gitops.replay.sources import raw
from tests.support.pairs_kernel import PROPOSED, run, sample, topic_replay


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    (tmp_path / "samples").mkdir()
    (tmp_path / "samples/b.parquet").write_bytes(b"PAR1 and not much more")
    replay = topic_replay(
        sample("../../../samples/a.parquet"),
        sample("../../../samples/b.parquet"),
        sample("../../../../a.parquet"),
        sample("lake.orders", format="table"),
    )
    ran = run(tmp_path, replay)
    assert not ran.tallies
    assert [(one.sample.path, one.missing) for one in ran.unread] == [
        ("../../../samples/a.parquet", True),
        ("../../../../a.parquet", False),
        ("../../../samples/b.parquet", False),
        ("lake.orders", False),
    ]
    whys = [one.why for one in ran.unread]
    assert whys[1] == "it leads outside the repository"
    assert whys[2] == "samples/b.parquet is not a Parquet file"
    assert whys[3] == "only Spark can read it"
    assert [one.hint for one in ran.unread][2:] == [
        "correct `format` in the manifest, or the path",
        "run it with --engine spark",
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems take UTF-8 only")
def test_a_name_that_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "samples").mkdir()
    for name in (b"\xff.bin", b"good.bin"):
        (tmp_path / "samples" / os.fsdecode(name)).write_bytes(b"a=1")
    replay = topic_replay(sample("../../../samples/*.bin", format="raw", version=0))
    ran = run(tmp_path, replay)
    assert ran.tallies[PROPOSED].rows == 1
    assert [one.why for one in ran.unread] == ["the name of samples/\\udcff.bin is not UTF-8"]


def test_a_file_that_is_broken_is_named_however_it_is_found(tmp_path: Path) -> None:
    (tmp_path / "samples").mkdir()
    (tmp_path / "samples/a.json.gz").write_bytes(b"not zipped")
    (tmp_path / "samples/b.json").write_bytes(b"a=1")
    replay = topic_replay(sample("../../../samples/*", format="json", version=0))
    ran = run(tmp_path, replay)
    assert ran.tallies[PROPOSED].rows == 1
    (unread,) = ran.unread
    assert unread.why.startswith("samples/a.json.gz cannot be unpacked: ")
    assert "rename it without that ending" in unread.hint


@pytest.mark.slow
def test_how_much_was_read_before_a_file_breaks_off_is_told(tmp_path: Path) -> None:
    lines = "".join(f"a={hashlib.sha512(b'%d' % number).hexdigest()}\n" for number in range(5_000))
    (tmp_path / "samples").mkdir()
    packed = gzip.compress(lines.encode())
    (tmp_path / "samples/a.json.gz").write_bytes(packed[: len(packed) // 2])
    ran = run(tmp_path, topic_replay(sample("../../../samples/*", format="json", version=0)))
    rows = ran.tallies[PROPOSED].rows
    assert 0 < rows < 5_000
    assert [one.why for one in ran.unread] == [
        f"samples/a.json.gz is cut off; the {rows:,} messages before that were read"
    ]


@pytest.mark.parametrize("folder", [False, True])
def test_what_may_not_be_read_is_told_as_the_repository_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, folder: bool
) -> None:
    (tmp_path / "samples").mkdir()
    (tmp_path / "samples/a.bin").write_bytes(b"a=1")

    def refuse(path: str, *_: object, **_more: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", path)

    if folder:
        monkeypatch.setattr(os, "scandir", refuse)
    else:
        monkeypatch.setattr(raw, "open_stream", lambda file: refuse(file.uri))
    ran = run(tmp_path, topic_replay(sample("../../../samples", format="raw", version=0)))
    (unread,) = ran.unread
    assert str(tmp_path) not in unread.why
    assert unread.why.lower().endswith(": permission denied")
    assert unread.why.startswith("samples" if folder else "samples/a.bin cannot be opened")
    assert unread.hint.startswith("give the replay permission to read it")


@pytest.mark.parametrize("names", [[], ["_SUCCESS", ".a.bin.crc"]])
def test_a_folder_in_which_no_file_counts(tmp_path: Path, names: list[str]) -> None:
    (tmp_path / "samples").mkdir()
    for name in names:
        (tmp_path / "samples" / name).write_bytes(b"a=1")
    for path in ("../../../samples", f"file://{tmp_path}/samples"):
        ran = run(tmp_path, topic_replay(sample(path, format="raw", version=0)))
        (unread,) = ran.unread
        assert unread.why.startswith("the folder has no data file: ")
        assert not unread.missing
