"""The example on a rule's page is what the command really prints."""

from __future__ import annotations

import re
import shlex
import textwrap
from pathlib import Path
from typing import Final

import pytest
from typer.testing import CliRunner

from gitops.cli.app import app
from tests.docs.pages import ROOT, UPDATE

_EXAMPLE: Final = re.compile(
    r"`(?P<command>pulsar-gitops compat [^`]*)`:\n\n(?P<printed>(?:    .*\n|\n(?=    ))+)"
)
_FILE: Final = re.compile(r"`(?P<name>[\w.]+)`:\n\n(?P<text>(?:    .*\n|\n(?=    ))+)")
_PAGES: Final = [
    page
    for page in sorted((ROOT / "docs" / "reference" / "rules").glob("*.md"))
    if _EXAMPLE.search(page.read_text("utf-8"))
]


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.stem)
def test_the_example_shows_what_the_command_prints(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = page.read_text("utf-8")
    for found in _FILE.finditer(text):
        (tmp_path / found["name"]).write_text(textwrap.dedent(found["text"]), "utf-8")
    monkeypatch.chdir(tmp_path)
    example = _EXAMPLE.search(text)
    assert example is not None

    arguments = shlex.split(example["command"])[1:]
    done = CliRunner(env={"COLUMNS": "104", "NO_COLOR": "1"}).invoke(app, arguments)

    shown = textwrap.indent(done.output, "    ")
    if UPDATE:
        start, end = example.span("printed")
        page.write_text(f"{text[:start]}{shown}{text[end:]}", "utf-8")
    else:
        assert shown.split() == example["printed"].split()
    assert page.stem in done.output


def test_pages_have_examples() -> None:
    assert len(_PAGES) > 10
