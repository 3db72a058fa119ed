"""Words of a command line that nobody understands are told in words that everybody does."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from gitops.cli.app import COMMANDS, load_command
from tests.support.command_line import CommandLine


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("replay", "--engine", "sprak"), "'sprak' is not one of 'spark', 'local'. Did you mean s"),
        (("replay", "--gate", "bth"), "'none'. Did you mean both?"),
        (("replay", "--engine", "flink"), "'flink' is not one of 'spark', 'local'.\n"),
        (
            ("replay", "--max-examples", "x"),
            "'--max-examples': a whole number is expected, not 'x'",
        ),
        (("replay", "--max-examples", "1\n::error::"), "not '1\\n::error::'\n"),
        (("replay", "--max-examples", "5000"), "'--max-examples': it may be at most 1000\n"),
        (("replay", "--max-examples", "-1"), "'--max-examples': it has to be at least 0\n"),
    ],
)
def test_a_word_that_an_option_does_not_take(
    args: tuple[str, ...], said: str, command: CommandLine
) -> None:
    ended = command(*args)
    assert ended.code == 2
    assert said in ended.err


def test_captures_are_not_recorded_without_the_clients(command: CommandLine) -> None:
    ended = command("snapshot", "--capture", "captures")
    assert ended.code == 2
    assert "--capture is recorded with the clients of topics" in ended.err
    assert "add --clients" in ended.err


def test_one_definition_alone_is_not_compared(command: CommandLine, tmp_path: Path) -> None:
    """A forgotten argument is no agreement."""
    path = tmp_path / "new one.avsc"
    path.write_text('"string"')
    ended = command("compat", "--strategy", "BACKWARD", path)
    assert (ended.code, ended.out) == (2, "")
    assert f"nothing to compare: {path} is the only definition" in ended.err
    again = ended.err.splitlines()[-1].partition("without a schema: ")[2]
    assert again == f"pulsar-gitops compat --first --strategy BACKWARD '{path}'"

    first = command(*shlex.split(again)[1:])
    assert (first.code, first.err) == (0, "")
    assert "✓ accepted as v0, the first schema of a topic: nothing was compared" in first.out


@pytest.mark.parametrize(
    ("line", "better"),
    [
        (
            "schemas upload shop/orders/x -f x.avsc --type AVRO",
            "schemas upload shop/orders/x --type AVRO x.avsc",
        ),
        ("schemas upload shop/orders/x -fx.json", "schemas upload shop/orders/x x.json"),
        (
            "schemas upload --filename=x.json shop/orders/x",
            "schemas upload shop/orders/x x.json",
        ),
        (
            "connect producer shop/orders/x --schema 'a b.avsc' --new-schema v0",
            "connect producer shop/orders/x --new-schema v0 'a b.avsc'",
        ),
        ("connect consumer shop/orders/x --definition NONE", "connect consumer shop/orders/x NONE"),
        ("compat --schema new.avsc old.avsc", "compat old.avsc new.avsc"),
    ],
)
def test_a_definition_has_no_option_in_front_of_it(
    line: str, better: str, command: CommandLine
) -> None:
    ended = command(*shlex.split(line))
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.endswith(
        f"The definition has no option in front of it:\n  pulsar-gitops {better}\n"
    )


@pytest.mark.parametrize(
    "line",
    ["plan -f x", "connect consumer shop/orders/x --schema", "schemas upload shop/orders/x --frob"],
)
def test_no_other_option_is_taken_for_that(line: str, command: CommandLine) -> None:
    ended = command(*shlex.split(line))
    assert ended.code == 2
    assert "has no option" not in ended.err


@pytest.mark.parametrize("columns", ["60", "80", "120"])
@pytest.mark.parametrize(
    "group", ["", *(row.name for row in COMMANDS if hasattr(load_command(row), "commands"))]
)
def test_no_command_is_described_by_half_a_sentence(
    group: str, columns: str, command: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERMINAL_WIDTH", columns)
    listed = re.findall(r"^  [a-z]+  .*", command(*group.split(), "--help").out, re.MULTILINE)
    assert listed
    assert [line for line in listed if line.endswith("...")] == []
