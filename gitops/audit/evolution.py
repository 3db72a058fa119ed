"""A schema that follows the latest version under every strategy: one optional field more."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from gitops.model.decision import StoredSchema
from gitops.schemas.avro.errors import AvroParseError
from gitops.schemas.key_value.parser import named_halves, with_half
from gitops.schemas.row import DefinitionForm
from gitops.schemas.types import TYPES

_FIELD: Final = "pulsarGitopsAudit"
_OPTIONAL: Final = {"name": _FIELD, "type": ["null", "string"], "default": None}
_NO_AVRO: Final = {"type": "record", "name": "Evolved", "fields": [_OPTIONAL]}
"""The next schema of a topic whose JSON definition has no Avro form."""
_NAME: Final = b"pulsar_gitops_audit.proto"
_UNUSED_FILE: Final = bytes((0x0A, len(_NAME) + 2, 0x0A, len(_NAME))) + _NAME
"""A FileDescriptorSet of one empty file, whose bytes may follow another set."""


def evolved_schema(latest: StoredSchema) -> StoredSchema | None:
    """The latest schema with one optional field more; None where no record can have one.

    What is wrong with the latest definition stays as it is. PROTOBUF_NATIVE gets a file that
    nothing uses, a KEY_VALUE a field in its value, else in its key.
    """
    evolve = _BY_FORM.get(TYPES.row_of(latest.type).form)
    try:
        return evolve(latest) if evolve else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _evolved_avro(latest: StoredSchema) -> StoredSchema | None:
    tree = _with_field(_parsed(latest.data))
    if tree is None and not _is_avro(latest):
        tree = _NO_AVRO
    return None if tree is None else replace(latest, data=json.dumps(tree).encode())


def _evolved_halves(latest: StoredSchema) -> StoredSchema | None:
    for name, (half,) in reversed([*named_halves(latest)]):
        if half.data and (tree := _with_field(_parsed(half.data))):
            return with_half(latest, name, json.dumps(tree).encode())
    return None


def _evolved_descriptors(latest: StoredSchema) -> StoredSchema | None:
    envelope = _parsed(latest.data)
    files = base64.b64decode(envelope["fileDescriptorSet"]) + _UNUSED_FILE
    mapping = {**envelope, "fileDescriptorSet": base64.b64encode(files).decode()}
    return replace(latest, data=json.dumps(mapping).encode())


_BY_FORM: Final[Mapping[DefinitionForm | None, Callable[[StoredSchema], StoredSchema | None]]] = {
    DefinitionForm.AVRO: _evolved_avro,
    DefinitionForm.HALVES: _evolved_halves,
    DefinitionForm.DESCRIPTORS: _evolved_descriptors,
}


def _parsed(text: str | bytes) -> Any:  # noqa: ANN401 - any JSON
    return json.loads(text, parse_constant=_refuse, parse_float=_finite)


def _with_field(tree: object) -> object | None:
    """The tree, whose first record has the field; None where there is no record."""
    record = next(_records(tree), None)
    if record is None:
        return None
    record["fields"] = [*record["fields"], _OPTIONAL]
    return tree


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
