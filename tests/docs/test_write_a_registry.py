"""The pages about plug-ins show the samples that the tests run."""

from __future__ import annotations

import re

import pytest

import gitops.plugins
from tests.docs.pages import ROOT, Block, blocks

PAGE = (ROOT / "docs/how-to/write-a-registry.md").read_text("utf-8")
SAMPLE = sorted((ROOT / "tests/plugins/mystore").rglob("*.[pt]*"))


CHECKER_PAGE = (ROOT / "docs/how-to/write-a-checker.md").read_text("utf-8")
CHECKER_SAMPLE = sorted((ROOT / "tests/plugins/rootname").rglob("*.[pt]*"))


@pytest.mark.parametrize("block", list(blocks(PAGE)), ids=lambda block: f"line {block.line}")
def test_what_it_shows_is_in_the_sample(block: Block) -> None:
    assert any(block.text in path.read_text("utf-8") for path in SAMPLE if path.is_file())


@pytest.mark.parametrize(
    "block", list(blocks(CHECKER_PAGE)), ids=lambda block: f"line {block.line}"
)
def test_what_the_page_about_checkers_shows_is_in_its_sample(block: Block) -> None:
    assert any(block.text in path.read_text("utf-8") for path in CHECKER_SAMPLE if path.is_file())


def test_it_lists_all_that_a_plug_in_imports() -> None:
    listed = set(re.findall(r"`(\w+)`", PAGE.partition("## What `gitops.plugins` has")[2]))
    assert listed == set(gitops.plugins.__all__)
