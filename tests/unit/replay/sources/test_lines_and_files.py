"""JSON lines and raw payloads."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest

from gitops.replay.sources import json_lines, raw
from tests.unit.replay.sources.opened import payloads, rows, whole


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


def test_what_is_zipped_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(b"1\n2\n"))
    assert payloads(whole(path, "json")) == ([b"1", b"2"], "")


def test_what_comes_before_the_break_of_a_zipped_file_is_read(tmp_path: Path) -> None:
    lines = [hashlib.sha512(b"%d" % number).hexdigest().encode() for number in range(10_000)]
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(b"\n".join(lines))[:-50_000])
    found, problem = payloads(whole(path, "json"))
    assert problem
    assert len(found) > 7_000
    assert found == lines[: len(found)]


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
