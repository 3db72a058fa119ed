"""Whoever does what the pages say sees what the pages show."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest
import yaml

from gitops.repository.file_trees import FolderTree
from gitops.repository.loader import load
from tests.docs.pages import ROOT, UPDATE, Block, Reader, blocks, matches
from tests.support.admin_rest import admin_request
from tests.support.written_captures import write_template_capture

DOCS: Final = ROOT / "docs"
CONTRIBUTING: Final = DOCS / "contributing"
"""Pages whose reader changes this project: their diffs fit wherever their lines are."""
PAGES: Final = sorted(
    page for page in [ROOT / "README.md", *DOCS.rglob("*.md")] if page.parent.name != "rules"
)
RUNNABLE: Final = [
    page
    for page in PAGES
    if any(block.language in ("sh", "console") for block in blocks(page.read_text("utf-8")))
]
ELSEWHERE: Final = ("make ", "python3 -m venv ", "~/.venvs/")
"""Commands that set up: what they name is looked at, they are not run. See test_readme.py."""


def _id(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", RUNNABLE, ids=_id)
def test_a_page_does_what_it_shows(page: Path, tmp_path: Path) -> None:
    text = page.read_text("utf-8")
    reader = Reader(home=tmp_path)
    with reader.stack:
        _prepare(page, reader)
        found = list(blocks(text))
        shown = [_follow(block, reader, f"{_id(page)}:{block.line}") for block in found]
    if UPDATE:
        for block, now in reversed(list(zip(found, shown, strict=True))):
            text = text[: block.start] + now + text[block.start + len(block.text) :]
        page.write_text(text, "utf-8")


def _prepare(page: Path, reader: Reader) -> None:
    """What a page takes for granted: a checkout of this project, a capture, a cluster."""
    if page.parent == CONTRIBUTING:
        reader.check_out(ROOT)
    if page.stem in ("capture-messages", "publish-a-capture"):
        write_template_capture(reader.home / "at" / "captures")
    if page.stem not in ("connect-a-cluster", "import-a-cluster"):
        return
    commands = (
        "pulsar-gitops init ../cluster && pulsar-gitops apply --repo ../cluster --auto-approve"
    )
    code, printed = reader.run(commands)
    assert code == 0, printed
    reader.serve("pulsar-gitops serve --repo ../cluster --port 8080")
    for topic in ("order-by-customer", "order-cancelled", "order-created", "order-status"):
        url = f"http://localhost:{reader.port}/admin/v2/persistent/shop/orders/{topic}"
        admin_request("PUT", url)


def _follow(block: Block, reader: Reader, where: str) -> str:
    """Do what the block says; answers the block as it should read."""
    if block.file:
        reader.write(block.file, block.text)
    elif block.words == ("sh", "server"):
        reader.serve(block.text)
    elif block.language == "sh":
        _run_all(block, reader, where)
    elif block.language == "diff":
        reader.change(block.text, exactly=not where.startswith("docs/contributing/"))
    elif block.language == "console":
        return _converse(block, reader, where)
    return block.text


def _run_all(block: Block, reader: Reader, where: str) -> None:
    lines = [line for line in block.text.splitlines() if not line.startswith(ELSEWHERE)]
    code, printed = reader.run("set -e\n" + "\n".join(lines) + "\nset +e") if lines else (0, "")
    assert code == 0, f"{where}\n{printed}"


def _converse(block: Block, reader: Reader, where: str) -> str:
    shown = []
    exchanges = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block.text, re.MULTILINE)
    for number, (command, expected) in enumerate(exchanges):
        code, printed = reader.run(command)
        told = number + 1 < len(exchanges) and exchanges[number + 1][0] == "echo $?"
        assert code == 0 or told, f"{where}\n$ {command}\n{printed}"
        good = matches(expected, printed)
        failure = f"{where}\n$ {command}\n{printed}\nthe page shows\n{expected}"
        assert good or UPDATE, failure
        shown.append(f"$ {command}\n{expected if good else printed}")
    return "".join(shown)


@pytest.mark.parametrize("page", PAGES, ids=_id)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, heading = target.partition("#")
        if "://" in path:
            continue
        linked = (page.parent / path).resolve() if path else page
        assert linked.exists(), f"{_id(page)}: {target}"
        if heading:
            assert heading in _headings(linked), f"{_id(page)}: {target}"


def _headings(page: Path) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_page_is_in_the_index() -> None:
    index = (DOCS / "README.md").read_text("utf-8")
    missing = [
        page.relative_to(DOCS).as_posix()
        for page in PAGES
        if page.is_relative_to(DOCS)
        and page.name != "README.md"
        and f"({page.relative_to(DOCS).as_posix()})" not in index
    ]
    assert not missing


@pytest.mark.parametrize(
    "block",
    [
        block
        for page in PAGES
        for block in blocks(page.read_text("utf-8"))
        if "registry" in block.words
    ],
    ids=lambda block: f"line {block.line}",
)
def test_a_piece_of_a_registry_is_valid(block: Block, tmp_path: Path) -> None:
    """Pages show pieces of a registry of gitops.yaml; each goes into one and is loaded."""
    registry = {"kind": "pulsar", "url": "https://pulsar.example.com"}
    piece = yaml.safe_load(block.text)
    content = {
        "apiVersion": "pulsar-gitops/v1",
        "kind": "Config",
        "registries": {"it": registry | piece},
    }
    (tmp_path / "gitops.yaml").write_text(yaml.safe_dump(content))
    assert not load(FolderTree(tmp_path)).findings


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        ("a\n", "a\n", True),
        ("a\n", "a\nb\n", False),
        ("a\n…\nd\n", "a\nb\nc\nd\n", True),
        ("…\nd\n", "a\nb\n", False),
        ("5 unchanged   0.1 s\n", "5 unchanged   2.7 s\n", True),
        ("5 unchanged   0.1 s\n", "4 unchanged   0.1 s\n", False),
        ("x.y\n", "xzy\n", False),
    ],
)
def test_what_counts_as_the_same_output(expected: str, printed: str, *, same: bool) -> None:
    assert matches(expected, printed) is same
