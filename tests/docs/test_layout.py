"""The examples of the pages are laid out as `fmt` would do it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from gitops.repository.documents.base import Document
from gitops.repository.documents.config import ConfigDocument
from gitops.repository.documents.manifests import (
    ClientDocument,
    LimitWaiverDocument,
    NamespaceDocument,
    TopicDocument,
    WaiverDocument,
)
from gitops.repository.formatting.avro import format_avro
from gitops.repository.formatting.yaml_text import format_yaml
from tests.docs.pages import ROOT, Block, blocks

_MODELS: Final[dict[str, type[Document]]] = {
    "Client": ClientDocument,
    "Config": ConfigDocument,
    "LimitWaiver": LimitWaiverDocument,
    "Namespace": NamespaceDocument,
    "Topic": TopicDocument,
    "Waiver": WaiverDocument,
}
_KIND: Final = re.compile(r"^kind: *(\w+)", re.MULTILINE)
_BEFORE_AND_AFTER: Final = "format-and-pre-commit.md"
_EXAMPLES: Final = [
    (page, block)
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    for block in blocks(page.read_text("utf-8"))
    if page.name != _BEFORE_AND_AFTER
]


def _laid_out(block: Block) -> str | None:
    """The canonical text of an example that is a whole manifest or definition."""
    kind = _KIND.search(block.text)
    if block.language == "yaml" and kind and kind[1] in _MODELS:
        return format_yaml(block.text, _MODELS[kind[1]])
    if block.language == "json" and '"fields": [' in block.text and "…" not in block.text:
        return format_avro(block.text)
    return None


@pytest.mark.parametrize(
    "page", sorted({page for page, _ in _EXAMPLES}), ids=lambda page: page.stem
)
def test_examples_are_canonical(page: Path) -> None:
    for where, block in _EXAMPLES:
        if where == page and (expected := _laid_out(block)) is not None:
            assert block.text == expected, f"{page.name}:{block.line}"


def test_there_are_examples() -> None:
    assert sum(_laid_out(block) is not None for _, block in _EXAMPLES) > 1
