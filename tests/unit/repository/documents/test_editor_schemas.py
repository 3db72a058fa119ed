"""JSON Schemas: those of the template, and what they say of its files."""

from __future__ import annotations

import json
import os
import posixpath
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest

from gitops.model.schema import AUTO_TYPES, SchemaType
from gitops.repository.documents.editor_schemas import FOLDER, render, schemas
from gitops.repository.documents.manifests import HalfType, StorableType
from gitops.repository.file_trees import FolderTree
from gitops.repository.template import template_root
from gitops.repository.yaml.parser import parse_yaml

_ROOT = Path(__file__).parents[4]
_FIRST = "# yaml-language-server: $schema="
_TEMPLATE = FolderTree(template_root())
_MANIFESTS = [
    path for path in _TEMPLATE.paths() if path.endswith(".yaml") and not path.startswith(".")
]


def test_the_template_holds_the_schemas_of_the_code() -> None:
    committed = {
        path.removeprefix(f"{FOLDER}/"): _TEMPLATE.read(path).decode()
        for path in _TEMPLATE.paths()
        if path.startswith(f"{FOLDER}/")
    }

    now = {name: render(schema) for name, schema in schemas().items()}
    if os.environ.get("UPDATE_DOCS"):
        for name, text in now.items():
            (template_root() / FOLDER / name).write_text(text, "utf-8")
    else:
        assert committed == now, "run this test with UPDATE_DOCS=1"


@pytest.mark.slow
@pytest.mark.parametrize("name", schemas())
def test_a_schema_is_one(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schemas()[name])


@pytest.mark.parametrize("path", _MANIFESTS)
def test_a_manifest_of_the_template_names_its_schema_and_fits_it(path: str) -> None:
    text = _TEMPLATE.read(path)
    first, _, _ = text.decode().partition("\n")
    named = posixpath.normpath(posixpath.join(posixpath.dirname(path), first.removeprefix(_FIRST)))

    assert first.startswith(_FIRST)
    schema = json.loads(_TEMPLATE.read(named))
    jsonschema.validate(parse_yaml(text).value, schema)


@pytest.mark.slow
def test_a_schema_refuses_what_the_loader_refuses() -> None:
    topic = {"apiVersion": "pulsar-gitops/v1", "kind": "Topic", "schema": {"type": "AUTO"}}

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(topic, schemas()["topic.schema.json"])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**topic, "schema": {"typ": 1}}, schemas()["topic.schema.json"])


def test_every_type_that_can_be_stored_can_be_written() -> None:
    storable = {each.value for each in SchemaType if each not in AUTO_TYPES}

    assert set(get_args(StorableType)) == storable
    assert set(get_args(HalfType)) == storable - {"KEY_VALUE"}


def test_the_reference_names_every_key() -> None:
    page = (_ROOT / "docs" / "reference" / "manifests.md").read_text(encoding="utf-8")
    keys = {key for schema in schemas().values() for key in _keys(schema)}

    assert sorted(key for key in keys if key not in page) == []


def _keys(schema: dict[str, Any]) -> set[str]:
    mappings = [schema, *schema.get("$defs", {}).values()]
    return {key for each in mappings for key in each.get("properties", {})}
