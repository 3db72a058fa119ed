"""`compat --jsonl` as bytes come in: garbage of all sorts, and readers who go away."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.command_line import PROGRAM, captured
from tests.support.prepared_command import prepared_program

pytestmark = pytest.mark.slow


GOOD = b'{"id": 7, "candidate": {"type": "INT64"}}'
DEEP = '{"type":"array","items":' * 300 + '"int"' + "}" * 300


def verdicts(data: bytes) -> tuple[int, list[dict[str, object]]]:
    done = subprocess.run(
        [prepared_program(), "compat", "--jsonl"],
        input=data,
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.stderr == b""
    return done.returncode, [json.loads(line, parse_constant=_no_json) for line in _lines(done)]


def _lines(done: subprocess.CompletedProcess[bytes]) -> list[bytes]:
    return done.stdout.splitlines()


def _no_json(word: str) -> object:
    raise AssertionError(f"{word} is not JSON")


def test_every_line_that_is_no_case_is_answered_and_the_next_ones_too() -> None:
    garbage = [
        b"\x00",
        b"\x1f\x8b\x08\x00\xff\xfe",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"id":' + b"[" * 900 + b"]" * 900 + b"}",
        b'{"id": 1e400, "candidate": {"type": "INT8"}}',
        b'{"id": NaN, "candidate": {"type": "INT8"}}',
        b'{"id": ' + b"9" * 5000 + b"}",
        b'{"candidate": {"type": "STRING", "schema": "\xff"}}',
        b'{"candidate": {"type": "STRING", "properties": {"a": null}}}',
        b'{"candidate": {"type": "STRING", "properties": [1]}}',
        b'{"candidate": {"type": "STRING", "schema": 1}}',
        b'{"candidate": {"type": "STRING", "schema": "", "encoding": "b64"}}',
        b'{"candidate": {"type": ["STRING"]}}',
        b'{"candidate": {"type": "INT8"}, "mode": {}}',
        b'{"candidate": {"type": "INT8"}, "strategy": []}',
        b'{"candidate": {"type": "INT8"}, "existing": {}}',
        b'{"candidate": {"type": "INT8"}, "existing": [null]}',
        b'{"candidate": {"type": "INT8"}, "existing": [{"type": "INT8", "encoding": "x"}]}',
        b"null",
        b'"' + b"x" * 1_000_000,
    ]
    deep = json.dumps({"candidate": {"type": "AVRO", "schema": DEEP}}).encode()

    code, found = verdicts(b"\n".join([deep, *garbage, GOOD]))

    assert code == 2
    assert [verdict["accepted"] for verdict in found] == [True, *[False] * len(garbage), True]
    for number, verdict in enumerate(found[1:-1], 2):
        assert str(verdict["reason"]).startswith(f"line {number}: ")
    assert found[-1]["id"] == 7


@pytest.mark.parametrize(
    "data",
    [
        GOOD,
        GOOD + b"\n",
        GOOD + b"\r\n",
        b"\xef\xbb\xbf" + GOOD,
        b"\n\r\n  \n" + GOOD + b"\n\n",
        GOOD.replace(b", ", b",\r"),
    ],
)
def test_ends_of_lines_and_a_byte_order_mark_do_no_harm(data: bytes) -> None:
    code, found = verdicts(data)

    assert code == 0
    assert [(verdict["id"], verdict["accepted"]) for verdict in found] == [(7, True)]


def test_lone_surrogates_come_back_as_they_were() -> None:
    case = {"id": "\ud800", "candidate": {"type": "AVRO", "schema": '{"type":"\\ud800"}'}}

    code, (verdict,) = verdicts(json.dumps(case).encode())

    assert (code, verdict["id"], verdict["accepted"]) == (0, "\ud800", False)


def test_a_reader_who_goes_away_ends_it_without_a_word() -> None:
    with subprocess.Popen(
        [PROGRAM, "compat", "--jsonl"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(GOOD + b"\n")
        process.stdin.flush()
        assert b'"accepted": true' in process.stdout.readline()
        process.stdout.close()
        process.stdin.write(GOOD + b"\n")
        process.stdin.close()
        said = process.stderr.read()
        assert process.wait(timeout=60) == 0
    assert said == b""


@pytest.mark.parametrize(
    "option",
    [
        ["--strategy", "FULL"],
        ["--type", "AVRO"],
        ["--message", "a.B"],
        ["--repo", "."],
        ["--first"],
        ["--format", "text"],
        ["--fail-on", "error"],
    ],
    ids=lambda option: option[0],
)
def test_an_option_that_would_be_passed_over_is_refused(option: list[str]) -> None:
    done = captured("compat", "--jsonl", *option, stdin=GOOD.decode())
    assert (done.code, done.out) == (2, "")
    assert f"{option[0]} has no meaning with --jsonl" in done.err


def test_verdicts_go_to_a_file(tmp_path: Path) -> None:
    file = tmp_path / "verdicts"
    done = subprocess.run(
        [PROGRAM, "compat", "--jsonl", "--output", file],
        input=GOOD,
        capture_output=True,
        check=True,
    )
    assert done.stdout == b""
    assert json.loads(file.read_text("utf-8"))["id"] == 7


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"a" }', "line 1: Expecting ':' delimiter at column 6"),
        (b'{"id": ' + b"9" * 5000 + b"}", "line 1: a number with too many digits"),
        (b'{"id": 3}', "line 1: missing member 'candidate'"),
    ],
)
def test_what_is_wrong_with_a_line_is_said_in_words(line: bytes, reason: str) -> None:
    _, (verdict,) = verdicts(line)
    assert verdict["reason"] == reason
