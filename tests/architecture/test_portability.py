"""No file ties the project to one machine or to one mirror of a package registry."""

from __future__ import annotations

import re
from typing import Final

import pytest

from tests.support.project_files import ROOT, project_files

# The names are put together here, so that this file does not hold them itself.
REGISTRY_HOSTS: Final = tuple(
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("crates", "io"),
        ("proxy", "golang", "org"),
        ("maven", "org"),
        ("repo", "maven", "apache", "org"),
        ("deb", "debian", "org"),
        ("archive", "ubuntu", "com"),
    )
)
HOST: Final = re.compile(
    rf"(?<![\w-])(?:{'|'.join(map(re.escape, REGISTRY_HOSTS))})(?![\w-])", re.IGNORECASE
)

# Not within a longer path, as in `a/root/b`, and not what follows a variable, as in `$HOME/work/`.
HOME_FOLDER: Final = re.compile(r"(?<![\w.$~}>-])/(?:home/\w|Users/\w|root/[\w.]|work/\w)")


def places(pattern: re.Pattern[str]) -> list[str]:
    """Every `file:line: text` in which the pattern matches, in all files that hold text."""
    found = []
    for path in project_files():
        lines = path.read_bytes().decode("utf-8", errors="replace").splitlines()
        found += [
            f"{path.relative_to(ROOT)}:{number}: {match[0]}"
            for number, line in enumerate(lines, start=1)
            if (match := pattern.search(line))
        ]
    return found


@pytest.mark.slow
def test_no_file_names_the_host_of_a_package_registry() -> None:
    assert not places(HOST)


@pytest.mark.slow
def test_no_file_names_a_folder_of_one_machine() -> None:
    assert not places(HOME_FOLDER)


@pytest.mark.parametrize("host", REGISTRY_HOSTS)
def test_a_registry_host_is_seen_within_a_url(host: str) -> None:
    assert HOST.search(f"see https://files.{host}/simple.")
    assert not HOST.search(f"see https://{host}anisation/simple")


@pytest.mark.parametrize("folder", ["home/ada", "Users/ada", "root/.cache", "work/main"])
def test_a_folder_of_one_machine_is_seen(folder: str) -> None:
    assert HOME_FOLDER.search(f'open("/{folder}/x")')
    assert not HOME_FOLDER.search(f"docs/{folder}/x")
