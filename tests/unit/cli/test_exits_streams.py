"""Which stream gets what: colours, pipes, interrupts, bugs, and text that would forge output."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gitops.repository.file_trees import FolderTree
from tests.support.command_line import PROGRAM, CommandLine
from tests.support.interrupts import ctrl_c_as_ever
from tests.support.prepared_command import prepared_program

pytestmark = pytest.mark.slow


ESCAPE = "\x1b"
HOSTILE = f"{ESCAPE}[2J{ESCAPE}]0;owned\x07\r\u202eevil\u2028\x9b31m"
"""Clears the screen, sets the title, rings, returns, turns text around, starts another line."""


def in_terminal(args: list[str], columns: int, **variables: str) -> tuple[int, str]:
    """Run the command with a terminal of this width for all three streams."""
    master, slave = pty.openpty()
    taken_out = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES")
    env = {key: value for key, value in os.environ.items() if key not in taken_out}
    env |= {"TERM": "xterm-256color", "COLUMNS": str(columns), **variables}
    with subprocess.Popen(
        [prepared_program(), *args],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=env,
        close_fds=True,
    ) as process:
        os.close(slave)
        printed = _read_all(master)
        code = process.wait(timeout=60)
    os.close(master)
    return code, printed.replace("\r\n", "\n")


def _read_all(descriptor: int) -> str:
    found = b""
    while select.select([descriptor], [], [], 60)[0]:
        try:
            piece = os.read(descriptor, 65536)
        except OSError:  # how Linux says that nobody holds the other end any more
            break
        if not piece:
            break
        found += piece
    return found.decode("utf-8", "replace")


@pytest.mark.parametrize("size", ["²", "9" * 5000])
def test_an_odd_size_of_the_terminal_does_no_harm(size: str, repo: Path) -> None:
    code, printed = in_terminal(["plan", "--repo", str(repo)], 80, COLUMNS=size, LINES=size)
    assert (code, "bug of ours" in printed) == (0, False)


@pytest.mark.parametrize("columns", [40, 100])
def test_a_terminal_gets_colours_and_lines_that_fit(columns: int, repo: Path) -> None:
    code, printed = in_terminal(["plan", "--repo", str(repo)], columns)
    assert code == 0
    assert f"{ESCAPE}[32m" in printed
    lines = re.sub(r"\x1b\[[0-9;]*m", "", printed).splitlines()
    assert max(len(line) for line in lines) <= columns
    assert "5 to add" in " ".join(lines)


@pytest.mark.parametrize(
    ("more", "variables"), [([], {"NO_COLOR": "1"}), (["--no-color"], {})], ids=["env", "option"]
)
def test_colours_can_be_turned_off(more: list[str], variables: dict[str, str], repo: Path) -> None:
    code, printed = in_terminal(["plan", "--repo", str(repo), *more], 100, **variables)
    assert code == 0
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", printed)


def test_a_pipe_gets_plain_text_of_a_width_of_its_own(repo: Path, command: CommandLine) -> None:
    out = command("plan", "--repo", repo).out
    assert ESCAPE not in out
    assert max(map(len, out.splitlines())) <= 120
    assert all(line == line.rstrip() for line in out.splitlines())


def test_a_file_gets_what_the_terminal_would(
    repo: Path, tmp_path: Path, command: CommandLine
) -> None:
    file = tmp_path / "plan.txt"
    done = command("plan", "--repo", repo, "--output", file)
    assert (done.code, done.out) == (0, "")
    assert "5 to add" in file.read_text("utf-8")
    assert ESCAPE not in file.read_text("utf-8")


@pytest.mark.parametrize(
    "args",
    [
        ["plan"],
        ["validate"],
        ["schemas", "get", "shop/orders/order-created"],
    ],
    ids=" ".join,
)
def test_json_stands_alone_on_stdout(args: list[str], applied: Path, tmp_path: Path) -> None:
    out = ["--out", str(tmp_path / "plan.json")] if args == ["plan"] else []
    done = subprocess.run(
        [prepared_program(), *args, *out, "--repo", applied, "--format", "json"],
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout) is not None
    assert (b"plan written to" in done.stderr) is bool(out)


def test_a_reader_that_has_seen_enough_is_no_error(repo: Path) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        done = subprocess.run(
            [PROGRAM, "plan", "--repo", repo], stdout=write_end, stderr=subprocess.PIPE, check=False
        )
    finally:
        os.close(write_end)
    assert (done.returncode, done.stderr) == (0, b"")


def test_ctrl_c_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    # With it, Python flushes by itself, and a forgotten flush would not be seen.
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    with (
        ctrl_c_as_ever(),
        subprocess.Popen(
            [PROGRAM, "compat", "--jsonl"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"candidate": {"type": "INT64"}}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["accepted"] is True
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (130, b"interrupted\n")


def test_a_bug_ends_with_70_and_tells_no_secret(
    repo: Path, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_tree: FolderTree, path: str) -> bytes:
        raise ZeroDivisionError(f"hunter2 in {path}")

    monkeypatch.setattr(FolderTree, "read", broken)
    done = command("validate", "--repo", repo)
    assert (done.code, done.out) == (70, "")
    assert "a bug in pulsar-gitops: ZeroDivisionError at test_exits_streams.py" in done.err
    assert "hunter2" not in done.err


@pytest.mark.parametrize("place", [0, 1, 2])
def test_more_can_be_asked_for_anywhere(place: int, repo: Path) -> None:
    args = ["policies", "get", "a/b"]
    args.insert(place, "-v")
    done = subprocess.run(
        [prepared_program(), *args, "--repo", repo], capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"error: there is no namespace 'a/b'\n")


def _in_yaml_key(repo: Path) -> None:
    manifest = repo / "namespaces/shop/orders/order-status.yaml"
    manifest.write_text(manifest.read_text() + f"{json.dumps(HOSTILE)}: 1\n", "utf-8")


def _in_yaml_value(repo: Path) -> None:
    manifest = repo / "namespaces/shop/orders/namespace.yaml"
    text = manifest.read_text().replace(": BACKWARD", f": {json.dumps(HOSTILE)}")
    manifest.write_text(text, "utf-8")


def _raw_in_yaml(repo: Path) -> None:
    manifest = repo / "namespaces/shop/orders/namespace.yaml"
    manifest.write_text(manifest.read_text() + HOSTILE, "utf-8", newline="")


def _in_file_name(repo: Path) -> None:
    (repo / "namespaces/shop/orders" / f"{HOSTILE}.yaml").write_text("x: 1\n")


def _in_default(repo: Path) -> None:
    _add_field(repo, {"name": "added", "type": "string", "default": HOSTILE})


def _in_doc(repo: Path) -> None:
    _add_field(repo, {"name": "added", "type": ["null", "int"], "default": None, "doc": HOSTILE})


def _in_field_name(repo: Path) -> None:
    _add_field(repo, {"name": HOSTILE, "type": "string"})


def _in_type_name(repo: Path) -> None:
    _add_field(repo, {"name": "added", "type": HOSTILE})


def _add_field(repo: Path, field: dict[str, object]) -> None:
    file = repo / "namespaces/shop/orders/order-created.avsc"
    definition = json.loads(file.read_text())
    definition["fields"].insert(0, field)
    file.write_text(json.dumps(definition, ensure_ascii=False), "utf-8")


@pytest.mark.parametrize(
    "harm",
    [
        _in_yaml_key,
        _in_yaml_value,
        _raw_in_yaml,
        _in_file_name,
        _in_default,
        _in_doc,
        _in_field_name,
        _in_type_name,
    ],
)
def test_no_text_of_a_file_reaches_the_terminal_raw(
    harm: Callable[[Path], None], applied: Path, command: CommandLine
) -> None:
    harm(applied)
    for name in ("validate", "plan"):
        done = command(name, "--repo", applied)
        assert done.code in (0, 1)
        assert "bug of ours" not in done.err
        assert_harmless(done.out + done.err)


def assert_harmless(text: str) -> None:
    """Nothing in it but what is printed, and ends of lines."""
    odd = {char for char in text if not char.isprintable() and char != "\n"}
    assert not odd


@pytest.mark.parametrize(
    "args",
    [
        ("plan", "--registry", HOSTILE),
        ("plan", "--repo", HOSTILE),
        ("validate", HOSTILE),
        ("schemas", "get", HOSTILE),
        ("policies", "set", "shop/orders", f"{HOSTILE}=1"),
        ("policies", "set", "shop/orders", f"schemaCompatibilityStrategy={HOSTILE}"),
        ("explain", HOSTILE),
        ("apply", HOSTILE),
        ("compat", "-s", HOSTILE, "x", "y"),
        ("compat", HOSTILE),
        ("import", HOSTILE),
    ],
    ids=lambda args: " ".join(args).replace(HOSTILE, "HOSTILE"),
)
def test_no_argument_is_repeated_raw(
    args: tuple[str, ...],
    applied: Path,
    command: CommandLine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(applied)
    done = command(*args)
    assert done.code == 2
    assert_harmless(done.out + done.err)


@pytest.mark.parametrize("name", ["get", "versions"])
def test_no_name_of_a_topic_is_repeated_raw(name: str, applied: Path, command: CommandLine) -> None:
    done = command("schemas", name, f"shop/orders/{HOSTILE}", "--repo", applied)
    assert (done.code, "has no schema" in done.err) == (2, True)
    assert_harmless(done.out + done.err)


def test_hostile_versions_of_a_registry_are_shown_harmless(
    applied: Path, tmp_path: Path, command: CommandLine
) -> None:
    file = tmp_path / "hostile.json"
    for fields in ([], [{"name": "a", "type": "string", "default": HOSTILE, "x": HOSTILE}]):
        schema = {"type": "record", "name": "R", "doc": HOSTILE, "fields": fields}
        content = {"type": "AVRO", "schema": json.dumps(schema), "properties": {HOSTILE: HOSTILE}}
        file.write_text(json.dumps(content))
        done = command("schemas", "upload", "shop/orders/odd", file, "--repo", applied)
        assert done.code == 0, done.err
    for args in (("schemas", "versions"), ("policies", "get")):
        assert_harmless(command(*args, "shop/orders/odd", "--repo", applied).out)
    assert_harmless(command("compat", "--first", file).out)
