"""A custom property in a definition, with which an old schema is a new version for Pulsar.

Pulsar answers a schema that equals an older version with that version, and keeps the latest. A
property counts in its equality, and readers ignore it (Pulsar 4.0.7).
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

from gitops.model.schema import SchemaHistory, SchemaInfo
from gitops.planning.fingerprints import is_same
from gitops.schemas.avro.json_text import JsonTextError, read_json

REVISION: Final = "revision"
"""The property's name."""


def needs_revision(former: SchemaInfo, history: SchemaHistory) -> bool:
    """Whether Pulsar would answer an older version for it, and keep the latest."""
    latest = history.latest
    if latest is None or is_same(latest.info, former):
        return False
    return any(is_same(one.info, former) for one in history.entries)


def revision_text(former: SchemaInfo, history: SchemaHistory) -> str:
    """The property's value: the one that the latest version has for it, else the next number."""
    latest = history.latest
    if latest and is_revision_of(latest.info, former):
        found = [node[REVISION] for node in _nodes(latest.info) if REVISION in node]
        if found and isinstance(found[0], str):
            return found[0]
    return str(history.next_version)


def is_revision_of(schema: SchemaInfo, former: SchemaInfo) -> bool:
    """Whether a schema is the former one, but for the property that makes it a new version."""
    return is_same(_without_revision(schema), _without_revision(former))


def _without_revision(info: SchemaInfo) -> SchemaInfo:
    nodes = _nodes(info)
    if not any(REVISION in one for one in nodes):
        return info
    for one in nodes:
        one.pop(REVISION, None)
    return replace(info, schema=json.dumps(nodes[0], separators=(",", ":")))


def _nodes(info: SchemaInfo) -> list[dict[str, Any]]:
    """The outermost object of a schema, and those of a KEY_VALUE's halves; none where it is odd."""
    try:
        node = read_json(info.schema)
    except (JsonTextError, RecursionError):
        return []
    if not isinstance(node, dict):
        return []
    return [
        node,
        *(half for half in (node.get("key"), node.get("value")) if isinstance(half, dict)),
    ]
