"""A schema that follows the latest version under every strategy: one optional field more."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from gitops.model.decision import StoredSchema
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.types import AVRO_DEFINED, TYPES

_FIELD: Final = "pulsarGitopsAudit"
_OPTIONAL: Final = {"name": _FIELD, "type": ["null", "string"], "default": None}
_NO_AVRO: Final = {"type": "record", "name": "Evolved", "fields": [_OPTIONAL]}
"""The next schema of a topic whose JSON definition has no Avro form."""


def evolved_schema(latest: StoredSchema) -> StoredSchema | None:
    """The latest schema with one optional field more; None where no record can have one.

    What is wrong with the latest definition stays as it is.
    """
    if latest.type not in AVRO_DEFINED:
        return None
    try:
        tree = json.loads(latest.data, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    if record := next(_records(tree), None):
        record["fields"] = [*record["fields"], _OPTIONAL]
    elif not _is_avro(latest):
        tree = _NO_AVRO
    else:
        return None
    return replace(latest, data=json.dumps(tree).encode())


def _records(tree: object) -> Iterator[dict[str, Any]]:
    """The record itself, or the records of a union at the top."""
    for node in tree if isinstance(tree, list) else [tree]:
        if isinstance(node, dict) and _is_record(node):
            yield node


def _is_record(node: dict[str, Any]) -> bool:
    return node.get("type") in ("record", "error") and isinstance(node.get("fields"), list)


def _is_avro(schema: StoredSchema) -> bool:
    try:
        TYPES.read_definition(schema)
    except AvroParseError:
        return False
    return True


def _refuse(text: str) -> float:
    raise ValueError(text)


def _finite(text: str) -> float:
    """Python would write a number beyond its own as one that JSON has not."""
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)
