"""Words of a command line that nobody understands are told in words that everybody does."""

from __future__ import annotations

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
