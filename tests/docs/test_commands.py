"""The pages of commands repeat what the commands say about themselves, a page for each task."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from gitops.cli.app import GROUPS
from tests.docs.pages import ROOT, UPDATE, WIDTH
from tests.support.command_line import captured, command_names

INDEX: Final = ROOT / "docs" / "reference" / "commands.md"
PAGES: Final = {
    task: INDEX.with_suffix("") / f"{task.lower().replace(' ', '-')}.md" for task in GROUPS
}
_SECTION: Final = re.compile(
    r"^## (?P<name>[a-z ]+)\n(?P<prose>(?:.*\n)*?)```text\n(?P<help>(?:.*\n)*?)```\n",
    re.MULTILINE,
)


def _names(task: str) -> list[str]:
    rows = {row.name for row in GROUPS[task]}
    return [name for name in command_names() if name.split()[0] in rows]


def test_each_page_has_a_task_and_each_task_a_page() -> None:
    assert sorted(PAGES.values()) == sorted(INDEX.with_suffix("").iterdir())


@pytest.mark.parametrize("task", GROUPS)
def test_every_command_has_its_section_in_order(task: str) -> None:
    text = PAGES[task].read_text("utf-8")
    assert text.startswith(f"# {task}\n")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == _names(task)


def test_the_index_links_every_command_by_task() -> None:
    text = INDEX.read_text("utf-8")
    linked = re.findall(r"^(?:## .*|\| \[`[^|]*)", text, re.MULTILINE)
    assert [line.strip("| ") for line in linked] == [
        line
        for task, page in PAGES.items()
        for line in (
            f"## {task}",
            *(
                f"[`{name}`](commands/{page.name}#{name.replace(' ', '-')})"
                for name in _names(task)
            ),
        )
    ]


@pytest.mark.parametrize(
    ("name", "page"), [(name, page) for task, page in PAGES.items() for name in _names(task)]
)
def test_a_section_repeats_the_help(name: str, page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", WIDTH)
    text = page.read_text("utf-8")
    found = next(match for match in _SECTION.finditer(text) if match["name"] == name)
    said = captured(*name.split(), "--help").out
    if UPDATE:
        page.write_text(text[: found.start("help")] + said + text[found.end("help") :], "utf-8")
        return
    assert found["help"] == said, "run the tests of docs with UPDATE_DOCS=1 and without -n"
