"""What `init` says about where it writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import CommandLine


def test_in_a_folder_of_another_repository_it_says_where_github_looks(
    command: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / ".git").mkdir()

    ran = command("init", tmp_path / "schemas")

    assert ran.code == 0
    assert f"GitHub looks for workflows in {tmp_path / '.github'} only" in ran.out + ran.err


def test_a_repository_of_its_own_needs_no_such_word(command: CommandLine, tmp_path: Path) -> None:
    ran = command("init", tmp_path / "schemas")

    assert ran.code == 0
    assert "GitHub looks" not in ran.out + ran.err


def test_the_way_from_a_cluster_is_named(command: CommandLine, tmp_path: Path) -> None:
    ran = command("init", tmp_path / "schemas")

    lines = [line.strip() for line in ran.err.splitlines()]
    remove, read = lines[lines.index("pulsar-gitops apply plan.json") + 2 :]
    assert read == "pulsar-gitops import --clients"
    program, option, *folders = remove.split()
    assert (program, option) == ("rm", "-r")
    assert all((tmp_path / "schemas" / folder).is_dir() for folder in folders)


@pytest.mark.slow
def test_the_next_commands_can_be_copied(command: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "a b" / "c d"

    ran = command("init", folder)

    assert f"\n  cd '{folder}'\n" in ran.err
