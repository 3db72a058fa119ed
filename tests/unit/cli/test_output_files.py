"""Where an answer may go: pipes, links, full disks, closed streams; and where it may not."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from pathlib import Path

import pytest

from tests.support.command_line import PROGRAM, CommandLine
from tests.support.prepared_command import prepared_program
from tests.support.states import field, record


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    """An old definition, and a new one that FULL refuses."""
    old, new = tmp_path / "old.avsc", tmp_path / "new.avsc"
    old.write_text(json.dumps(record(field("a"))), "utf-8")
    new.write_text(json.dumps(record(field("b", "int"))), "utf-8")
    return old, new


def test_a_pipe_is_written_into_and_stays_one(
    pair: tuple[Path, Path], tmp_path: Path, command: CommandLine
) -> None:
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text("utf-8")))
    reader.start()
    done = command("compat", *pair, "--output", pipe)
    reader.join(60)
    assert done.code == 1
    assert "refused under FULL" in read[0]
    assert pipe.is_fifo()


def test_a_link_is_followed_and_the_mode_kept(
    pair: tuple[Path, Path], tmp_path: Path, command: CommandLine
) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("before")
    target.chmod(0o640)
    link.symlink_to("target")
    assert command("compat", *pair, "--output", link).code == 1
    assert link.is_symlink()
    assert "refused" in target.read_text("utf-8")
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_link_to_what_is_not_there_makes_it(
    pair: tuple[Path, Path], tmp_path: Path, command: CommandLine
) -> None:
    (tmp_path / "link").symlink_to("later")
    assert command("compat", *pair, "--output", tmp_path / "link").code == 1
    assert "refused" in (tmp_path / "later").read_text("utf-8")


def test_a_link_to_itself_is_told(
    pair: tuple[Path, Path], tmp_path: Path, command: CommandLine
) -> None:
    (tmp_path / "loop").symlink_to("loop")
    done = command("compat", *pair, "--output", tmp_path / "loop")
    assert (done.code, "cannot write" in done.err) == (2, True)
    assert (tmp_path / "loop").is_symlink()


@pytest.mark.parametrize("way", ["itself", "symbolic", "hard"])
def test_no_compared_file_is_written_over(
    way: str, pair: tuple[Path, Path], tmp_path: Path, command: CommandLine
) -> None:
    before, output = pair[0].read_bytes(), tmp_path / "other"
    if way == "itself":
        output = pair[0]
    elif way == "symbolic":
        output.symlink_to(pair[0])
    else:
        output.hardlink_to(pair[0])
    done = command("compat", *pair, "--output", output)
    assert (done.code, "one of the files that are read" in done.err) == (2, True)
    assert pair[0].read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "args",
    [
        ["plan", "--output"],
        ["plan", "--out"],
        ["validate", "--output"],
        ["apply", "--auto-approve", "--output"],
        ["import", "--output"],
        ["snapshot", "--output"],
        ["fmt", "--output"],
        ["policies", "get", "shop/orders", "--output"],
        ["connect", "consumer", "shop/orders/order-created", "NONE", "--output"],
        ["schemas", "versions", "shop/orders/order-created", "--output"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize(
    "file", ["gitops.yaml", "namespaces/shop/orders/order-created.avsc", "clients/billing.yaml"]
)
def test_no_file_of_the_repository_is_written_over(
    args: list[str], file: str, repo: Path, command: CommandLine
) -> None:
    before = (repo / file).read_bytes()
    done = command(*args, repo / file, "--repo", repo)
    assert (done.code, "one of the files that are read" in done.err) == (2, True), done
    assert (repo / file).read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("name", ["check", "rollout"])
def test_no_file_of_a_checked_change_is_written_over(
    name: str, repo: Path, command: CommandLine
) -> None:
    git = ("git", "-C", repo, "-c", "user.name=a", "-c", "user.email=a@example.org")
    for args in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "first")):
        subprocess.run([*git, *args], check=True)
    file = repo / "namespaces/shop/orders/order-created.avsc"
    file.write_text(file.read_text("utf-8") + "\n", "utf-8")
    before = file.read_bytes()
    done = command(name, "--base", "HEAD", "--repo", repo, "--output", file)
    assert (done.code, "one of the files that are read" in done.err) == (2, True), done
    assert file.read_bytes() == before


@pytest.mark.slow
def test_a_plan_is_not_written_over_by_what_its_apply_says(
    repo: Path, tmp_path: Path, command: CommandLine
) -> None:
    file = tmp_path / "plan.json"
    assert command("plan", "--repo", repo, "--out", file).code == 0
    before = file.read_bytes()
    assert command("apply", file, "--repo", repo, "--output", file).code == 2
    assert file.read_bytes() == before


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("args", [["compat"], ["--version"], ["--help"], ["compat", "--jsonl"]])
def test_a_full_disk_is_said_in_one_line(
    args: list[str], unbuffered: str, pair: tuple[Path, Path]
) -> None:
    files = pair if args == ["compat"] else ()
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [PROGRAM, *args, *files],
            input=b'{"candidate": {"type": "INT64"}}\n',
            stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            check=False,
        )
    said = b"error: cannot write the answer: No space left on device\n"
    assert (done.returncode, done.stderr) == (4, said)


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_do_no_harm(closed: str, pair: tuple[Path, Path]) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$0" compat "$1" "$2" {closed}', PROGRAM, *pair],
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, b"")
    assert (b"refused" in done.stdout) is (">&-" not in closed.replace("2>&-", ""))


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "latin1", "cp1252"])
def test_an_encoding_without_our_signs_gets_others(
    encoding: str, pair: tuple[Path, Path], tmp_path: Path
) -> None:
    odd = tmp_path / "odd.avsc"
    odd.write_text(json.dumps(record(field("a"), field("b", default="ж😀"))), "utf-8")
    done = subprocess.run(
        [PROGRAM, "compat", pair[0], odd],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )
    said = done.stdout.decode(encoding)
    assert said.startswith("ok accepted under FULL")
    assert "\\u0436\\ud83d\\ude00" in said


@pytest.mark.slow
def test_json_stays_json_in_any_encoding(pair: tuple[Path, Path], tmp_path: Path) -> None:
    odd = tmp_path / "é😀.avsc"
    pair[1].rename(odd)
    done = subprocess.run(
        [PROGRAM, "compat", pair[0], odd, "--format", "json"],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    found = json.loads(done.stdout)["findings"][0]["location"]["file"]
    assert found == str(odd)


@pytest.mark.slow
@pytest.mark.parametrize("columns", ["abc", "1", "-5", "0", "9" * 5000, "²"])
def test_an_odd_width_does_no_harm(columns: str, pair: tuple[Path, Path]) -> None:
    done = subprocess.run(
        [prepared_program(), "compat", *pair],
        capture_output=True,
        check=False,
        env={**os.environ, "COLUMNS": columns},
    )
    assert (done.returncode, done.stderr) == (1, b"")
    assert "refused" in done.stdout.decode()
