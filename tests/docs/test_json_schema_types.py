"""The published JSON Schemas have every type of Pulsar's that they can meet."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from gitops.model.schema import AUTO_TYPES, SchemaType
from tests.docs.pages import ROOT

FILES: Final = sorted((ROOT / "docs" / "reference" / "json").glob("*.schema.json"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_schema_types_are_those_of_pulsar(file: Path) -> None:
    """Some places have the types that clients use, too, or an empty text for none."""
    known = {each.value for each in SchemaType}
    stored = {each.value for each in SchemaType if each not in AUTO_TYPES}

    def lists(node: object) -> Iterator[set[object]]:
        if isinstance(node, list | dict):
            for each in node.values() if isinstance(node, dict) else node:
                yield from lists(each)
        if isinstance(node, dict) and "KEY_VALUE" in node.get("enum", []):
            yield set(node["enum"])

    for names in lists(json.loads(file.read_text("utf-8"))):
        assert stored - {"NONE", "BYTES"} <= names <= known | {"", None, "AUTO_PRODUCE"}
