"""Tables as batches of messages: whatever types their columns have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final
from urllib.parse import unquote

import pyarrow
import pyarrow.compute

from gitops.replay.batches import batch, rows_from, texts
from gitops.replay.sources.part import Part, UnreadableError

PAYLOAD: Final = "payload"

_NAMES: Final = ("topic", "schema_version", "key", PAYLOAD, "message_id")
_IDENTIFIED: Final = ("capture", "table")
_SHOWN: Final = 10
_NO_VERSION: Final = -1
_TOO_LARGE: Final = 2**63
_DIGITS: Final = 32
_LONG: Final = 8
"""Bytes of a schema version as messages carry it."""


def columns_of(part: Part, columns: Sequence[str]) -> dict[str, str]:
    """Our names to the file's, of those columns that it has; raises UnreadableError."""
    names = {name: part.columns.get(name, name) for name in _NAMES}
    if part.format not in _IDENTIFIED:
        del names["message_id"]
    for name, column in names.items():
        if column not in columns and (name == PAYLOAD or name in part.columns):
            has = ", ".join(columns[:_SHOWN])
            raise UnreadableError(f"{part.file.name} has no column '{column}', only {has}")
    return {name: column for name, column in names.items() if column in columns}


def check_payload(kind: str, part: Part, column: str) -> None:
    """Raises UnreadableError for a column of another type than bytes or text."""
    plain = kind.removeprefix("large_").removesuffix("_view")
    if plain not in ("string", "binary") and not plain.startswith("fixed_size_binary"):
        raise UnreadableError(f"the column '{column}' of {part.file.name} holds {kind}, not bytes")


def kind_of(field: pyarrow.Field) -> str:
    """The type of a column's values, as Arrow calls it."""
    kind = field.type
    return str(kind.value_type if pyarrow.types.is_dictionary(kind) else kind)


def to_batch(
    table: pyarrow.RecordBatch, names: Mapping[str, str], file: str, first: int
) -> pyarrow.RecordBatch:
    """The rows of a table, the first of which is row `first` of `file`.

    Columns `file` and `row` tell it better, if there are any.
    """
    columns = {
        name: table.column(column) if name in ("topic", "file") else _plain(table.column(column))
        for name, column in names.items()
    }
    rows = columns.get("row", rows_from(first, table.num_rows))
    place: Any = _files(columns["file"]) if "file" in columns else file
    if "message_id" in columns:
        place, rows = _identified(columns["message_id"], place, rows)
    topic = columns.get("topic")
    return batch(
        _bytes(columns[PAYLOAD]),
        place,
        row=rows,
        topic=None if topic is None else texts(topic),
        version=_versions(columns.get("schema_version")),
        key=_bytes(columns["key"]) if "key" in columns else None,
    )


def _files(column: Any) -> pyarrow.DictionaryArray:  # noqa: ANN401 - pyarrow has no types
    """Spark tells a file by an address in which `%20` is a space."""
    names = texts(column)
    told = [None if each is None else unquote(each) for each in names.dictionary.to_pylist()]
    return pyarrow.DictionaryArray.from_arrays(names.indices, pyarrow.array(told, pyarrow.string()))


def _identified(ids: Any, file: Any, rows: Any) -> tuple[Any, Any]:  # noqa: ANN401
    """Messages without an id are told by their rows."""
    nothing = pyarrow.scalar(None, pyarrow.int64())
    numbered = pyarrow.compute.if_else(ids.is_null(), rows, nothing)
    names = file if isinstance(file, str) else file.dictionary_decode()
    named = pyarrow.compute.coalesce(ids.cast(pyarrow.string()), names)
    return texts(named), numbered


def _plain(column: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    return column.dictionary_decode() if pyarrow.types.is_dictionary(column.type) else column


def _bytes(column: Any) -> Any:  # noqa: ANN401
    return column.cast(pyarrow.binary())


def _versions(column: Any) -> Any:  # noqa: ANN401
    """Whole numbers, texts of digits, or eight bytes as a message carries them.

    Null where nothing is said, and no version of any topic where it is something else.
    """
    if column is None or pyarrow.types.is_integer(column.type):
        return column if column is None else column.cast(pyarrow.int64(), safe=False)
    return pyarrow.array([_version(each) for each in column.to_pylist()], pyarrow.int64())


def _version(value: object) -> int | None:
    if value is None or value in ("", b""):
        return None
    number = _number(value)
    return _NO_VERSION if number is None or number >= _TOO_LARGE else number


def _number(value: object) -> int | None:
    if isinstance(value, bytes) and len(value) == _LONG:
        return int.from_bytes(value, "big", signed=True)
    if isinstance(value, float | Decimal):
        number = int(value) if 0 <= value < _TOO_LARGE else -1
        return number if number == value else None
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    is_number = isinstance(text, str) and text.isdecimal() and len(text) <= _DIGITS
    return int(text) if isinstance(text, str) and is_number else None
