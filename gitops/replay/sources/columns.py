"""Tables as batches of messages: whatever types their columns have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy
import pyarrow
import pyarrow.compute

from gitops.replay.batches import batch, rows_from, texts
from gitops.replay.sources.part import Part, UnreadableError

PAYLOAD: Final = "payload"

_NAMES: Final = ("topic", "schema_version", "key", PAYLOAD, "message_id")
_LONG: Final = 8
"""Bytes of a schema version as messages carry it."""


def columns_of(part: Part, schema: pyarrow.Schema) -> dict[str, str]:
    """Our names to the file's, of those columns that it has; raises UnreadableError."""
    names = {name: part.columns.get(name, name) for name in _NAMES}
    if part.format != "capture":
        del names["message_id"]
    found = {name: column for name, column in names.items() if column in schema.names}
    lost = {PAYLOAD: names[PAYLOAD], **part.columns}
    for name, column in lost.items():
        if name not in found:
            has = ", ".join(schema.names[:10])
            raise UnreadableError(f"{part.file.name} has no column '{column}', only {has}")
    kind = schema.field(found[PAYLOAD]).type
    if not _is_text_or_bytes(kind):
        raise UnreadableError(
            f"the column '{found[PAYLOAD]}' of {part.file.name} holds {kind}, not bytes"
        )
    return found


def to_batch(
    table: pyarrow.RecordBatch, names: Mapping[str, str], file: str, first: int
) -> pyarrow.RecordBatch:
    """The rows of a table, the first of which is row `first` of `file`."""
    columns = {name: _plain(table.column(column)) for name, column in names.items()}
    rows = rows_from(first, table.num_rows)
    place: Any = file
    if "message_id" in columns:
        place, rows = _identified(columns["message_id"], file, rows)
    topic = columns.get("topic")
    return batch(
        _bytes(columns[PAYLOAD]),
        place,
        row=rows,
        topic=None if topic is None else texts(topic),
        version=_versions(columns.get("schema_version")),
        key=_bytes(columns["key"]) if "key" in columns else None,
    )


def _identified(ids: Any, file: str, rows: Any) -> tuple[Any, Any]:  # noqa: ANN401
    """Messages without an id are told by their rows."""
    nothing = pyarrow.scalar(None, pyarrow.int64())
    numbered = pyarrow.compute.if_else(ids.is_null(), rows, nothing)
    return texts(pyarrow.compute.coalesce(_bytes(ids), file.encode())), numbered


def _plain(column: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    return column.dictionary_decode() if pyarrow.types.is_dictionary(column.type) else column


def _is_text_or_bytes(kind: Any) -> bool:  # noqa: ANN401
    if pyarrow.types.is_dictionary(kind):
        kind = kind.value_type
    return str(kind).removeprefix("large_").removesuffix("_view") in ("string", "binary") or (
        pyarrow.types.is_fixed_size_binary(kind)
    )


def _bytes(column: Any) -> Any:  # noqa: ANN401
    return column.cast(pyarrow.binary())


def _versions(column: Any) -> Any:  # noqa: ANN401
    """Whole numbers, texts of digits, or eight bytes as a message carries them; else null."""
    if column is None or pyarrow.types.is_integer(column.type):
        return column if column is None else column.cast(pyarrow.int64(), safe=False)
    return pyarrow.array([_version(each) for each in column.to_pylist()], pyarrow.int64())


def _version(value: object) -> int | None:
    if isinstance(value, bytes) and len(value) == _LONG:
        return int.from_bytes(value, "big", signed=True)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    if isinstance(text, str) and text.isdecimal() and len(text) <= numpy.iinfo(numpy.int32).bits:
        number = int(text)
        return number if number < 2**63 else None
    return None
