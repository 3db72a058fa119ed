"""The JSON Schema of every kind of manifest, for editors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from pydantic.json_schema import GenerateJsonSchema

from gitops.repository.documents.base import Document
from gitops.repository.documents.config import ConfigDocument
from gitops.repository.documents.manifests import (
    ClientDocument,
    LimitWaiverDocument,
    NamespaceDocument,
    TenantDocument,
    TopicDocument,
    WaiverDocument,
)

FOLDER: Final = ".schemas"
"""Where a repository keeps them."""

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_MODELS: Final[Mapping[str, type[Document]]] = {
    "client": ClientDocument,
    "config": ConfigDocument,
    "limit-waiver": LimitWaiverDocument,
    "namespace": NamespaceDocument,
    "tenant": TenantDocument,
    "topic": TopicDocument,
    "waiver": WaiverDocument,
}


class _Generator(GenerateJsonSchema):
    """Titles only repeat the keys, so there are none."""

    def field_title_should_be_set(self, _schema: object) -> bool:
        return False

    def get_title_from_name(self, _name: str) -> str:
        return ""


def schemas() -> dict[str, dict[str, Any]]:
    """File name → JSON Schema (draft 2020-12)."""
    return {file_name(kind): _schema(kind, model) for kind, model in _MODELS.items()}


def render(schema: Mapping[str, Any]) -> str:
    """The text of a schema's file."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def file_name(kind: str) -> str:
    """The name of a kind's file: `topic.schema.json`."""
    return f"{kind}.schema.json"


def first_line(kind: str, depth: int) -> str:
    """What the first line of a manifest `depth` folders below the root says to editors."""
    return f"# yaml-language-server: $schema={'../' * depth}{FOLDER}/{file_name(kind)}\n"


def _schema(kind: str, model: type[Document]) -> dict[str, Any]:
    body = model.model_json_schema(by_alias=True, schema_generator=_Generator)
    clean = _clean(body)
    title = f"pulsar-gitops {kind}"
    return {"$schema": _DIALECT, "title": title, **clean}


def _clean(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Without titles, and without the null that only says that a key may be left out."""
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {key: _clean(item) for key, item in value.items() if not _is_noise(key, item)}
    choices = [item for item in kept.get("anyOf", ()) if item != {"type": "null"}]
    if len(choices) == 1 and len(kept["anyOf"]) > 1:
        del kept["anyOf"]
        return {**choices[0], **kept}
    return kept


def _is_noise(key: str, value: object) -> bool:
    return (key == "title" and isinstance(value, str)) or (key == "default" and value is None)
