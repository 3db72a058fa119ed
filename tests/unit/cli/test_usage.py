"""Words of a command line that nobody understands are told in words that everybody does."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.support.command_line import CommandLine


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("replay", "--engine", "sprak"), "'sprak' is not one of 'spark', 'local'. Did you mean s"),
        (("replay", "--gate", "bth"), "'none'. Did you mean both?"),
        (("replay", "--engine", "flink"), "'flink' is not one of 'spark', 'local'.\n"),
        (("replay", "--max-examples", "x"), "'--max-examples': no whole number\n"),
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
