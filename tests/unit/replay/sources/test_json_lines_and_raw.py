"""JSON lines and raw payloads."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import zlib
from pathlib import Path

import pyarrow
import pytest

from gitops.replay.sources import json_lines, raw
from gitops.replay.sources.json_lines import JsonLinesSource
from tests.support.source_rows import Known, payloads, rows, whole


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b"", []),
        (b'{"a":1}\n{"b":2}\n', [b'{"a":1}', b'{"b":2}']),
        (b'{"a":1}\n{"b":2}', [b'{"a":1}', b'{"b":2}']),
        (b"1\n\n2\n", [b"1", b"", b"2"]),
        (b"\n", [b""]),
        (b"1\r\n\xff\n", [b"1", b"\xff"]),
        (b"1\r\n\r\n2\r\r\n3\r4\n5\r", [b"1", b"", b"2\r", b"3\r4", b"5"]),
    ],
)
def test_a_line_is_a_payload(tmp_path: Path, text: bytes, found: list[bytes]) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(text)
    assert payloads(whole(path, "json")) == (found, "")


def test_the_two_bytes_of_an_end_may_come_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_lines, "_CHUNK", 1)
    path = tmp_path / "a.json"
    path.write_bytes(b"1\r\n2\n")
    assert payloads(whole(path, "json")) == ([b"1", b"2"], "")


def test_lines_are_told_by_their_numbers_however_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_lines, "_CHUNK", 7)
    monkeypatch.setattr(json_lines, "MOST_ROWS", 2)
    path = tmp_path / "a.json"
    path.write_bytes(b"".join(b"%d\n" % number for number in range(1, 101)))
    found, _ = rows(whole(path, "json"))
    assert [(row["file"], row["row"], row["payload"]) for row in found] == [
        ("a.json", number, b"%d" % number) for number in range(1, 101)
    ]


@pytest.mark.parametrize("ending", ["gz", "bz2", "zst"])
def test_what_is_packed_is_unpacked_in_as_many_members_as_it_has(
    tmp_path: Path, ending: str
) -> None:
    path = tmp_path / f"a.json.{ending}"
    path.write_bytes(_packed(ending, b"1\n2") + _packed(ending, b"3\n4\n"))
    assert payloads(whole(path, "json")) == ([b"1", b"23", b"4"], "")


@pytest.mark.slow
@pytest.mark.parametrize("cut", [1, 4, 8, 9, 100, 1000, 50_000, 400_000])
def test_all_whole_lines_before_the_break_of_a_zipped_file_are_read(
    tmp_path: Path, cut: int
) -> None:
    lines = _lines(10_000)
    packed = gzip.compress(b"".join(lines[:6000])) + gzip.compress(b"".join(lines[6000:]))
    path = tmp_path / "a.json.gz"
    path.write_bytes(packed[:-cut])
    found, problem = payloads(whole(path, "json"))
    assert problem == "a.json.gz is cut off"
    assert found == [line[:-1] for line in _unzipped(packed[:-cut]).splitlines(keepends=True)
                     if line.endswith(b"\n")]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("ending", "block"), [("gz", 1), ("bz2", 900_000), ("zst", 128 * 1024)])
def test_no_more_than_a_block_of_the_packing_is_lost(
    tmp_path: Path, ending: str, block: int
) -> None:
    lines = _lines(10_000)
    packed = _packed(ending, b"".join(lines))
    path = tmp_path / f"a.json.{ending}"
    path.write_bytes(packed[:-4])
    found, problem = payloads(whole(path, "json"))
    assert problem == f"a.json.{ending} is cut off"
    assert found == [line[:-1] for line in lines[: len(found)]]
    lost = sum(map(len, lines[len(found) :]))
    assert lost < block + max(map(len, lines))


@pytest.mark.parametrize("ending", ["gz", "bz2", "zst"])
@pytest.mark.parametrize("rest", [bytes(512), b"garbage"])
def test_what_stands_behind_a_packed_file_costs_no_line(
    tmp_path: Path, ending: str, rest: bytes
) -> None:
    lines = _lines(200)
    path = tmp_path / f"a.json.{ending}"
    path.write_bytes(_packed(ending, b"".join(lines)) + rest)
    found, problem = payloads(whole(path, "json"))
    assert found == [line[:-1] for line in lines]
    assert problem.startswith(f"a.json.{ending} cannot be unpacked: ")


def test_a_packed_file_that_is_not_there_is_told_as_such(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        next(JsonLinesSource().batches(whole(tmp_path / "a.json.gz", "json"), Known()))


def _lines(number: int) -> list[bytes]:
    return [hashlib.sha512(b"%d" % each).hexdigest().encode() + b"\n" for each in range(number)]


def _packed(ending: str, text: bytes) -> bytes:
    match ending:
        case "gz":
            return gzip.compress(text)
        case "bz2":
            return bz2.compress(text)
        case _:
            return bytes(pyarrow.compress(text, "zstd", asbytes=True))


def _unzipped(packed: bytes) -> bytes:
    """What Python's own zlib makes of it, in however many members."""
    text = b""
    while packed:
        opened = zlib.decompressobj(zlib.MAX_WBITS | 16)
        text += opened.decompress(packed)
        packed = opened.unused_data
    return text


def test_a_line_without_an_end_takes_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_lines, "MOST_PAYLOAD", 1000)
    monkeypatch.setattr(json_lines, "_CHUNK", 100)
    path = tmp_path / "a.json"
    path.write_bytes(b"1\n" + b"2" * 5000)
    assert payloads(whole(path, "json")) == ([b"1"], "a.json has a line of more than 0 MiB")


def test_a_raw_file_is_one_payload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"\0\1\n")
    assert rows(whole(path, "raw"))[0] == [
        {
            "topic": None,
            "version": None,
            "key": None,
            "payload": b"\0\1\n",
            "file": "a.bin",
            "row": None,
        }
    ]
    monkeypatch.setattr(raw, "MOST_PAYLOAD", 2)
    assert payloads(whole(path, "raw")) == ([], "a.bin is larger than 0 MiB")
